// What screen readers are told.

import { find, make, textOf } from './dom.js';
import { authorOf } from './row.js';
import { t } from './texts.js';

/** What came within the last moment. */
let burst = [];
let burstTimer = 0;
/** Milliseconds without a message after which a burst is over. */
const BURST = 300;

/** Says who wrote what, or only how many messages came when many did. */
export function announce(message) {
  const text = message.html ? textOf(message.html) : message.content;
  burst.push(`${authorOf(message).name}: ${(typeof text === 'string' && text) || textOf(message.title ?? '')}`);
  clearTimeout(burstTimer);
  burstTimer = setTimeout(() => {
    say(burst.length > 3 ? t('script.chat.new_messages', { n: burst.length }) : burst.join('. '));
    burst = [];
  }, BURST);
}

/** Says a text. */
export function say(text) {
  const log = find('#log');
  log.append(make('p', { textContent: text }));
  while (log.children.length > 20) log.firstChild.remove();
}
