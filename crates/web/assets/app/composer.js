// Where the reader writes. A text that is not sent yet is kept by flow and thread.

import { Completion } from './completion.js';
import { find, kept } from './dom.js';
import { pickEmoji } from './picker.js';
import { t } from './texts.js';
import { Tray } from './tray.js';

/** The longest text of a message, in characters. The server refuses longer ones. */
const MOST_LETTERS = 8096;

export class Composer {
  /**
   * @param {HTMLFormElement} form
   * @param {string} room the path of the room in the API
   * @param {{send: Function, sent: Function, edit: Function, editLast: Function, notify: Function}} handlers
   */
  constructor(form, room, handlers) {
    this.form = form;
    this.handlers = handlers;
    this.text = find('textarea', form);
    this.to = find('.to', form);
    this.completion = new Completion(this.text, find('.complete', form));
    /** Private conversations take no files. */
    this.tray = find('.tray', form) && new Tray(form, room, handlers);
    this.own = form.dataset.thread ?? null;
    this.thread = this.own;
    this.editing = null;
    this.place = `eddyline-draft:${document.body.dataset.me}:${room}`;
    this.placeholder = this.text.placeholder;
    this.text.value = kept.get(this.key) ?? '';
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.submit();
    });
    this.text.addEventListener('keydown', (event) => this.pressed(event));
    this.text.addEventListener('input', () => this.keep());
    this.text.addEventListener('paste', (event) => {
      if (this.tray?.paste(event)) event.preventDefault();
    });
    find('[data-do="emoji"]', form).addEventListener('click', () => pickEmoji((text) => this.insert(text)));
    find('[data-do="mention"]', form).addEventListener('click', () => this.completion.begin('@'));
    if (this.to) find('button', this.to).addEventListener('click', () => this.leave());
  }

  /** Writes a text at the caret. */
  insert(text) {
    const { selectionStart, selectionEnd } = this.text;
    this.text.setRangeText(text, selectionStart, selectionEnd, 'end');
    this.text.focus();
    this.keep();
  }

  get key() {
    return `${this.place}:${this.thread ?? ''}`;
  }

  keep() {
    if (this.editing === null) kept.set(this.key, this.text.value || null);
  }

  pressed(event) {
    // The key that ends a composition of an input method belongs to it; Safari says so by 229 only.
    if (event.isComposing || event.keyCode === 229 || this.completion.pressed(event)) return;
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      this.submit();
    } else if (event.key === 'Escape' && (this.editing !== null || (this.thread && !this.own))) {
      event.preventDefault();
      event.stopPropagation();
      this.leave();
    } else if (event.key === 'Escape') {
      // Letters are keys of the page then.
      this.text.blur();
    } else if (event.key === 'ArrowUp' && !event.altKey && this.text.value === '') {
      event.preventDefault();
      this.handlers.editLast(this);
    }
  }

  submit() {
    const text = this.text.value.trimEnd();
    const hasText = text.trim() !== '';
    if (this.editing !== null) {
      if (hasText) this.saveEdit(text);
      return;
    }
    const letters = [...text].length;
    if (letters > MOST_LETTERS) {
      // The text stays in the field, so that the reader can shorten it.
      this.handlers.notify(t('script.composer.too_long', { most: MOST_LETTERS, n: letters }));
      return;
    }
    if (hasText) this.handlers.send(text, this.thread);
    this.tray?.send(this.thread);
    this.text.value = '';
    this.keep();
  }

  /** Changes the message. A refused text stays, to be sent again. */
  async saveEdit(text) {
    const id = this.editing;
    if (!(await this.handlers.edit(id, text)) || this.editing !== id) return;
    // The reader may be elsewhere by now.
    if (this.form.contains(document.activeElement)) this.leave();
    else this.writeAnew();
  }

  /** Writes into a thread from now on. */
  replyTo(thread, { hue, shape, title }) {
    this.keep();
    this.editing = null;
    this.thread = thread;
    this.text.value = kept.get(this.key) ?? '';
    this.showTo({ hue, shape, text: t('script.composer.in_thread', { title }), hint: t('script.composer.escape') });
    this.text.placeholder = t('script.composer.reply');
    this.text.focus();
  }

  /** Changes a message of the reader's. */
  edit(id, text) {
    this.keep();
    this.editing = id;
    this.text.value = text;
    this.showTo({ text: t('script.composer.edit'), hint: t('script.composer.escape_edit') });
    this.text.focus();
    this.text.setSelectionRange(text.length, text.length);
  }

  showTo({ hue, shape, text, hint }) {
    if (!this.to) return;
    this.to.hidden = false;
    const mark = find('.shape', this.to);
    mark.hidden = hue === undefined;
    this.to.dataset.hue = hue ?? '';
    mark.dataset.shape = shape ?? '';
    find('.t', this.to).textContent = text;
    find('small', this.to).textContent = hint;
  }

  /** Leaves the thread or the edit. */
  leave() {
    this.writeAnew();
    this.text.focus();
  }

  writeAnew() {
    this.keep();
    this.editing = null;
    this.thread = this.own;
    if (this.to) this.to.hidden = true;
    this.text.placeholder = this.placeholder;
    this.text.value = kept.get(this.key) ?? '';
  }
}
