// A list of messages on the page: the chat, or a thread. The rows are kept in the order of their
// numbers; those that are being sent stand behind them.

import { call, root } from './api.js';
import { find, findAll, icon, make } from './dom.js';
import { noteReaction } from './reactions.js';
import { authorOf, dress, emptyRow, fill, isHit, showTags, showText } from './row.js';
import { t } from './texts.js';
import { dayKey, dayName, dayPath } from './times.js';

/** How long after a message the next one of the same author stands without their name. */
const NEAR = 5 * 60 * 1000;
const CHAT = ['message', 'comment', 'status', 'file'];
const OLDER = 50;
/** How many live messages wait behind a gap. More are loaded when the reader comes there. */
const MOST_HELD = 200;
/** A list of more rows loses those far from what is seen: a page that stays open must not grow. */
const MOST_ROWS = 500;
const KEPT_ROWS = 300;
const self = document.body.dataset;

export class Feed {
  /** @param {HTMLElement} element @param {string} room the path of the room in the API */
  constructor(element, room) {
    this.element = element;
    this.room = room;
    this.prefix = element.dataset.prefix;
    this.thread = element.dataset.thread ?? null;
    this.scroll = element.closest('.scroll');
    this.index();
    this.isLoading = false;
    /** Called when the newest messages are there, behind which a gap was. */
    this.reached = () => {};
    this.scroll.addEventListener('scroll', () => this.scrolled());
  }

  /** Takes the rows that the server has rendered. */
  index() {
    /** @type {Map<number, HTMLElement>} */
    this.rows = new Map();
    /** The rows of each thread. @type {Map<string, Set<HTMLElement>>} */
    this.threads = new Map();
    /** The number of the last message. */
    this.last = 0;
    for (const row of findAll('article', this.element)) {
      if (row.dataset.id) this.keep(row);
      dress(find('.text', row));
    }
    this.hasMore = 'more' in this.element.dataset;
    this.setRole();
    /** Whether newer messages are there: what comes live must not stand behind the gap. */
    this.hasNewer = 'newer' in this.element.dataset;
    /** Live messages that wait behind the gap. @type {Map<number, object>} */
    this.held = new Map();
    /** The number of the last message that was held or dropped: later ones are new to the reader. */
    this.newestHeld = 0;
    /** Whether one was not held, or has changed since. */
    this.hasMissed = false;
    /** Counts how often the rows were replaced, so that what was asked for before is dropped. */
    this.generation = (this.generation ?? 0) + 1;
  }

  /** Scrolls to what the page points at. */
  showPlace() {
    const row = find('.here', this.element);
    if (row) row.scrollIntoView({ block: 'center' });
    else (find('#here', this.element) ?? this.unreadAbove())?.scrollIntoView({ block: 'start' });
  }

  /** The line of the unread, where it is not in sight. */
  unreadAbove() {
    const line = find('.fresh', this.element);
    return line?.getBoundingClientRect().top < this.scroll.getBoundingClientRect().top ? line : null;
  }

  keep(row) {
    const id = Number(row.dataset.id);
    this.rows.set(id, row);
    this.last = Math.max(this.last, id);
    this.ofThread(row).add(row);
  }

  /** A feed without articles is none. */
  setRole() {
    this.element.setAttribute('role', this.rows.size > 0 ? 'feed' : 'group');
  }

  forget(row) {
    this.rows.delete(Number(row.dataset.id));
    const ofThread = this.ofThread(row);
    ofThread.delete(row);
    if (ofThread.size === 0) this.threads.delete(row.dataset.thread ?? '');
  }

  /** The rows of the thread of a row. */
  ofThread(row) {
    const { thread = '' } = row.dataset;
    if (!this.threads.has(thread)) this.threads.set(thread, new Set());
    return this.threads.get(thread);
  }

  /** Whether a message is for this list. */
  accepts(message) {
    if (this.thread) return message.thread_id === this.thread;
    return CHAT.includes(message.event);
  }

  /** The number of the first message. */
  get first() {
    return Math.min(...this.rows.keys());
  }

  /** Whether the newest message is in sight. */
  get isAtEnd() {
    return !this.hasNewer && this.scroll.scrollTop > -80;
  }

  goToEnd() {
    this.scroll.scrollTop = 0;
  }

  /** Shows a message; one that is there already is filled anew. @returns {boolean} whether it is new */
  put(message) {
    if (message.uuid && message.user === self.me) this.takePending(message.uuid)?.remove();
    if (this.hasNewer && message.id > this.last) return this.hold(message);
    // Above the first row is a gap, too. What belongs there is loaded when the reader comes there.
    if (this.hasMore && this.rows.size > 0 && message.id < this.first) return false;
    const isNew = this.place(message);
    // What is being loaded belongs beside the rows that are there now. After it the list is trimmed.
    if (isNew && !this.isLoading) this.trim();
    return isNew;
  }

  /** Holds a live message that would stand behind a gap. @returns {boolean} whether it is new */
  hold(message) {
    const isNew = message.id > this.newestHeld;
    this.newestHeld = Math.max(this.newestHeld, message.id);
    if (message.html === undefined && this.held.has(message.id)) return isNew;
    if (this.held.size < MOST_HELD) this.held.set(message.id, message);
    else this.hasMissed = true;
    return isNew;
  }

  /** Drops a held message that has changed. It is loaded when the reader comes there. */
  dropHeld(id) {
    if (this.held.delete(id)) this.hasMissed = true;
  }

  place(message) {
    const known = this.rows.get(message.id);
    const row = known ?? emptyRow();
    // The first answer to a post has no HTML. What came with the stream stays.
    if (known && message.html === undefined) return false;
    fill(row, message, this.prefix);
    if (!known) this.insert(row);
    this.arrangeAround(row);
    return !known;
  }

  /** Drops rows of a list that has grown long. Scrolling to where they were loads them again. */
  trim() {
    if (this.rows.size <= MOST_ROWS) return;
    const rows = findAll('article[data-id]', this.element);
    const isInOlderHalf = rows.indexOf(this.middleRow(rows)) < rows.length / 2;
    const hadFocus = this.element.contains(document.activeElement);
    if (isInOlderHalf) this.dropNewest(rows);
    else this.dropOldest(rows);
    // The keys go on from the row that is nearest to the one that had the focus.
    const nearest = isInOlderHalf ? this.lastRow() : rows.at(-KEPT_ROWS);
    if (hadFocus && document.activeElement === document.body) nearest.focus({ preventScroll: true });
  }

  /** The row in the middle of what is seen; the last one where nothing is. */
  middleRow(rows) {
    const { top, height } = this.scroll.getBoundingClientRect();
    const isBelow = (row) => row.getBoundingClientRect().bottom >= top + height / 2;
    return (height > 0 && rows.find(isBelow)) || rows.at(-1);
  }

  dropOldest(rows) {
    const first = rows.at(-KEPT_ROWS);
    for (const row of rows.slice(0, -KEPT_ROWS)) this.forget(row);
    while (first.previousElementSibling) first.previousElementSibling.remove();
    this.hasMore = true;
    this.arrange(first);
  }

  /** From now on there is a gap behind the last row. */
  dropNewest(rows) {
    const last = rows[KEPT_ROWS - 1];
    const { top } = last.getBoundingClientRect();
    for (const row of rows.slice(KEPT_ROWS)) this.forget(row);
    for (const child of elementsAfter(last)) if (!isPending(child)) child.remove();
    this.newestHeld = Math.max(this.newestHeld, this.last);
    this.last = Number(last.dataset.id);
    this.hasNewer = true;
    this.arrange(last);
    // The list is measured from its end, which is another one now.
    this.scroll.scrollTop += last.getBoundingClientRect().top - top;
  }

  insert(row) {
    const id = Number(row.dataset.id);
    let before = this.lastRow();
    while (before && Number(before.dataset.id) > id) before = rowBefore(before);
    if (before) before.after(row);
    else this.element.prepend(row);
    this.keep(row);
    this.setRole();
  }

  lastRow() {
    let row = this.element.lastElementChild;
    while (row && !row.dataset?.id) row = row.previousElementSibling;
    return row;
  }

  /** Takes a message away. */
  remove(id) {
    this.dropHeld(id);
    const row = this.rows.get(id);
    if (!row) return;
    const [before, after] = [rowBefore(row), rowAfter(row)];
    dayOf(row)?.remove();
    row.remove();
    this.forget(row);
    this.setRole();
    for (const beside of [before, after]) if (beside) this.arrange(beside);
  }

  edit(id, text, html) {
    this.dropHeld(id);
    const row = this.rows.get(id);
    if (row) showText(row, text, html, text !== '');
  }

  react(change, user) {
    this.dropHeld(change.message);
    const row = this.rows.get(change.message);
    if (row) noteReaction(row, change, user);
  }

  tag(id, { add, remove, tags }) {
    this.dropHeld(id);
    const row = this.rows.get(id);
    if (!row) return;
    const before = JSON.parse(row.dataset.tags ?? 'null') ?? [];
    const now = tags ?? [...before.filter((tag) => !remove.includes(tag)), ...add];
    showTags(row, now);
    row.classList.toggle('hit', isHit({ user: row.dataset.user, tags: now, to: this.room.startsWith('private/') }));
    this.arrangeAround(row);
  }

  /** Whether an edit can have changed the tags of a message, which the event does not name. */
  mayTag(id, text) {
    const row = this.rows.get(id);
    return row !== undefined && (/[#@＃＠]/.test(text) || JSON.parse(row.dataset.tags ?? 'null')?.length > 0);
  }

  arrangeAround(row) {
    const rows = new Set([row, rowBefore(row), rowAfter(row)]);
    const ofThread = row.dataset.thread ? this.ofThread(row) : new Set();
    // With its second message a thread is shown in both rows. Later ones change only their neighbours.
    if (ofThread.size === 2) {
      for (const other of ofThread) for (const each of [other, rowBefore(other), rowAfter(other)]) rows.add(each);
    }
    for (const each of rows) if (each) this.arrange(each);
  }

  /** Decides what a row shows by the rows beside it, as the server does (`rows.rs`). */
  arrange(row) {
    const [before, after] = [rowBefore(row), rowAfter(row)];
    const thread = this.shownThread(row);
    const continues = thread !== null && before !== null && this.shownThread(before) === thread;
    const nextContinues = thread !== null && after !== null && this.shownThread(after) === thread;
    const isNewDay = !before || dayKey(Number(before.dataset.sent)) !== dayKey(Number(row.dataset.sent));
    const follows =
      before !== null &&
      before.dataset.user === row.dataset.user &&
      nameIn(before) === nameIn(row) &&
      Number(row.dataset.sent) - Number(before.dataset.sent) < NEAR &&
      this.shownThread(before) === thread &&
      !before.classList.contains('act') &&
      !row.classList.contains('act');
    const isFirstUnread = Boolean(row.previousElementSibling?.classList.contains('fresh'));
    const beginsRun = thread !== null && !continues;
    const showsTitle = beginsRun && row.dataset.root !== row.dataset.id;
    const showsAuthor = isNewDay || isFirstUnread || !follows || row.classList.contains('hit');
    row.classList.toggle('strung', thread !== null);
    row.classList.toggle('knot', beginsRun);
    row.classList.toggle('end', thread !== null && !nextContinues);
    row.classList.toggle('about-on', showsTitle);
    row.classList.toggle('first', showsAuthor);
    find('.mark', row).hidden = !beginsRun;
    find('.about', row).hidden = !showsTitle;
    find('.face', row).hidden = !showsAuthor;
    find('.by', row).classList.toggle('quietly', !showsAuthor);
    find('.side-time', row).hidden = showsAuthor;
    this.showDay(row, isNewDay);
  }

  /** The thread that a row shows: one with other messages, or that mirrors an outside item. */
  shownThread(row) {
    const { thread, root, id, mirrors } = row.dataset;
    if (!thread || this.thread) return null;
    const isShown =
      mirrors !== undefined ||
      root !== id ||
      this.ofThread(row).size > 1;
    return isShown ? thread : null;
  }

  showDay(row, isNew) {
    const day = dayOf(row);
    if (!isNew) {
      day?.remove();
      return;
    }
    const at = Number(row.dataset.sent);
    const path = `${root}${find('#main').dataset.path}/on/${dayPath(at)}#here`;
    const link = make('a', { href: path, textContent: dayName(at) });
    if (day) {
      if (day.textContent !== link.textContent) day.replaceChildren(link);
      return;
    }
    const place = row.previousElementSibling?.classList.contains('fresh') ? row.previousElementSibling : row;
    place.before(make('p', { className: 'day', role: 'article' }, link));
  }

  /** Shows the line of the unread above a message, unless it stands above others that are unread. */
  beginUnread(id, read) {
    const line = find('.fresh', this.element);
    if (line && Number(rowAfter(line)?.dataset.id) > read) return;
    this.dropUnreadLine();
    const row = this.rows.get(id);
    if (!row) return;
    row.before(make('p', { className: 'fresh', textContent: t('both.new') }));
    this.arrange(row);
  }

  /** Takes the line of the unread away. */
  dropUnreadLine() {
    const line = find('.fresh', this.element);
    const row = line && rowAfter(line);
    line?.remove();
    if (row) this.arrange(row);
  }

  /** Shows what is being sent. */
  showPending(entry, { retry, drop }) {
    let row = this.takePending(entry.uuid);
    if (!row) {
      row = emptyRow();
      row.dataset.uuid = entry.uuid;
      row.dataset.user = self.me;
      row.dataset.mine = '';
      row.removeAttribute('data-id');
      find('.by b', row).textContent = authorOf({ user: self.me }).name;
      find('.text', row).textContent = entry.text;
      for (const part of ['.mark', '.about', '.face']) find(part, row).hidden = true;
      find('.by', row).classList.add('quietly');
      find('.side-time', row).hidden = true;
      row.classList.remove('first');
      this.element.append(row);
    }
    row.classList.toggle('wait', !entry.failed);
    row.classList.toggle('lost', Boolean(entry.failed));
    find('.state', row)?.remove();
    const state = make('p', { className: 'state' });
    if (entry.failed) {
      state.append(
        `${t('script.feed.not_sent', { reason: entry.failed })}. `,
        make('button', { type: 'button', textContent: t('script.feed.send_again'), onclick: retry }),
        ' ',
        make('button', { type: 'button', textContent: t('script.feed.drop'), onclick: drop }),
      );
    } else state.append(icon('clock', true), t('script.feed.sending'));
    find('.more', row).append(state);
  }

  /** The row of what is being sent under an id of ours. */
  takePending(uuid) {
    return find(`article[data-uuid="${CSS.escape(uuid)}"]:not([data-id])`, this.element);
  }

  dropPending(uuid) {
    this.takePending(uuid)?.remove();
  }

  scrolled() {
    // A pane that is not shown has no height.
    if (this.scroll.clientHeight === 0) return;
    const above = this.scroll.scrollHeight - this.scroll.clientHeight + this.scroll.scrollTop;
    if (above < 600) this.loadOlder();
    if (this.scroll.scrollTop > -600) this.loadNewer();
  }

  /** Messages of this list from the server, ascending by number. */
  load(query) {
    const place = this.thread ? `threads/${encodeURIComponent(this.thread)}/messages` : 'messages';
    const events = this.thread ? '' : `&event=${CHAT.join(',')}`;
    return call('GET', `/${this.room}/${place}?limit=${OLDER}&html=1${query}${events}`);
  }

  /** Loads messages behind the last one, until the newest are there. */
  async loadNewer() {
    if (this.isLoading || !this.hasNewer || this.rows.size === 0) return;
    this.isLoading = true;
    const { generation } = this;
    let isLoaded = false;
    try {
      this.hasMissed = false;
      const newer = await this.load(`&sort=asc&since_id=${this.last}`);
      if (generation !== this.generation) return;
      // At its bottom the list would follow what is appended, and load on by itself.
      const row = this.lastRow();
      const { top } = row.getBoundingClientRect();
      for (const message of newer) this.place(message);
      const isEnd = newer.length === 0 && !this.hasMissed;
      if (isEnd) this.placeHeld();
      this.scroll.scrollTop += row.getBoundingClientRect().top - top;
      this.trim();
      if (isEnd) this.reached();
      isLoaded = true;
    } catch {
      // Scrolling on tries again.
    } finally {
      this.isLoading = false;
      if (isLoaded) this.scrolled();
    }
  }

  /** The newest are there: what was held comes behind them. */
  placeHeld() {
    this.hasNewer = false;
    const held = [...this.held.values()].sort((one, other) => one.id - other.id);
    this.held.clear();
    for (const message of held) this.place(message);
  }

  /** Shows the newest messages in place of those of an earlier time. */
  async goToNewest() {
    if (!this.hasNewer) {
      this.goToEnd();
      return;
    }
    const { generation } = this;
    let newest;
    do {
      // The answer has what was held until now. A message that changes meanwhile is asked for again.
      this.held.clear();
      this.hasMissed = false;
      newest = await this.load('');
      if (generation !== this.generation) return;
    } while (this.hasMissed);
    this.generation += 1;
    // What is being sent stays.
    for (const child of [...this.element.children]) if (!isPending(child)) child.remove();
    this.rows.clear();
    this.threads.clear();
    this.last = 0;
    this.hasMore = true;
    for (const message of newest) this.place(message);
    // Between the first row and an older one may be others. They are loaded when the reader comes there.
    for (const id of this.held.keys()) if (id < this.first) this.held.delete(id);
    this.placeHeld();
    this.goToEnd();
    this.reached();
  }

  /** Loads messages before the first one. */
  async loadOlder() {
    if (this.isLoading || !this.hasMore || this.rows.size === 0) return;
    this.isLoading = true;
    const { generation } = this;
    let isLoaded = false;
    try {
      const older = await this.load(`&until_id=${this.first}`);
      if (generation !== this.generation) return;
      this.hasMore = older.length > 0;
      for (const message of older.reverse()) this.place(message);
      this.trim();
      isLoaded = true;
    } catch {
      // Scrolling on tries again.
    } finally {
      this.isLoading = false;
      // The reader may have gone elsewhere meanwhile.
      if (isLoaded) this.scrolled();
    }
  }
}

function nameIn(row) {
  return find('.by b', row).textContent;
}

/** Whether an element of a list is the row of what is being sent. */
function isPending(element) {
  return element.matches('article:not([data-id])');
}

function elementsAfter(row) {
  const all = [...row.parentElement.children];
  return all.slice(all.indexOf(row) + 1);
}

function rowBefore(row) {
  let element = row.previousElementSibling;
  while (element && !element.dataset.id) element = element.previousElementSibling;
  return element;
}

function rowAfter(element) {
  let next = element.nextElementSibling;
  while (next && !next.dataset.id) next = next.nextElementSibling;
  return next;
}

/** The line with the day right above a row. */
function dayOf(row) {
  let element = row.previousElementSibling;
  if (element?.classList.contains('fresh')) element = element.previousElementSibling;
  return element?.classList.contains('day') ? element : null;
}
