// Files beside a text: those that wait to be sent, and those under way. Each is a message of its
// own, sent in the order in which they were added. They go with the page: a browser does not keep
// them over a reload.

import { Refused, upload } from './api.js';
import { find, icon, make, newId } from './dom.js';
import { bytes } from './row.js';
import { t } from './texts.js';

const MAX_BYTES = Number(document.body.dataset.maxFile);

export class Tray {
  /**
   * @param {HTMLFormElement} form the form of a composer
   * @param {string} room the path of the room in the API
   * @param {{sent: Function, notify: Function}} handlers
   */
  constructor(form, room, handlers) {
    this.form = form;
    this.room = room;
    this.handlers = handlers;
    this.list = find('.tray', form);
    this.input = find('input[type="file"]', form);
    /** @type {{file: File, uuid: string, thread: string | null, state: string, row: HTMLElement, cancel: Function}[]} */
    this.entries = [];
    this.isRunning = false;
    find('[data-do="attach"]', form).addEventListener('click', () => this.input.click());
    this.input.addEventListener('change', () => {
      this.add(this.input.files);
      this.input.value = '';
    });
    this.takeDrops(form.closest('section'));
  }

  get isEmpty() {
    return this.entries.length === 0;
  }

  /** Files that are dragged onto the pane are added. */
  takeDrops(pane) {
    const hasFiles = (event) => event.dataTransfer?.types.includes('Files');
    pane.addEventListener('dragover', (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      pane.classList.add('drop');
    });
    pane.addEventListener('dragleave', (event) => {
      if (!pane.contains(event.relatedTarget)) pane.classList.remove('drop');
    });
    pane.addEventListener('drop', (event) => {
      pane.classList.remove('drop');
      if (!hasFiles(event)) return;
      event.preventDefault();
      this.add(event.dataTransfer.files);
    });
  }

  /** Adds the files of a clipboard. @returns {boolean} whether there were any */
  paste(event) {
    const { files } = event.clipboardData;
    if (files.length === 0) return false;
    this.add(files);
    return true;
  }

  add(files) {
    for (const file of files) {
      if (file.size > MAX_BYTES) {
        this.handlers.notify(t('script.tray.too_large', { name: file.name, most: bytes(MAX_BYTES) }));
        continue;
      }
      const entry = { file, uuid: newId(), thread: null, state: 'waits', row: null, cancel: () => {} };
      entry.row = this.rowOf(entry);
      this.entries.push(entry);
      this.list.append(entry.row);
    }
    this.list.hidden = this.isEmpty;
    find('textarea', this.form).focus();
  }

  rowOf(entry) {
    const { name, size } = entry.file;
    const drop = make('button', { type: 'button', className: 'bare', onclick: () => this.drop(entry) }, icon('x', true));
    drop.setAttribute('aria-label', t('script.tray.remove', { name }));
    const progress = make('progress', { max: 1, value: 0, hidden: true });
    progress.setAttribute('aria-label', name);
    const state = make('small', { textContent: bytes(size) });
    return make('li', { className: 'going' }, make('span', { textContent: name }), state, drop, progress);
  }

  drop(entry) {
    entry.cancel();
    this.forget(entry);
    find('textarea', this.form).focus();
  }

  forget(entry) {
    this.entries = this.entries.filter((other) => other !== entry);
    entry.row.remove();
    this.list.hidden = this.isEmpty;
  }

  /** Sends what waits, into a thread if one is named. */
  send(thread) {
    for (const entry of this.entries) {
      if (entry.state !== 'waits') continue;
      Object.assign(entry, { state: 'ready', thread });
    }
    this.run();
  }

  /** Tries again what the network did not take. */
  resume() {
    for (const entry of this.entries) if (entry.state === 'broken') entry.state = 'ready';
    this.run();
  }

  async run() {
    if (this.isRunning) return;
    this.isRunning = true;
    for (;;) {
      const entry = this.entries.find(({ state }) => state === 'ready');
      if (!entry) break;
      await this.attempt(entry);
    }
    this.isRunning = false;
  }

  async attempt(entry) {
    const { file, uuid, thread, row } = entry;
    const [state, progress] = [find('small', row), find('progress', row)];
    const place = thread ? `threads/${encodeURIComponent(thread)}/messages` : 'messages';
    const form = new FormData();
    form.append('event', 'file');
    form.append('uuid', uuid);
    form.append('content', file);
    entry.state = 'goes';
    progress.hidden = false;
    find('.again', row)?.remove();
    try {
      const going = upload(`/${this.room}/${place}`, form, (share) => {
        progress.value = share;
        state.textContent = `${bytes(file.size)}, ${Math.floor(share * 100)} %`;
      });
      entry.cancel = going.cancel;
      const message = await going.done;
      this.forget(entry);
      this.handlers.sent(message);
    } catch (error) {
      const mayPass = !(error instanceof Refused) || error.isPassing;
      entry.state = mayPass ? 'broken' : 'refused';
      entry.cancel = () => {};
      progress.hidden = true;
      state.textContent = t('script.feed.not_sent', { reason: error.message });
      const again = () => {
        entry.state = 'ready';
        this.run();
      };
      state.after(make('button', { type: 'button', className: 'again', textContent: t('script.feed.send_again'), onclick: again }));
    }
  }
}
