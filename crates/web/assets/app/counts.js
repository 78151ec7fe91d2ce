// The tabs of flows and private conversations, and what they count. The numbers of the server include
// all messages up to `data-last`; later ones are counted here, each once.

import { find, findAll } from './dom.js';
import { isHit } from './row.js';

const self = document.body.dataset;
const pageTitle = document.title;
/** The most unread messages that are counted, by the server too. */
const MOST_UNREAD = 100;
/** The kinds that count as unread (`MessageKind::UNREAD`). */
const UNREAD = ['message', 'comment', 'file', 'activity', 'discussion', 'mail'];

/** The tab of a flow by its id, or of the conversation with a user. */
export function tabOf({ flow, to }) {
  const name = flow ? `[data-flow="${CSS.escape(flow)}"]` : `[data-private="${CSS.escape(to ?? '')}"]`;
  return find(`.tab${name}`);
}

/** Counts a message of another user, which may mention the reader. */
export function countMessage(tab, message, isMention) {
  if (message.id <= Number(tab.dataset.last)) return;
  tab.dataset.last = message.id;
  if (!UNREAD.includes(message.event) || message.id <= Number(tab.dataset.read)) return;
  tab.dataset.unread = Math.min(Number(tab.dataset.unread) + 1, MOST_UNREAD);
  if (isMention) tab.dataset.mentions = Number(tab.dataset.mentions) + 1;
  showCounts(tab);
}

/**
 * Notes that the reader has read up to a message.
 * @returns {boolean} whether the numbers are right: of a part that was read only the server knows them
 */
function countRead(tab, message) {
  if (message <= Number(tab.dataset.read)) return true;
  tab.dataset.read = message;
  if (tab.dataset.unread === '0') return true;
  if (message < Number(tab.dataset.last)) return false;
  [tab.dataset.unread, tab.dataset.mentions] = [0, 0];
  showCounts(tab);
  return true;
}

/**
 * Counts a message that the reader does not see.
 * @returns {boolean} whether a tab shows it: of a conversation that is new to the page, or a flow
 *   whose tab is closed, only the server knows
 */
export function countNews(message) {
  if (message.user === self.me) return true;
  const isForReader = Boolean(message.to) || isHit(message);
  const tab = tabOf(message.to ? { to: message.user } : message);
  if (tab) countMessage(tab, message, isForReader);
  return Boolean(tab) || !isForReader;
}

/**
 * A message that is changed may have been counted, and with an edit the reader can be mentioned, or
 * not any more.
 * @returns {boolean} whether the numbers are right: only the server knows what the message was
 */
export function countChange(event) {
  const tab = tabOf(event.to ? { to: event.user === self.me ? event.to : event.user } : event);
  return !tab || event.content.message <= Number(tab.dataset.read) || tab.dataset.unread === '0';
}

/** The reader has read somewhere. @returns {boolean} whether the numbers are right */
export function noteRead({ flow, to, message }) {
  const tab = tabOf({ flow, to });
  return !tab || countRead(tab, message);
}

/** Shows what a tab counts: the mentions, or else what is unread. */
function showCounts(tab) {
  const [unread, mentions] = [Number(tab.dataset.unread), Number(tab.dataset.mentions)];
  tab.classList.toggle('unread', unread > 0);
  const count = find('.count', tab);
  count.hidden = unread === 0 && mentions === 0;
  count.classList.toggle('hot', mentions > 0);
  count.classList.toggle('new', mentions === 0);
  find('.num', count).textContent = mentions || (unread < MOST_UNREAD ? unread : `${MOST_UNREAD - 1}+`);
  countMentions();
}

function sumOf(selector) {
  return findAll(`.tab${selector}`).reduce((sum, tab) => sum + Number(tab.dataset.mentions), 0);
}

/** Shows above the tabs how many mentions they count, and in the title of the page how much waits. */
export function countMentions() {
  const mentions = sumOf('[data-flow]');
  const place = find('#mentions .count');
  find('.num', place).textContent = mentions;
  place.hidden = mentions === 0;
  showWaiting();
}

/** Shows in the title of the page how much waits for the reader. */
export function showWaiting() {
  const sum = sumOf(':is([data-flow], [data-private])');
  document.title = sum > 0 ? `(${sum}) ${pageTitle}` : pageTitle;
}
