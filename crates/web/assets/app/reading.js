// What the reader has read of the flow or conversation of the page.

import { Refused, call } from './api.js';
import { noteFlow, noteRead } from './counts.js';
import { find } from './dom.js';
import { t } from './texts.js';
import { listOf, markThreadsRead } from './threads.js';
import { notify } from './toast.js';

/** The ids of the elements that count. */
export const TABS = ['tabs', 'conversations'];
const { flow, room, with: other } = find('#main').dataset;

/** Whether the reader sees the page. */
export const isLooking = () => document.visibilityState === 'visible' && document.hasFocus();

/** Whether the reader sees the newest message of a feed. A pane that is not shown has no height. */
const isSeen = (feed) => isLooking() && feed.isAtEnd && feed.scroll.clientHeight > 0;

export class Reading {
  /**
   * @param {import('./feed.js').Feed} chat
   * @param {(parts: string[]) => void} stale is called when only the server knows what parts of the
   *   page show
   */
  constructor(chat, stale) {
    this.chat = chat;
    this.stale = stale;
    /** The number of the last message, of whatever kind. */
    this.newest = 0;
    /** Up to which message the reader has read the chat. */
    this.read = 0;
    /** What the server has not been told, since it was away. */
    this.untold = 0;
    /** Whether only the server knows what the tab counts after the reader has read the chat. */
    this.isUncounted = false;
    /** Ends when the server has answered what it was told last. */
    this.telling = Promise.resolve();
    /** Up to which message the server has been told that each thread was read. @type {Map<string, number>} */
    this.threads = new Map();
    /** Counts the answers that are waited for. Of several only the last is shown: they may overtake each other. */
    this.turn = 0;
    /** Counts what changed the inbox elsewhere: what the server answers to an earlier request knows less. */
    this.changes = 0;
    /** How often the server has noted what was read of threads and of the inbox. */
    this.noted = 0;
    this.take(find('#main'));
  }

  /** Takes what the server says on a page that it has made. */
  take({ dataset }) {
    this.read = Math.max(this.read, Number(dataset.read));
    this.newest = Math.max(this.newest, Number(dataset.last));
  }

  /** Notes that a message has come. */
  note({ id }) {
    this.newest = Math.max(this.newest, id);
  }

  /** Notes that the reader has seen the newest message of the chat. */
  markChat() {
    if (!isSeen(this.chat)) return;
    const last = Math.max(this.newest, this.chat.last);
    if (last <= this.read) return;
    this.read = last;
    // More may come before the server says so.
    this.isUncounted = !noteRead({ flow, to: other, message: last, marker: 'chat' });
    this.telling = this.tell(last);
  }

  /** Tells the server up to which message the reader has read the chat. */
  async tell(message) {
    this.untold = 0;
    try {
      await call('PUT', `/${room}/read`, { message, ...(flow && { marker: 'chat' }) });
    } catch {
      this.untold = Math.max(this.untold, message);
      return;
    }
    if (this.isUncounted) this.stale(TABS);
    this.isUncounted = false;
  }

  /** Tells the server what it could not be told. */
  tellAgain() {
    if (this.untold > 0) this.telling = this.tell(this.untold);
  }

  /** Tells the server that the reader has seen the newest message of a thread. */
  async markThread(feed) {
    if (!feed || !isSeen(feed)) return;
    const { thread, last } = feed;
    const told = this.threads.get(thread) ?? 0;
    if (last <= told) return;
    this.threads.set(thread, last);
    this.turn += 1;
    const { turn, changes } = this;
    try {
      const answer = await call('PUT', `/${room}/threads/${thread}/read`, { message: last });
      this.noted += 1;
      if (turn !== this.turn || (changes === this.changes && noteFlow(answer))) return;
      // Only the server knows what is unread, when it knows all that was read.
      await this.telling;
      this.stale(TABS);
    } catch (error) {
      // The reader's next look tells it, unless the server would refuse it again.
      if (!(error instanceof Refused) || error.isPassing) this.threads.set(thread, told);
    }
  }

  /** Marks all of the inbox as read. */
  async markInbox() {
    // More may come until the server has answered.
    const message = this.newest;
    const button = document.activeElement;
    try {
      await call('PUT', `/${room}/read`, { message, marker: 'inbox' });
    } catch (error) {
      notify(t('script.api.failed', { reason: error.message }));
      return;
    }
    this.noted += 1;
    const hasFocus = [button, document.body].includes(document.activeElement);
    this.heard({ flow, message, marker: 'inbox' });
    // The button is hidden now.
    if (hasFocus) find('#main [data-only=""]')?.focus();
  }

  /** Shows that the reader has read something, here or on another page. */
  heard(content) {
    const { flow: id, to, message, marker, thread_id: thread } = content;
    const isOfPage = id ? id === flow : to === other;
    if (isOfPage && thread && message <= (this.threads.get(thread) ?? 0)) return;
    if (isOfPage && marker !== 'chat') this.changes += 1;
    // What this page itself has marked stays unread in the list until the reader opens it.
    content.isNews ??= message > this.read;
    if (isOfPage) this.showRead(content);
    if (isOfPage && !thread && marker !== 'inbox') this.read = Math.max(this.read, message);
    if (!noteRead(content)) this.stale(TABS);
  }

  /** Shows in the list beside the chat what was read of this flow. */
  showRead({ message, marker, thread_id: thread, isNews }) {
    if (thread) markThreadsRead(message, thread);
    else if (marker !== 'chat' || isNews) this.showInList(message, marker);
  }

  /** Shows in the list beside the chat what was read of the chat, of the inbox, or of both. */
  showInList(message, marker) {
    const { list } = listOf().dataset;
    const isOfList = !marker || marker === { inbox: 'inbox', threads: 'chat' }[list];
    if (isOfList) markThreadsRead(message);
    // A thread of the inbox is unread by an answer in the chat, too.
    if (list === 'inbox' && (!isOfList || (marker && message > this.read))) this.stale(['inbox']);
  }
}
