// What the reader has sent and the server has not confirmed. It is kept over reloads, and sent
// again under the same id, by which the server stores it once. One message is sent at a time, so
// that they are stored in the order in which they were written.

import { call, Refused } from './api.js';
import { kept, keptKeys, newId } from './dom.js';

const FIRST_PAUSE = 1000;
const LAST_PAUSE = 30000;

export class Outbox {
  /**
   * @param {string} room the path of the room in the API
   * @param {{show: Function, sent: Function, dropped: Function}} view
   */
  constructor(room, view) {
    this.room = room;
    this.view = view;
    this.prefix = `eddyline-outbox:${document.body.dataset.me}:${room}:`;
    /** What waits, in the order in which it was written. Storage has a copy, where it is allowed. */
    this.entries = new Map();
    this.pause = FIRST_PAUSE;
    this.isRunning = false;
    this.wake = () => {};
    const earlier = keptKeys(this.prefix).map((key) => kept.get(key));
    for (const entry of earlier.filter(Boolean).sort((one, other) => one.at - other.at)) {
      this.entries.set(entry.uuid, entry);
    }
    addEventListener('storage', (event) => this.changedElsewhere(event));
  }

  /** The rooms in which something of the reader's waits. @returns {Set<string>} */
  static rooms() {
    const prefix = `eddyline-outbox:${document.body.dataset.me}:`;
    return new Set(keptKeys(prefix).map((key) => key.slice(prefix.length, key.lastIndexOf(':'))));
  }

  /** Shows what an earlier page has not sent, and goes on with it. */
  resume() {
    for (const entry of this.entries.values()) this.view.show(entry);
    this.run();
  }

  /** Sends a text, into a thread if one is named. */
  send(text, thread) {
    this.save({ uuid: newId(), text, thread, at: Date.now(), failed: null });
    this.run();
  }

  /** The server has this message. */
  confirm(uuid) {
    this.entries.delete(uuid);
    kept.set(this.prefix + uuid, null);
  }

  drop(uuid) {
    this.confirm(uuid);
    this.view.dropped(uuid);
  }

  retry(uuid) {
    const entry = this.entries.get(uuid);
    if (!entry) return;
    this.save({ ...entry, failed: null });
    this.run();
  }

  save(entry) {
    this.entries.set(entry.uuid, entry);
    kept.set(this.prefix + entry.uuid, entry);
    this.view.show(entry);
  }

  /** Another tab has sent, dropped or failed to send something that waits here as well. */
  changedElsewhere({ key, newValue }) {
    const uuid = key?.startsWith(this.prefix) ? key.slice(this.prefix.length) : null;
    if (!uuid || !this.entries.has(uuid)) return;
    if (newValue === null) {
      this.entries.delete(uuid);
      this.view.dropped(uuid);
      return;
    }
    const entry = JSON.parse(newValue);
    this.entries.set(uuid, entry);
    this.view.show(entry);
  }

  async run() {
    if (this.isRunning) return;
    this.isRunning = true;
    for (;;) {
      const entry = [...this.entries.values()].find(({ failed }) => !failed);
      if (!entry) break;
      const pause = await this.attempt(entry);
      if (pause > 0) {
        await new Promise((resolve) => {
          this.wake = resolve;
          setTimeout(resolve, pause);
        });
      }
    }
    this.isRunning = false;
  }

  /** Sends an entry once. @returns {Promise<number>} how long to wait before anything is sent */
  async attempt({ uuid, text, thread }) {
    const place = thread ? `threads/${encodeURIComponent(thread)}/messages` : 'messages';
    let stored;
    try {
      stored = await call('POST', `/${this.room}/${place}`, { event: 'message', content: text, uuid });
    } catch (error) {
      const refused = error instanceof Refused ? error : null;
      if (refused && !refused.isPassing) {
        const entry = this.entries.get(uuid);
        if (entry) this.save({ ...entry, failed: refused.message });
        return 0;
      }
      const pause = Math.max((refused?.wait ?? 0) * 1000, this.pause);
      this.pause = Math.min(2 * this.pause, LAST_PAUSE);
      return pause * (1 + Math.random() / 4);
    }
    this.pause = FIRST_PAUSE;
    this.confirm(uuid);
    this.view.sent(stored);
    return 0;
  }
}

/** Sends what waits in other rooms than this one. The rooms show it themselves. */
export function sendWaiting(here = '') {
  const quiet = { show() {}, sent() {}, dropped() {} };
  for (const room of Outbox.rooms()) if (room !== here) void new Outbox(room, quiet).run();
}
