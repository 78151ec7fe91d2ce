// The menu of the organization closes like a menu: by Escape, and when the reader turns to something else.

import { find } from './dom.js';

const menu = find('.home-menu');

menu.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || !menu.open) return;
  event.preventDefault();
  event.stopPropagation();
  menu.open = false;
  find('summary', menu).focus();
});
for (const turned of ['pointerdown', 'focusin']) {
  document.addEventListener(turned, ({ target }) => {
    if (!menu.contains(target)) menu.open = false;
  });
}
