// What went wrong, or was done, for a while.

import { find } from './dom.js';

/** Milliseconds for which a text stays. */
const SHOWN_FOR = 8000;
let timer = 0;

/** Shows a text for a while. */
export function notify(text) {
  const notice = find('#notice');
  notice.textContent = text;
  notice.hidden = false;
  clearTimeout(timer);
  timer = setTimeout(() => (notice.hidden = true), SHOWN_FOR);
}
