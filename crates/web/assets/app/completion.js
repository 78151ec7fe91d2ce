// Completes what begins with @, # or : where the reader writes.

import { Choices } from './choices.js';
import { endsInCode } from './code.js';
import { emoji } from './emoji.js';
import { find, findAll, make } from './dom.js';
import { inMarks, rank } from './rank.js';
import { t } from './texts.js';

/** What may be completed: a sign at the beginning of a word, and what follows up to the caret. */
const BEGUN = /(?:^|[\s(])([@#:])([\p{L}\p{N}_+.-]*)$/u;
/** The name of an emoji in full, with a colon on both sides, at the beginning of a word. */
const NAMED = /(?:^|[\s(]):([a-z0-9_+-]+):$/i;
/** What a key does to a text. Undoing it must not do it again, and what is pasted stays. */
const TYPED = ['insertText', 'insertCompositionText'];
const MOST = 8;
/** The fewest letters after the sign. A colon alone is a colon, and `# ` is text. */
const FEWEST = { '@': 0, '#': 1, ':': 2 };

export class Completion {
  /** @param {HTMLTextAreaElement} field @param {HTMLElement} list */
  constructor(field, list) {
    this.field = field;
    this.list = list;
    this.choices = new Choices(field, list, (option) => this.take(option));
    /** How often the list was asked for: a late answer is of no use. */
    this.asked = 0;
    field.addEventListener('input', (event) => {
      this.update();
      if (TYPED.includes(event.inputType) && !event.isComposing) void this.spell();
      // Browsers select the name that undoing brings back. The next letter would replace it.
      if (event.inputType === 'historyUndo') field.setSelectionRange(field.selectionEnd, field.selectionEnd);
    });
    field.addEventListener('blur', () => this.close());
    field.addEventListener('click', () => this.close());
  }

  get isOpen() {
    return !this.list.hidden;
  }

  close() {
    this.asked += 1;
    this.list.hidden = true;
    this.list.replaceChildren();
    this.field.removeAttribute('aria-activedescendant');
  }

  /** What stands before the caret and may be completed. */
  begun() {
    const { selectionStart: caret, selectionEnd, value } = this.field;
    if (caret !== selectionEnd) return null;
    const found = BEGUN.exec(value.slice(0, caret));
    if (!found) return null;
    const [, sign, word] = found;
    return word.length < FEWEST[sign] ? null : { sign, word, from: caret - word.length - 1, to: caret };
  }

  async update() {
    const begun = this.begun();
    this.asked += 1;
    const asked = this.asked;
    const options = begun ? await optionsFor(begun) : [];
    if (asked !== this.asked) return;
    if (options.length === 0) {
      this.close();
      return;
    }
    this.choices.show(options);
    this.list.hidden = false;
  }

  /** Whether the marked choice is what stands there already. */
  get isComplete() {
    const { sign, word } = this.begun() ?? {};
    return this.choices.marked?.dataset.value.toLowerCase() === `${sign}${word}`.toLowerCase();
  }

  /** @returns {boolean} whether the key was for the list */
  pressed(event) {
    if (!this.isOpen) return false;
    if (event.key === 'Enter' && this.isComplete) {
      this.close();
      return false;
    }
    if (event.key === 'ArrowDown') this.choices.move(1);
    else if (event.key === 'ArrowUp') this.choices.move(-1);
    else if ((event.key === 'Enter' && !event.shiftKey) || event.key === 'Tab') this.take(this.choices.marked);
    else if (event.key === 'Escape') this.close();
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  /** Puts a choice in the place of what was begun. */
  take(option) {
    const begun = this.begun();
    this.close();
    if (!begun || !option) return;
    this.put(`${option.dataset.value} `, begun.from, begun.to);
  }

  /** Puts an emoji in the place of its name that has just been typed, with a colon on both sides. */
  async spell() {
    const { selectionStart: caret, value } = this.field;
    const before = value.slice(0, caret);
    const name = NAMED.exec(before)?.[1].toLowerCase();
    if (!name || endsInCode(before)) return;
    const found = (await emoji()).find(({ names }) => names.includes(name));
    if (found && this.field.value === value && this.field.selectionStart === caret) {
      this.put(found.text, caret - name.length - 2, caret);
    }
  }

  /** Puts a text in the place of a part, so that the browser can undo it where it knows how. */
  put(text, from, to) {
    const { field } = this;
    field.setSelectionRange(from, to);
    if (document.activeElement === field && document.execCommand('insertText', false, text)) return;
    field.setRangeText(text, from, to, 'end');
    // The draft is kept by this event.
    field.dispatchEvent(new Event('input', { bubbles: true }));
  }

  /** Writes a sign at the caret, and offers what may follow it. */
  begin(sign) {
    const { field } = this;
    const before = field.value.slice(0, field.selectionStart);
    const text = /(^|\s)$/.test(before) ? sign : ` ${sign}`;
    field.focus();
    field.setRangeText(text, field.selectionStart, field.selectionEnd, 'end');
    field.dispatchEvent(new Event('input', { bubbles: true }));
  }
}

async function optionsFor({ sign, word }) {
  if (sign === '@') return people(word);
  if (sign === '#') return tags(word);
  return emojis(word);
}

function option(value, word, text, { before, after } = {}) {
  const made = make('div', {}, ...(before ? [before] : []), make('span', {}, ...inMarks(text, word)));
  if (after) made.append(make('span', { className: 'sub end', textContent: after }));
  made.setAttribute('role', 'option');
  made.dataset.value = value;
  return made;
}

function people(word) {
  const all = findAll('#people li[data-nick]:not([data-blocked])').map(({ dataset }) => dataset);
  // The reader comes last: few people mention themselves.
  const { nick: own } = document.body.dataset;
  const known = [...all.filter(({ nick }) => nick !== own), ...all.filter(({ nick }) => nick === own)];
  const everyone = find('#main').dataset.flow ? [{ name: t('script.composer.everyone'), nick: 'everyone' }] : [];
  const found = rank(word, [...known, ...everyone], ({ nick, name }) => [nick, name]).slice(0, MOST);
  return found.map(({ nick, name, avatar }) => {
    const face = make('span', { className: 'face s' });
    if (avatar) face.append(make('img', { src: avatar, alt: '', width: 36, height: 36 }));
    return option(`@${nick}`, word, name, { before: face, after: `@${nick}` });
  });
}

/** The tags that stand on the page, the frequent ones first. */
function tags(word) {
  const counts = new Map();
  for (const row of findAll('article[data-tags]')) {
    for (const tag of JSON.parse(row.dataset.tags)) {
      if (!tag.startsWith(':')) counts.set(tag, (counts.get(tag) ?? 0) + 1);
    }
  }
  const known = [...counts].sort(([, one], [, other]) => other - one).map(([tag]) => tag);
  const found = rank(word, known, (tag) => [tag]).filter((tag) => tag !== word.toLowerCase());
  return found.slice(0, MOST).map((tag) => option(`#${tag}`, word, tag));
}

async function emojis(word) {
  const found = rank(word, await emoji(), ({ names }) => names).slice(0, MOST);
  return found.map(({ text, names }) => {
    const [name] = rank(word, names, (each) => [each]);
    return option(text, word, name, { before: make('span', { className: 'tile', textContent: text }) });
  });
}
