// On narrow screens the list of flows is a drawer. Without scripts its button leads to the page of
// all flows.

import { find, findAll } from './dom.js';

const side = find('#side');
const main = find('#main');
let opener = null;

function open(link) {
  opener = link;
  document.body.dataset.drawer = '';
  main.inert = true;
  (find('.tab[aria-current]', side) ?? find('a', side)).focus();
}

function close() {
  if (!opener) return;
  delete document.body.dataset.drawer;
  main.inert = false;
  opener.focus();
  opener = null;
}

for (const link of findAll('[data-drawer-opener]')) {
  link.addEventListener('click', (event) => {
    event.preventDefault();
    open(link);
  });
}
document.addEventListener('click', (event) => {
  if (opener && !opener.contains(event.target) && !side.contains(event.target)) close();
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && opener && !find('dialog[open]')) {
    event.preventDefault();
    close();
  }
});
// A window that is wide again shows the list beside the page.
matchMedia('(max-width: 72rem)').addEventListener('change', close);
