// A list of choices below or above a field, of which the arrow keys and the pointer mark one. The
// focus stays in the field, which names the marked choice to screen readers.

import { find, findAll } from './dom.js';

export class Choices {
  /**
   * @param {HTMLElement} field where the reader types
   * @param {HTMLElement} list the element with the role `listbox`
   * @param {(option: HTMLElement) => void} chosen
   */
  constructor(field, list, chosen) {
    this.field = field;
    this.list = list;
    list.addEventListener('pointermove', (event) => this.mark(event.target.closest('[role="option"]')));
    // The field keeps the focus.
    list.addEventListener('mousedown', (event) => event.preventDefault());
    list.addEventListener('click', (event) => {
      const option = event.target.closest('[role="option"]');
      if (option) chosen(option);
    });
  }

  get options() {
    return findAll('[role="option"]', this.list);
  }

  get marked() {
    return find('[aria-selected="true"]', this.list);
  }

  /** Shows these elements, the first option of them marked. */
  show(elements) {
    this.list.replaceChildren(...elements);
    this.options.forEach((option, index) => (option.id = `${this.list.id}-${index}`));
    this.mark(this.options[0]);
  }

  mark(option) {
    if (!option && this.options.length > 0) return;
    for (const other of this.options) other.setAttribute('aria-selected', String(other === option));
    if (option) {
      this.field.setAttribute('aria-activedescendant', option.id);
      option.scrollIntoView({ block: 'nearest' });
    } else this.field.removeAttribute('aria-activedescendant');
  }

  /** Marks the next choice, or the one before, and from an end the other. */
  move(step) {
    const { options } = this;
    if (options.length === 0) return;
    const at = options.indexOf(this.marked);
    this.mark(options[(at + step + options.length) % options.length]);
  }
}
