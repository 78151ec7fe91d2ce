// The list of threads beside the chat: the inbox, or the threads that people began.

import { root } from './api.js';
import { find, findAll, icon, make, textOf } from './dom.js';
import { authorOf, chip } from './row.js';
import { t } from './texts.js';
import { shortTime } from './times.js';

/** The list has the threads that changed last. */
const MOST_THREADS = 50;
/** Letters of what was said last. */
const MOST_LETTERS = 200;
const INBOX = ['activity', 'discussion', 'mail'];
const self = document.body.dataset;

/** The list beside the chat. Private conversations have none. */
const listOf = () => find('#inbox') ?? make('div');
const linksOf = (list) => findAll('.rows a', list);
const pathOf = (thread) => `${root}${find('#main').dataset.path}/threads/${thread}`;

/** Whether the list that is shown is that of a thread. */
function lists(kind, thread, message) {
  const isOfInbox =
    thread.source !== null || thread.activities + thread.external_comments > 0 || INBOX.includes(message.event);
  if (kind === 'inbox') return isOfInbox;
  // A message that was not answered is no thread to the reader yet.
  return kind === 'threads' && !isOfInbox && message.id !== thread.initial_message;
}

/** What a message says, in one line. */
function lineOf(message) {
  const { event, content, title, body } = message;
  const first = (text) => {
    const line = text.split('\n').find((each) => each.trim() !== '')?.trim() ?? '';
    return [...line].slice(0, MOST_LETTERS).join('');
  };
  const readable = (source) => textOf((source ?? '').replace(/<(?:\/(?:p|div|li|h\d|tr|blockquote)|br)\b/g, '\n$&'));
  const said = typeof content === 'string' ? content : (content?.text ?? content?.file_name ?? content?.subject);
  const [html, other] = event === 'discussion' ? [body, title] : [title, body];
  const text = first(said ?? (first(readable(html)) || readable(other)));
  const isNamed = message.user !== '0' || message.author || message.external_user_name;
  if (!text || !isNamed) return text;
  const { name } = authorOf(message);
  // The title of an activity says what its author did.
  return event === 'activity' ? t('both.last_act', { name, text }) : t('both.last_line', { name, text });
}

/** Shows a thread with its last message at the top of the list, where the list is that of the thread. */
export function putThread(thread, message) {
  const list = listOf();
  const path = pathOf(thread.id);
  const known = linksOf(list).find((link) => link.getAttribute('href') === path);
  if (!known && !lists(list.dataset.list, thread, message)) return;
  find('.none', list)?.remove();
  let rows = find('.rows', list);
  if (!rows) {
    rows = make('ul', { className: 'rows' });
    list.append(rows);
  }
  const item = known?.closest('li') ?? make('li');
  const last = Number(item.dataset.last ?? 0);
  if (last > message.id) return;
  const hadFocus = known === document.activeElement;
  const link = known ?? make('a', { href: path });
  link.replaceChildren(...partsOf(thread, message));
  item.replaceChildren(link);
  Object.assign(item.dataset, { hue: thread.mark & 7, root: thread.initial_message, last: message.id });
  const isRead = message.user === self.me || link.hasAttribute('aria-current');
  // A message that is heard again is no news.
  if (isRead || last !== message.id) item.classList.toggle('unread', !isRead);
  rows.prepend(item);
  if (hadFocus) link.focus();
  while (rows.children.length > MOST_THREADS) rows.lastElementChild.remove();
}

/** What stands in a row, as the server renders it (`lists.html`). */
function partsOf(thread, message) {
  const shape = make('span', { className: 'shape' });
  shape.dataset.shape = thread.mark >> 3;
  const talks = thread.internal_comments + thread.external_comments;
  const from = make('span', { className: 'from' }, thread.source?.application ?? '');
  if (talks > 0) {
    const words = make('span', { className: 'quietly', textContent: ` ${t('both.talks', { n: talks })}` });
    from.append(make('span', { className: 'talks' }, icon('talk', true), String(talks), words));
  }
  from.append(...chip(thread.status));
  const line = lineOf(message);
  const title = textOf(thread.title);
  const shownTitle = title || make('span', { className: 'gone', textContent: t('both.deleted') });
  return [
    shape,
    make('span', { className: 'title' }, shownTitle),
    make('time', { dateTime: thread.updated_at, textContent: shortTime(Date.parse(thread.updated_at)) }),
    ...(line ? [make('span', { className: 'last', textContent: line })] : []),
    from,
  ];
}

/** Marks the thread that is open, which is read then. */
export function markShown(thread) {
  const path = thread && pathOf(thread);
  for (const link of linksOf(listOf())) {
    const isShown = link.getAttribute('href') === path;
    if (isShown) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
    if (isShown) link.closest('li').classList.remove('unread');
  }
}

/** Another page of the reader's has shown messages up to this one. */
export function markThreadsRead(message) {
  for (const item of findAll('.rows .unread', listOf())) {
    if (Number(item.dataset.last) <= message) item.classList.remove('unread');
  }
}

/** Whether a row of the list shows a message: the last one of a thread, or the first, which gives the title. */
export const listsMessage = (message) =>
  find(`.rows li:is([data-last="${message}"], [data-root="${message}"])`, listOf()) !== null;

/** The link to a thread in the list. */
export const linkTo = (thread) => linksOf(listOf()).find((link) => link.getAttribute('href') === pathOf(thread));

/** The threads that are unread, so that they stay so when the list is made anew. */
export function unreadThreads() {
  const unread = findAll('.rows .unread a', listOf()).map((link) => link.getAttribute('href'));
  return () => {
    for (const link of linksOf(listOf())) {
      if (unread.includes(link.getAttribute('href'))) link.closest('li').classList.add('unread');
    }
  };
}

/** Shows all threads, or only those that are unread. */
export function sift(button) {
  for (const other of findAll('[data-only]', button.parentElement)) {
    other.setAttribute('aria-pressed', String(other === button));
  }
  button.closest('.list').dataset.only = button.dataset.only;
}
