// What the reader has sent and the server has not confirmed. It is kept over reloads, and sent
// again under the same id, by which the server stores it once.

import { call, Refused } from './api.js';
import { kept } from './dom.js';

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
    this.key = `eddyline-outbox:${document.body.dataset.me}:${room}`;
    this.pauses = new Map();
  }

  /** What waits, in the order in which it was sent. */
  entries() {
    return kept.get(this.key) ?? [];
  }

  /** Goes on with what an earlier page has not sent. */
  resume() {
    for (const entry of this.entries()) {
      this.view.show(entry);
      if (!entry.failed) this.attempt(entry.uuid);
    }
  }

  /** Sends a text, into a thread if one is named. */
  send(text, thread) {
    const entry = { uuid: newId(), text, thread, failed: null };
    kept.set(this.key, [...this.entries(), entry]);
    this.view.show(entry);
    this.attempt(entry.uuid);
  }

  /** The server has this message. */
  confirm(uuid) {
    const entries = this.entries();
    if (!entries.some((entry) => entry.uuid === uuid)) return;
    const left = entries.filter((entry) => entry.uuid !== uuid);
    kept.set(this.key, left.length > 0 ? left : null);
    this.pauses.delete(uuid);
  }

  drop(uuid) {
    this.confirm(uuid);
    this.view.dropped(uuid);
  }

  retry(uuid) {
    this.change(uuid, { failed: null });
    this.attempt(uuid);
  }

  change(uuid, changes) {
    const entries = this.entries().map((entry) =>
      entry.uuid === uuid ? { ...entry, ...changes } : entry,
    );
    kept.set(this.key, entries.length > 0 ? entries : null);
    const changed = entries.find((entry) => entry.uuid === uuid);
    if (changed) this.view.show(changed);
  }

  async attempt(uuid) {
    const entry = this.entries().find((each) => each.uuid === uuid);
    if (!entry) return;
    const place = entry.thread ? `threads/${encodeURIComponent(entry.thread)}/messages` : 'messages';
    const message = { event: 'message', content: entry.text, uuid };
    try {
      const stored = await call('POST', `/${this.room}/${place}`, message);
      this.confirm(uuid);
      this.view.sent(stored);
    } catch (error) {
      if (error instanceof Refused && !error.isPassing) {
        this.change(uuid, { failed: error.message });
        return;
      }
      const pause = this.pauses.get(uuid) ?? FIRST_PAUSE;
      this.pauses.set(uuid, Math.min(2 * pause, LAST_PAUSE));
      const asked = error instanceof Refused ? error.wait * 1000 : 0;
      setTimeout(() => this.attempt(uuid), Math.max(asked, pause) * (1 + Math.random() / 4));
    }
  }
}

/** 128 random bits. `crypto.randomUUID` is there only over https. */
function newId() {
  const bits = crypto.getRandomValues(new Uint8Array(16));
  return [...bits].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
