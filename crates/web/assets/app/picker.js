// Picks an emoji.

import { Choices } from './choices.js';
import { showDialog } from './covers.js';
import { emoji } from './emoji.js';
import { find, make } from './dom.js';
import { rank } from './rank.js';
import { t } from './texts.js';

/** The columns of the grid, for the arrow keys (`.picker` in the style). */
const COLUMNS = 9;
const MOST = 90;
const dialog = find('#picker');
const field = find('input', dialog);
const choices = new Choices(field, find('[role="listbox"]', dialog), (option) => take(option));
let chosen = () => {};

/** Asks for an emoji, and gives it to `then`. */
export function pickEmoji(then) {
  chosen = then;
  field.value = '';
  showDialog(dialog);
  list();
}

async function list() {
  const letters = field.value.trim();
  const all = await emoji();
  if (letters !== field.value.trim()) return;
  const found = letters ? rank(letters, all, ({ names }) => names).slice(0, MOST) : all;
  const options = found.map(({ text, names }) => {
    const option = make('div', { textContent: text, title: names[0] });
    option.setAttribute('role', 'option');
    option.setAttribute('aria-label', names[0]);
    return option;
  });
  const nothing = make('p', { className: 'group', textContent: all.length > 0 ? t('script.picker.none') : t('script.picker.not_loaded') });
  choices.show(options.length > 0 ? options : [nothing]);
}

function take(option) {
  dialog.close();
  if (option) chosen(option.textContent);
}

field.addEventListener('input', list);
field.addEventListener('keydown', (event) => {
  if (event.isComposing || event.keyCode === 229) return;
  const steps = { ArrowDown: COLUMNS, ArrowUp: -COLUMNS, ArrowRight: 1, ArrowLeft: -1 };
  const isInText = field.value !== '' && event.key.match(/Left|Right/);
  if (event.key in steps && !isInText) choices.move(steps[event.key]);
  else if (event.key === 'Enter') take(choices.marked);
  else return;
  event.preventDefault();
});
dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
