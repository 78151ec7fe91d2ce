// The tabs of flows and private conversations, and what they count. The numbers of the server include
// all messages up to `data-last`; later ones are counted here, each once.

import { find, findAll } from './dom.js';
import { isHit } from './row.js';

const self = document.body.dataset;
const pageTitle = document.title;
/** The most unread messages that are counted, by the server too. */
const MOST_UNREAD = 100;
/** The kinds that are unread in the chat, and in the inbox (`ReadMarker::kinds`). */
const CHAT = ['message', 'comment', 'file'];
const INBOX = ['activity', 'discussion', 'mail'];

/** The tab of a flow by its id, or of the conversation with a user. */
export function tabOf({ flow, to }) {
  const name = flow ? `[data-flow="${CSS.escape(flow)}"]` : `[data-private="${CSS.escape(to ?? '')}"]`;
  return find(`.tab${name}`);
}

/** Counts a message of another user, which may mention the reader. */
export function countMessage(tab, message, isMention) {
  if (message.id <= Number(tab.dataset.last)) return;
  tab.dataset.last = message.id;
  const isOfInbox = INBOX.includes(message.event);
  if (!isOfInbox && !CHAT.includes(message.event)) return;
  if (!isOfInbox && message.id <= Number(tab.dataset.read)) return;
  addTo(tab, isOfInbox ? 'inbox' : 'unread', MOST_UNREAD);
  if (isMention) addTo(tab, 'mentions', Infinity);
  showCounts(tab);
}

function addTo(tab, name, most) {
  tab.dataset[name] = Math.min(Number(tab.dataset[name]) + 1, most);
}

/**
 * Notes that the reader has read up to a message.
 * @returns {boolean} whether the numbers are right: of a part that was read only the server knows them
 */
function countRead(tab, message) {
  if (message <= Number(tab.dataset.read)) return true;
  tab.dataset.read = message;
  if (!countsChat(tab)) return true;
  if (message < Number(tab.dataset.last)) return false;
  tab.dataset.unread = 0;
  return countNoMentions(tab);
}

/** Whether a tab counts messages or mentions. */
const countsChat = ({ dataset }) => dataset.unread !== '0' || dataset.mentions !== '0';
/** Whether a tab counts messages of an inbox. */
const countsInbox = ({ dataset }) => (dataset.inbox ?? '0') !== '0';

/**
 * Counts no mentions any more after all of the chat, or of the inbox, was read.
 * @returns {boolean} whether that is right: mentions may stand in the other one
 */
function countNoMentions(tab) {
  const isRight = tab.dataset.mentions === '0' || (tab.dataset.unread === '0' && !countsInbox(tab));
  if (isRight) tab.dataset.mentions = 0;
  showCounts(tab);
  return isRight;
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
  if (!tab) return true;
  const isChatRight = event.content.message <= Number(tab.dataset.read) || tab.dataset.unread === '0';
  // What is in an inbox may be deleted, and does not change otherwise.
  return isChatRight && (event.event !== 'message-delete' || !countsInbox(tab));
}

/**
 * The reader has read the chat of a flow, its inbox or both, or a thread.
 * @returns {boolean} whether the numbers are right
 */
export function noteRead({ flow, to, message, marker, thread_id: thread }) {
  const tab = tabOf({ flow, to });
  if (!tab) return true;
  const isChatRight = Boolean(thread) || marker === 'inbox' || countRead(tab, message);
  const isInboxRight = marker === 'chat' || countInboxRead(tab, message, thread);
  return isChatRight && isInboxRight;
}

function countInboxRead(tab, message, thread) {
  if (!countsInbox(tab)) return true;
  if (thread || message < Number(tab.dataset.last)) return false;
  tab.dataset.inbox = 0;
  return countNoMentions(tab);
}

/**
 * Shows what the server says is unread in a flow.
 * @returns {boolean} whether it could: the page may have heard of later messages, or of reading
 */
export function noteFlow(flow) {
  const tab = tabOf({ flow: flow.id });
  if (!tab) return true;
  const { dataset } = tab;
  const last = flow.last_message_id ?? 0;
  if (last < Number(dataset.last) || flow.read < Number(dataset.read)) return false;
  Object.assign(dataset, { last, read: flow.read, unread: flow.unread });
  Object.assign(dataset, { mentions: flow.unread_mentions, inbox: flow.inbox.unread });
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
  find('.num', count).textContent = mentions || upToMost(unread);
  if (tab.dataset.flow) find('.ring', tab).hidden = tab.dataset.inbox === '0';
  if (tab.getAttribute('aria-current') === 'page') showInboxCount();
  countMentions();
}

const upToMost = (count) => (count < MOST_UNREAD ? count : `${MOST_UNREAD - 1}+`);

/** Shows in the panes of a flow how much is unread in its inbox. */
export function showInboxCount() {
  const tab = find('.tab[data-flow][aria-current="page"]');
  if (!tab) return;
  const unread = Number(tab.dataset.inbox);
  for (const count of findAll('.of-inbox')) {
    count.hidden = unread === 0;
    find('.num', count).textContent = upToMost(unread);
  }
  const all = find('[data-do="read-inbox"]');
  if (all) all.hidden = unread === 0;
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
