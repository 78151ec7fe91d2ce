// The menu of the organization. Escape closes it, and so do a click and the focus elsewhere.

import { find, kept, keptKeys } from './dom.js';

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

// The next user of the browser must not read the drafts. What waits to be sent stays: nothing is lost.
find('form[action$="/sign-out"]', menu).addEventListener('submit', () => {
  for (const key of keptKeys(`eddyline-draft:${document.body.dataset.me}:`)) kept.set(key, null);
});
