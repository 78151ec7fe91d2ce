// Escape closes the menu of the organization, and so do a click and the focus elsewhere.

import { find } from './dom.js';

const menu = find('.home-menu');

menu.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || !menu.open) return;
  event.preventDefault();
  event.stopPropagation();
  menu.open = false;
  find('summary', menu).focus();
});
for (const type of ['pointerdown', 'focusin']) {
  document.addEventListener(type, ({ target }) => {
    if (!menu.contains(target)) menu.open = false;
  });
}
