// The keys of the page. Single letters work outside of fields, and can be switched off: some people
// steer by voice, and what they say would press them.

import { showDialog } from './covers.js';
import { find, kept } from './dom.js';

const SETTING = 'eddyline-letters';
const dialog = find('#keys');
const letters = find('input', dialog);
letters.checked = kept.get(SETTING) !== false;
letters.addEventListener('change', () => kept.set(SETTING, letters.checked ? null : false));
dialog.addEventListener('click', (event) => {
  if (event.target === dialog || event.target.closest('button')) dialog.close();
});

export function showKeys() {
  showDialog(dialog);
}

/** The name of a key with those held down, as `Alt+Shift+ArrowDown`; Ctrl stands for Cmd, too. */
function nameOf(event) {
  const held = [event.ctrlKey || event.metaKey ? 'Ctrl' : '', event.altKey ? 'Alt' : ''];
  // Some letters need Shift on some keyboards, as `?` does.
  if (event.shiftKey && event.key.length > 1) held.push('Shift');
  const key = event.key.length === 1 && event.ctrlKey ? event.key.toUpperCase() : event.key;
  return [...held.filter(Boolean), key].join('+');
}

const isField = (element) => element.matches('input, textarea, select, [contenteditable]');

/**
 * Has keys do something.
 * @param {Record<string, (event: KeyboardEvent) => void | false>} keys by their names; one that gives
 *   `false` leaves the key to the browser
 */
export function bindKeys(keys) {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing || find('dialog[open]')) return;
    const name = nameOf(event);
    const run = keys[name];
    if (!run) return;
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !/^F\d/.test(name);
    if (isPlain && (isField(event.target) || (name.length === 1 && !letters.checked))) return;
    if (run(event) !== false) event.preventDefault();
  });
}
