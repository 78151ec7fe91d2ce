// The tabs of flows and private conversations, and what they count. The numbers of the server include
// all messages up to `data-last`; later ones are counted here, each once.

import { find, findAll } from './dom.js';

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
export function countRead(tab, message) {
  if (message <= Number(tab.dataset.read)) return true;
  tab.dataset.read = message;
  if (tab.dataset.unread === '0') return true;
  if (message < Number(tab.dataset.last)) return false;
  [tab.dataset.unread, tab.dataset.mentions] = [0, 0];
  showCounts(tab);
  return true;
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
