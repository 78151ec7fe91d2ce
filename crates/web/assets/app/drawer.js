// On narrow screens the list of flows is a drawer. Without scripts its button leads to the page of
// all flows.

import { find } from './dom.js';

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

document.addEventListener('click', (event) => {
  const link = event.target.closest('[data-drawer-opener]');
  if (link) {
    event.preventDefault();
    open(link);
  } else if (opener && !opener.contains(event.target) && !side.contains(event.target)) close();
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && opener && !find('dialog[open]')) {
    event.preventDefault();
    close();
  }
});
// A window that is wide again shows the list beside the page.
matchMedia('(max-width: 72rem)').addEventListener('change', close);
