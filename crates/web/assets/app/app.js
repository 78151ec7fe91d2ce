// The page of a flow: what happens is shown as it happens, and what the reader writes is sent.

import { act, sameAction } from './actions.js';
import { call, isOfAnother, root } from './api.js';
import { announce, say } from './announce.js';
import { Composer } from './composer.js';
import { countChange, countMentions, countNews, showInboxCount, showWaiting } from './counts.js';
import { copy, find, findAll, icon, pageOf } from './dom.js';
import { Feed } from './feed.js';
import { focusedRow, goToMention, goToPane, moveRow, placeOfFocus, setTabStop, withRow } from './focus.js';
import { open } from './frame.js';
import './hint.js';
import { bindKeys } from './keys.js';
import { openPicture } from './lightbox.js';
import { SPREAD, forgetPages, openStream } from './live.js';
import { notice } from './notices.js';
import { Outbox, sendWaiting } from './outbox.js';
import { Panes } from './panes.js';
import { isWrittenIn, loadPage, takeChildren } from './parts.js';
import { fillThread } from './row.js';
import { isChangeable, isEditable, isGone, showTools } from './row-tools.js';
import { pickEmoji } from './picker.js';
import { askPresence, forgetPresence, notePresence } from './presence.js';
import { toggleReaction } from './reactions.js';
import { Reading, TABS, isLooking } from './reading.js';
import { editStatus, showStatus } from './status.js';
import { isSure } from './sure.js';
import { addCommands } from './switcher.js';
import { editTags } from './tags.js';
import { t } from './texts.js';
import { addedThreads, extend, linkTo, listsMessage, markShown, putThread, sift, unreadThreads } from './threads.js';
import { throttles } from './throttle.js';
import { clock, shortTime } from './times.js';
import { notify } from './toast.js';

const self = document.body.dataset;
const main = find('#main');
const { flow, room, with: other } = main.dataset;
const chat = new Feed(find('#chat'), room);
/** The messages of the thread that is open. */
let shownThread = null;
const feeds = [chat];
const outbox = new Outbox(room, { show: showPending, sent: confirmSent, dropped: dropPending });
const handlers = {
  send: (text, thread) => send(text, thread),
  sent: confirmSent,
  edit: editMessage,
  editLast,
  notify,
};
const composers = [new Composer(find('#composer'), room, handlers)];
const reading = new Reading(chat, refreshSoon);
openThread();

// Messages.

/** Shows a message of this flow wherever it belongs. */
function put(message) {
  if (message.uuid && message.user === self.me) outbox.confirm(message.uuid);
  find('#hello')?.remove();
  const isInChat = chat.accepts(message) && chat.put(message);
  const isInThread = shownThread?.accepts(message) && shownThread.put(message);
  const isNew = isInChat || isInThread;
  reading.note(message);
  if (isNew && message.user !== self.me) announce(message);
  if (message.thread) noteThread(message);
  if (message.event === 'status' && isNew) showStatus(message);
  if (message.event === 'file' && isNew && listsFiles()) refreshSoon(['inbox']);
  if (message.user === self.me && isNew && !chat.hasNewer) chat.goToEnd();
  showNewer(isInChat && message.user !== self.me);
  // A message that the reader does not see is counted, as in the other flows.
  if (!countNews(message)) refreshSoon(LISTS);
  markRead();
  if (message.id <= reading.read) return;
  if (isInChat && message.user !== self.me && !isLooking()) chat.beginUnread(message.id, reading.read);
}

/** Sends a text, which then stands behind the newest messages. */
function send(text, thread) {
  for (const feed of feeds) {
    if (feed.hasNewer && (!feed.thread || feed.thread === thread)) goToNewest(feed);
  }
  return outbox.send(text, thread);
}

/** Leaves an earlier time for the newest messages. */
async function goToNewest(feed = chat) {
  try {
    await feed.goToNewest();
  } catch (error) {
    notify(t('script.api.failed', { reason: error.message }));
  }
  showNewer(false);
  markRead();
}

chat.reached = () => {
  // The address is that of the chat again, also when the page is made anew.
  const home = root + main.dataset.path;
  if (/^\/(messages|on)\//.test(location.pathname.slice(home.length))) history.replaceState(null, '', home);
  showNewer(false);
  markRead();
};

/** The server has a message. Of a private one it answers that only; the stream brings it. */
function confirmSent(message) {
  if (message?.id) put(message);
}

const controlsOf = (uuid) => ({ retry: () => outbox.retry(uuid), drop: () => outbox.drop(uuid) });

function showPending(entry) {
  const controls = controlsOf(entry.uuid);
  chat.showPending(entry, controls);
  showPendingReply(entry, controls);
  if (!entry.failed && !chat.hasNewer) chat.goToEnd();
}

function showPendingReply(entry, controls) {
  if (shownThread && entry.thread === shownThread.thread) shownThread.showPending(entry, controls);
}

function dropPending(uuid) {
  for (const feed of feeds) feed.dropPending(uuid);
}

async function editMessage(id, content) {
  try {
    await call('PUT', `/${room}/messages/${id}`, { content });
    return true;
  } catch (error) {
    notify(t('script.chat.not_changed', { reason: error.message }));
    return false;
  }
}

/** Changes the last message of the reader's that has a text. */
function editLast(composer) {
  const feed = composer.own ? shownThread : chat;
  const own = findAll('article[data-id][data-mine]', feed.element).filter(isEditable).at(-1);
  if (own) startEdit(own);
}

async function startEdit(row) {
  try {
    const message = await call('GET', `/${room}/messages/${row.dataset.id}`);
    const text = typeof message.content === 'string' ? message.content : message.content.text;
    if (text) composerBeside(row).edit(message.id, text);
  } catch (error) {
    notify(t('script.api.failed', { reason: error.message }));
  }
}

async function deleteMessage(row) {
  const text = find('.text', row).textContent.trim();
  const file = text ? null : find('.file .name, .shot', row);
  if (!(await isSure(file?.dataset.name ?? file?.textContent ?? text, file !== null))) return;
  // The tools of the message, which may have had the focus, go with its text.
  row.focus();
  try {
    await call('DELETE', `/${room}/messages/${row.dataset.id}`);
  } catch (error) {
    notify(t('script.chat.not_deleted', { reason: error.message }));
  }
}

/** The composer below the messages among which an element stands. */
const composerBeside = (element) => composers.find(({ own }) => own && element?.closest('.thread')) ?? composers[0];

/** The composer of the pane that has the focus. */
const composerHere = () => composerBeside(document.activeElement);

/** Has the reader reply to a message of the chat, or else in the thread that is open. */
function replyTo(row) {
  const isInChat = row && !row.closest('#thread');
  if (isInChat && row.dataset.thread) reply(row);
  else if (!isInChat && shownThread) composers[1].text.focus();
  else return false;
}

function reply(row) {
  const shape = find('.mark .shape', row).dataset.shape;
  const title = find('.about span', row)?.textContent || find('.text', row).textContent;
  composers[0].replyTo(row.dataset.thread, { hue: row.dataset.hue, shape, title });
}

for (const name of ['pointerover', 'focusin']) {
  main.addEventListener(name, (event) => showTools(event.target.closest?.('article')));
}
main.addEventListener('click', (event) => {
  const button = event.target.closest('button');
  const row = event.target.closest('article');
  if (button?.dataset.do === 'reply') reply(row);
  else if (button?.dataset.do === 'edit') startEdit(row);
  else if (button?.dataset.do === 'delete') deleteMessage(row);
  else if (button?.dataset.do === 'tags') editTags(row, room, notify);
  else if (button?.dataset.do === 'react') react(row);
  else if (button?.dataset.do === 'status') editStatus(button, room, notify);
  else if (button?.dataset.emoji) toggleReaction(row, room, button.dataset.emoji, notify);
  else if (button?.dataset.do === 'copy') copyCode(button);
  else if (button?.dataset.do === 'read-inbox') reading.markInbox();
  else if (button?.classList.contains('unfold')) unfold(row);
  else if (button?.dataset.action) act(button, room);
  else if (button?.classList.contains('newer')) goToNewest();
  else if (button && 'only' in button.dataset) sift(button);
  const link = event.target.closest('a');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const follow = link.matches('.shot') ? openPicture : 'extends' in link.dataset && extend;
  if (!follow) return;
  event.preventDefault();
  follow(link);
});

function react(row) {
  pickEmoji((emoji) => {
    toggleReaction(row, room, emoji, notify);
    row.focus();
  });
}

async function copyCode(button) {
  const isCopied = await copy(find('code', button.parentElement).textContent);
  say(isCopied ? t('script.chat.copied') : t('script.chat.not_copied'));
  if (!isCopied) notify(t('script.chat.cannot_copy'));
  else button.replaceChildren(icon('check', true));
}

function unfold(row) {
  row.classList.remove('long');
  row.focus();
}

// Arrow keys move in a feed, and Escape leads back.

main.addEventListener('keydown', (event) => {
  const row = event.target.closest('article');
  if (row && event.target === row && ['ArrowUp', 'ArrowDown', 'Home', 'End'].includes(event.key)) {
    event.preventDefault();
    if (event.key === 'End') {
      goToLast(feeds.find(({ element }) => element === row.parentElement));
      return;
    }
    const rows = findAll('article[data-id]', row.parentElement);
    const at = rows.indexOf(row);
    const to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0 }[event.key];
    rows[Math.min(Math.max(to, 0), rows.length - 1)].focus();
  }
});

/** Gives the focus to the last message, also where it must be loaded first. */
async function goToLast(feed) {
  await goToNewest(feed);
  feed.lastRow()?.focus();
}

document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || !shownThread || event.defaultPrevented || event.isComposing) return;
  if (!find('dialog[open]')) find('.thread .leave').click();
});

async function copyAddress(row) {
  const address = `${location.origin}${root}${main.dataset.path}/messages/${row.dataset.id}`;
  notify((await copy(address)) ? t('script.chat.address_copied') : t('script.chat.cannot_copy'));
}

if (flow) {
  addCommands({
    [t('script.chat.inbox')]: () => panes.go(`${root}${main.dataset.path}/inbox`),
    [t('script.chat.threads')]: () => panes.go(`${root}${main.dataset.path}/threads`),
    [t('script.chat.files')]: () => panes.go(`${root}${main.dataset.path}/files`),
    [t('script.chat.people')]: () => panes.go(`${root}${main.dataset.path}/people`),
    [t('script.chat.search')]: () => panes.go(`${root}${main.dataset.path}/search`),
    [t('script.chat.settings')]: open(`${main.dataset.path}/settings`),
  });
}
bindKeys({
  c: () => composerHere().text.focus(),
  '/': flow ? () => panes.go(`${root}${main.dataset.path}/search`) : open('/app/-/search'),
  j: () => moveRow(1, chat),
  k: () => moveRow(-1, chat),
  m: () => goToMention(chat),
  r: () => replyTo(focusedRow()),
  '+': withRow((row) => (isGone(row) ? false : react(row))),
  t: withRow((row) => (flow && !isGone(row) ? editTags(row, room, notify) : false)),
  e: withRow((row) => (isEditable(row) ? void startEdit(row) : false)),
  l: withRow((row) => void copyAddress(row)),
  Delete: withRow((row) => (isChangeable(row) ? void deleteMessage(row) : false)),
  Enter: withRow((row) => {
    const link = find('.mark', row);
    if (document.activeElement !== row || !row.dataset.thread) return false;
    return link.click();
  }),
  End: () => void goToNewest(),
  F6: goToPane,
  'Ctrl+U': (event) => (event.shiftKey && composerHere().tray ? composerHere().tray.input.click() : false),
});
// A file that misses the pane must not replace the page.
for (const name of ['dragover', 'drop']) {
  addEventListener(name, (event) => event.dataTransfer?.types.includes('Files') && event.preventDefault());
}

// Threads: the one that is open, and their state.

/** What the head of the open thread shows, as far as the stream has said. */
let shownState = null;

/** Makes the pane of a thread work. */
function openThread() {
  if (!find('#thread')) return;
  shownThread = new Feed(find('#thread'), room);
  feeds.push(shownThread);
  composers.push(new Composer(find('#reply'), room, handlers));
  shownThread.scroll.addEventListener('scroll', markRead);
}

/** Shows the thread of another page in place of the one that is open; without one there closes it. */
function takeThread(page) {
  const fresh = find('section.thread', page);
  find('section.thread', main)?.remove();
  [shownThread, shownState] = [null, null];
  feeds.length = 1;
  composers.length = 1;
  main.classList.toggle('has-thread', Boolean(fresh));
  if (fresh) main.append(document.adoptNode(fresh));
  openThread();
  markShown(shownThread?.thread);
  if (!shownThread) return;
  shownThread.showPlace();
  for (const uuid of outbox.entries.keys()) showPendingReply(outbox.entries.get(uuid), controlsOf(uuid));
}

/** Shows the state in which a message leaves its thread, wherever the thread is shown. */
function noteThread(message) {
  const { thread } = message;
  putThread(thread, message);
  if (message.id < reading.newest) return;
  for (const feed of feeds) {
    for (const row of feed.threads.get(thread.id) ?? []) fillThread(row, message);
  }
  if (shownThread?.thread !== thread.id) return;
  const { title, status, fields, body, actions } = thread;
  const state = JSON.stringify([title, status, fields, body, actions]);
  if (state !== shownState) refreshSoon(['thread-chip', 'thread-head']);
  shownState = state;
}

/** Notes what the reader sees. Only the last row is in the order of Tab. */
function markRead() {
  setTabStop(feeds);
  reading.markChat();
  reading.markThread(shownThread);
}

function showNewer(isNew) {
  const button = find('button.newer');
  button.hidden = chat.isAtEnd;
  const count = chat.isAtEnd ? 0 : Number(button.dataset.count ?? 0) + (isNew ? 1 : 0);
  button.dataset.count = count;
  find('span', button).textContent = count > 0 && !chat.hasNewer ? t('script.chat.newer', { n: count }) : t('both.newest');
}

chat.scroll.addEventListener('scroll', () => {
  showNewer(false);
  markRead();
});
for (const name of ['focus', 'visibilitychange']) addEventListener(name, markRead);
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') chat.dropUnreadLine();
});

// Other flows.

/** Whether an event is of the room that the page shows. */
function isHere(event) {
  if (flow) return (event.flow ?? event.content?.flow) === flow;
  const pair = [event.user, event.to];
  return [[self.me, other], [other, self.me]].some(([from, to]) => pair[0] === from && pair[1] === to);
}

// The stream.

/** @param {boolean} [isAgain] whether the event was shown before */
function heard(event, isAgain = false) {
  if (rebuilding) {
    held.push(event);
    if (isHolding) return;
  }
  missed?.push(event);
  switch (event.event) {
    case 'reset':
      refreshSoon(EVERYTHING);
      break;
    case 'message-edit':
    case 'message-delete':
    case 'tag-change':
    case 'emoji-reaction':
      if (isHere(event)) change(event);
      if (isHere(event) && event.event === 'message-delete') reading.changes += 1;
      if (event.event !== 'emoji-reaction' && !isAgain && !countChange(event)) refreshSoon(TABS);
      break;
    case 'presence':
      notePresence(event.content, event.flow, isHere(event));
      break;
    case 'read':
      reading.heard(event.content);
      break;
    case 'flow-remove':
      forgetPages();
      refreshSoon(LISTS);
      break;
    case 'flow-add':
      refreshSoon(LISTS);
      break;
    case 'flow-change':
    case 'user-edit':
    case 'backend.user.join':
      if (!isAgain) throttled(event.event, () => refreshSoon(LISTS));
      break;
    default:
      if (typeof event.id !== 'number') break;
      // The people of the flow have changed.
      if (event.event === 'action' && isHere(event) && !isAgain) throttled(event.event, () => refreshSoon(LISTS));
      notice(event);
      if (isHere(event)) put(event);
      else if (!countNews(event)) refreshSoon(LISTS);
  }
}

/** Shows a change to a message of this room. */
function change({ event, content, html, user, thread }) {
  const { message } = content;
  for (const feed of feeds) {
    if (event === 'message-edit') feed.edit(message, content.updated_content, html);
    else if (event === 'message-delete') feed.remove(message);
    else if (event === 'tag-change') feed.tag(message, content);
    else feed.react(content, Number(user));
  }
  if (event === 'message-edit' && feeds.some((feed) => feed.mayTag(message, content.updated_content))) tagSoon(message);
  const changesText = ['message-edit', 'message-delete'].includes(event);
  if (changesText && find(`article[data-root="${message}"]`, main)) threadSoon(message);
  const isFile = event === 'message-delete' && listsFiles();
  const isCounted = thread && linkTo(thread.id);
  if (changesText && (isFile || isCounted || listsMessage(message))) refreshSoon(['inbox']);
}

/** Shows how a thread is called after its first message has changed. */
async function threadSoon(root) {
  const { thread } = find(`article[data-root="${root}"]`, main).dataset;
  await new Promise((resolve) => setTimeout(resolve, Math.random() * SPREAD));
  try {
    const [message] = await call('GET', `/${room}/threads/${thread}/messages?limit=1&html=1`);
    for (const feed of feeds) for (const row of feed.threads.get(thread) ?? []) fillThread(row, message);
    if (shownThread?.thread === thread) refresh(['thread-chip', 'thread-head']);
  } catch {
    // The thread is gone, or the server is away.
  }
}

/** Shows the tags that a message has after an edit. The pages do not all ask the server at once. */
async function tagSoon(id) {
  await new Promise((resolve) => setTimeout(resolve, Math.random() * SPREAD));
  try {
    const { tags } = await call('GET', `/${room}/messages/${id}`);
    for (const feed of feeds) feed.tag(id, { tags });
  } catch {
    // The message is gone, or the server is away. The tags stay.
  }
}

/** Whether the list beside the chat is that of the files. */
const listsFiles = () => find('#inbox')?.dataset.list === 'files';

/** What was heard while a page was asked for. It may be newer than the page. @type {object[] | null} */
let missed = null;

/** Shows in the panes of another page what was heard meanwhile. */
function replay(events) {
  for (const event of events.filter(isHere)) {
    if (['message-edit', 'message-delete', 'tag-change', 'emoji-reaction'].includes(event.event)) change(event);
    else if (event.event === 'read') reading.showRead(event.content);
    else if (typeof event.id === 'number') {
      for (const feed of feeds) if (feed.accepts(event)) feed.put(event);
      if (event.event === 'status') showStatus(event);
      if (!event.thread) continue;
      putThread(event.thread, event);
      if (event.thread_id === shownThread?.thread) refreshSoon(['thread-chip', 'thread-head']);
    }
  }
}

/** The page is being made anew. What happens meanwhile is shown once more after it. */
let rebuilding = null;
/** Whether what happens meanwhile is held, since the messages are made anew. */
let isHolding = false;
/** The parts that were left as they are, since the reader is writing in them. */
const postponed = new Set();
let refreshTimer = 0;
const held = [];
/** What stands around the messages, by the ids of its elements. */
const LISTS = ['inbox', ...TABS, 'people', 'crowd'];
const EVERYTHING = ['chat', 'thread', 'thread-chip', 'thread-head', ...LISTS];
/** What is to be made anew. */
const stale = new Set();

/** Others cause such events as often as they like. */
const throttled = throttles();

/** Such events reach all members at the same time. The pages do not all ask the server at once. */
function refreshSoon(parts) {
  for (const part of parts) stale.add(part);
  refreshTimer ||= setTimeout(() => {
    refreshTimer = 0;
    refresh([]);
  }, Math.random() * SPREAD);
}

/** Makes parts of the page anew, in place. */
function refresh(parts) {
  for (const part of parts) stale.add(part);
  rebuilding ??= rebuild().finally(() => {
    rebuilding = null;
    // What was shown already may be newer than the parts that were made anew.
    for (const event of held.splice(0)) heard(event, !isHolding);
    if (stale.size > 0) refreshSoon([]);
  });
}

main.addEventListener('focusout', () => {
  if (postponed.size === 0) return;
  refreshSoon([...postponed]);
  postponed.clear();
});

async function rebuild() {
  const parts = [...stale];
  stale.clear();
  isHolding = parts.includes('chat');
  const { href } = location;
  const { noted } = reading;
  const page = pageOf(await loadPage());
  if (href !== location.href) {
    // The reader has opened another pane meanwhile.
    for (const part of parts) stale.add(part);
    return;
  }
  const now = find('#main', page);
  if (isOfAnother(page) || now?.dataset.room !== room) {
    location.reload();
    return;
  }
  const [focused, place] = [document.activeElement, placeOfFocus()];
  const hasMessages = parts.includes('chat');
  const [restoreAdded, restoreUnread] = [addedThreads(), unreadThreads()];
  for (const id of parts) {
    const [old, fresh] = [document.getElementById(id), page.getElementById(id)];
    if (!old || !fresh) continue;
    if (!hasMessages && isWrittenIn(old)) {
      postponed.add(id);
      continue;
    }
    // The page of a thread has the inbox. Another list below the thread is loaded when it closes.
    if (old.dataset.list !== fresh.dataset.list) {
      isListStale = true;
      continue;
    }
    takeChildren(old, fresh);
  }
  restoreAdded();
  restoreUnread();
  markShown(shownThread?.thread);
  for (const feed of hasMessages ? feeds : []) {
    feed.index();
    if (feed.hasNewer) feed.showPlace();
  }
  if (place && !focused.isConnected) (sameAction(focused) ?? find(place))?.focus({ preventScroll: true });
  reading.take(now);
  // The page may have been made before the server noted what the reader has read since.
  const hasCounts = parts.some((id) => TABS.includes(id));
  // Answers to requests from before the page know less.
  if (hasCounts) reading.changes += 1;
  if (hasCounts && noted !== reading.noted) for (const id of TABS) stale.add(id);
  self.csrf = page.body.dataset.csrf;
  self.event = page.body.dataset.event;
  stream.join();
  outbox.resume();
  correctTimes();
  countMentions();
  showInboxCount();
  showNewer(false);
  markRead();
}

/**
 * Whether changes of presence may have been missed. The page of a conversation shows the other user's in its
 * head, and misses what changes before its stream is open.
 */
let hasMissed = !flow;

function changed(state) {
  if (state === 'broken') hasMissed = true;
  else if (state === 'signed-out') location.reload();
  else if (state === 'refused') refresh(EVERYTHING);
  else if (state === 'open') {
    outbox.wake();
    reading.tellAgain();
    // Streams bring changes of presence only.
    if (hasMissed) {
      forgetPresence();
      refreshSoon(['conversations', 'presence']);
    }
    hasMissed = false;
    for (const { tray } of composers) tray?.resume();
    if (flow) askPresence(room);
    markRead();
  }
}

/** The server knows the reader's zone from the second visit on, and summer time never. */
function correctTimes() {
  for (const row of findAll('article[data-sent]')) {
    if (!row.dataset.id) continue;
    const shown = clock(Number(row.dataset.sent));
    find('.by time', row).textContent = shown;
    find('.side-time', row).textContent = shown;
  }
  for (const feed of feeds) for (const row of feed.rows.values()) feed.arrange(row);
  for (const time of findAll('#inbox time[datetime]')) time.textContent = shortTime(Date.parse(time.dateTime));
}

/** Tells that a day has no messages, where the page opens at a later one. */
function tellDay() {
  const told = find('#here', chat.element)?.dataset.told;
  if (told) notify(told);
}

/** With a keyboard at hand the reader can type at once, unless the page points at a message. */
function focusFirst() {
  if (!matchMedia('(hover: hover)').matches || location.hash || document.activeElement !== document.body) return;
  const place = find('#inbox [name="q"]') ?? find('#reply textarea') ?? find('#composer textarea');
  if (place.checkVisibility()) place.focus({ preventScroll: true });
}

// Moving between panes.

/** The addresses of the chat, and of the inbox beside it. */
const home = new URL(root + main.dataset.path, location.href).href;
const inbox = `${home}/inbox`;

/** Whether the page has room for one pane. */
const isNarrow = () => findAll('.both').some((tabs) => tabs.checkVisibility());

/** The address of the list that is shown, to which a thread over it closes. */
let listAddress =
  shownThread || (find('#inbox')?.dataset.list === 'inbox' && !location.href.startsWith(inbox)) ? home : location.href;

/** The address to which an open thread closes. */
let closesTo = listAddress;

/** Whether the list has changed since it was loaded, in a way that the page does not show. */
let isListStale = false;

/** The link that opened a thread. */
let opener = null;

/** Shows what another page of this flow has beside the chat. */
function takePane(page, pane) {
  const events = missed ?? [];
  missed = null;
  const wasOpen = shownThread?.thread;
  // On narrow screens a thread may have been opened from the chat, whatever list is below it.
  if (!wasOpen) closesTo = isNarrow() && document.body.dataset.pane === 'chat' ? home : listAddress;
  // What is not shown cannot be scrolled to.
  document.body.dataset.pane = page.body.dataset.pane;
  if (pane === 'list') takeList(page, wasOpen);
  if (pane === 'thread' && !wasOpen) opener = panes.followed;
  takeThread(page);
  if (pane === 'place') {
    takeChildren(chat.element, find('#chat', page));
    chat.index();
    chat.showPlace();
    tellDay();
    outbox.resume();
  }
  for (const link of findAll('.thread .leave')) link.href = closesTo;
  for (const link of findAll('.thread .back')) link.href = listAddress === home ? inbox : listAddress;
  replay(events);
  showInboxCount();
  correctTimes();
  showNewer(false);
  markRead();
  focusPane(pane, wasOpen);
}

/** Shows the list of another page. A list that was below an open thread stays as it is. */
function takeList(page, wasOpen) {
  if (wasOpen && location.href === listAddress && !isListStale) return;
  isListStale = false;
  listAddress = location.href;
  const restoreUnread = unreadThreads();
  find('section.list').replaceWith(document.adoptNode(find('section.list', page)));
  restoreUnread();
  if (flow) askPresence(room);
}

/** The focus goes to what was opened, and back when it is closed. */
function focusPane(pane, wasOpen) {
  if (pane === 'thread') {
    const hasKeyboard = matchMedia('(hover: hover)').matches;
    find(hasKeyboard ? '#reply textarea' : '.thread h2').focus({ preventScroll: true });
  } else if (pane === 'place') {
    (find('#chat .here') ?? main).focus({ preventScroll: true });
  } else if (wasOpen) {
    const back = [opener, linkTo(wasOpen)].find((place) => place?.isConnected && place.checkVisibility());
    // On a telephone a field with the focus brings up the keyboard.
    const field = matchMedia('(hover: hover)').matches ? composers[0].text : main;
    (back ?? field).focus({ preventScroll: true });
    opener = null;
  } else {
    (find('#inbox [name="q"]') ?? find('.list [aria-current]'))?.focus({ preventScroll: true });
  }
}

/**
 * Shows the chat, or the list beside it, where the page has what an address asks for. On narrow screens
 * one of them shows at a time.
 * @returns {boolean} whether the page has it
 */
function showPane(address) {
  const isChat = address === home;
  const hasInbox = [home, inbox].includes(listAddress);
  const isList = !isListStale && (address === listAddress || (address === inbox && hasInbox));
  if (shownThread || !(isChat ? hasInbox || isNarrow() : isList)) return false;
  if (hasInbox) listAddress = address;
  const to = isChat ? 'chat' : 'inbox';
  if (document.body.dataset.pane === to) return true;
  document.body.dataset.pane = to;
  findAll('.both [aria-current]').find((tab) => tab.checkVisibility())?.focus();
  markRead();
  return true;
}

const panes =
  flow &&
  new Panes({
    // Files that wait in the pane of a thread go with it. The browser asks before it leaves them.
    isBusy: () => composers.slice(1).some(({ tray }) => tray && !tray.isEmpty),
    show: showPane,
    begin: () => (missed ??= []),
    end: () => (missed = null),
    take: takePane,
  });
addEventListener('beforeunload', (event) => {
  if (composers.some(({ tray }) => tray && !tray.isEmpty)) event.preventDefault();
});

correctTimes();
const stream = openStream(heard, changed);
stream.join();
outbox.resume();
sendWaiting(room);
for (const feed of feeds) feed.showPlace();
tellDay();
showNewer(false);
markRead();
showWaiting();
focusFirst();
document.documentElement.dataset.ready = '';
