// The list of threads beside the chat: the inbox, or the threads that people began.

import { load, root } from './api.js';
import { find, findAll, icon, make, pageOf, textOf } from './dom.js';
import { authorOf, chip, fillFace, titleOf } from './row.js';
import { t } from './texts.js';
import { shortTime } from './times.js';

/** The list has the threads that changed last. */
const MOST_THREADS = 50;
/** Letters of what was said last. */
const MOST_LETTERS = 200;
const INBOX = ['activity', 'discussion', 'mail'];
const self = document.body.dataset;

/** The list beside the chat. Private conversations have none. */
export const listOf = () => find('#inbox') ?? make('div');
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
  const readable = (source) => textOf((source ?? '').replace(/<(?:\/(?:p|div|li|h\d|tr)|\/?(?:blockquote|pre)|br)\b/g, '\n$&'));
  const said = typeof content === 'string' ? content : (content?.text ?? content?.file_name ?? content?.subject);
  const [html, other] = event === 'discussion' ? [body, title] : [title, body];
  const shown = message.html ? readable(message.html) : said;
  const text = first(shown ?? (first(readable(html)) || readable(other)));
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
  if (!('extended' in rows.dataset)) shorten(list, rows);
}

/** Takes the last rows away. The link below the list goes on with them. */
function shorten(list, rows) {
  const further = find('.further', list);
  if (!further || rows.children.length <= MOST_THREADS) return;
  while (rows.children.length > MOST_THREADS) rows.lastElementChild.remove();
  const last = rows.lastElementChild;
  const link = find('a', further);
  const address = new URL(link.href);
  address.searchParams.set('until', changedAt(last));
  address.searchParams.set('before', find('a', last).getAttribute('href').split('/').at(-1));
  link.href = address.href;
  further.hidden = false;
}

/** When the thread of a row changed, in milliseconds. */
const changedAt = (item) => Date.parse(find('time', item).dateTime);

/** Adds what a link below the list leads to: older threads, or older files. */
export async function extend(link) {
  if (link.ariaBusy) return;
  link.ariaBusy = 'true';
  try {
    const answer = await load(link.href);
    const page = answer.ok && !answer.redirected ? find('#inbox', pageOf(await answer.text())) : null;
    if (!link.isConnected) return;
    if (!page || !append(listOf(), page)) location.assign(link.href);
  } catch {
    // The browser says that the server is not there.
    location.assign(link.href);
  }
}

function append(list, page) {
  const [rows, more] = [find('ul', list), find('ul', page)];
  if (!rows || !more || list.dataset.list !== page.dataset.list) return false;
  const hadFocus = find('.further', list).contains(document.activeElement);
  const known = new Set([...rows.children].map(addressOf));
  const added = [...more.children].filter((item) => !known.has(addressOf(item)));
  rows.append(...added);
  rows.dataset.extended = '';
  const further = find('.further', page);
  if (further) find('.further', list).replaceWith(further);
  else find('.further', list).remove();
  if (hadFocus) find('a', added[0] ?? rows.lastElementChild)?.focus();
  return true;
}

const addressOf = (item) => find('a', item).getAttribute('href');

/** The older threads or files that were added below the list, so that they stay when it is made anew. */
export function addedThreads() {
  const rows = find('ul[data-extended]', listOf());
  if (!rows) return () => {};
  const [items, further] = [[...rows.children], find('.further', listOf())];
  return () => {
    const fresh = find('ul', listOf());
    const last = fresh?.lastElementChild;
    if (!last || fresh === rows) return;
    const shown = new Set([...fresh.children].map(addressOf));
    const isOlder = (item) => changedAt(item) <= changedAt(last) && !shown.has(addressOf(item));
    fresh.append(...items.filter(isOlder));
    fresh.dataset.extended = '';
    find('.further', listOf())?.remove();
    if (further) fresh.after(further);
  };
}

/** The application that keeps a thread, with its picture. */
function sourceOf({ source }) {
  if (!source) return [];
  const sign = make('span', { className: 'source-icon', ariaHidden: 'true' });
  fillFace(sign, { name: source.application, outside: source.icon_path });
  return [make('span', { className: 'source' }, sign, source.application)];
}

/** What stands in a row, as the server renders it (`lists.html`). */
function partsOf(thread, message) {
  const shape = make('span', { className: 'shape' });
  shape.dataset.shape = thread.mark >> 3;
  const talks = thread.internal_comments + thread.external_comments;
  const from = make('span', { className: 'from' }, ...sourceOf(thread));
  if (talks > 0) {
    const words = make('span', { className: 'quietly', textContent: ` ${t('both.talks', { n: talks })}` });
    from.append(make('span', { className: 'talks' }, icon('talk', true), String(talks), words));
  }
  from.append(...chip(thread.status));
  const line = lineOf(message);
  const title = titleOf(message);
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

/** The reader has read all threads of the list, or one, up to a message. */
export function markThreadsRead(message, thread) {
  for (const item of findAll('.rows .unread', listOf())) {
    const isMeant = !thread || addressOf(item) === pathOf(thread);
    if (isMeant && Number(item.dataset.last) <= message) item.classList.remove('unread');
  }
}

/** Whether a row of the list shows a message: the last one of a thread, or the first, which gives the title. */
export const listsMessage = (message) =>
  find(`.rows li:is([data-last="${message}"], [data-root="${message}"])`, listOf()) !== null;

/** The link to a thread in the list. */
export const linkTo = (thread) => linksOf(listOf()).find((link) => link.getAttribute('href') === pathOf(thread));

/**
 * The threads of the chat that are unread, so that they stay so when the list is made anew: the chat
 * beside it may have been read. Of the inbox the server knows which are.
 */
export function unreadThreads() {
  const unread = findAll('#inbox[data-list="threads"] .rows .unread a', find('#main')).map((link) => link.getAttribute('href'));
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
