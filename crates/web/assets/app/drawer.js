// On narrow screens the list of flows is a drawer. Without scripts its button leads to the page of
// all flows.

import { cover, uncover, uncoverPage } from './covers.js';
import { find } from './dom.js';

const side = find('#side');
const main = find('#main');
let opener = null;

function open(link) {
  opener = link;
  document.body.dataset.drawer = '';
  main.inert = true;
  cover(close);
  (find('.tab[aria-current]', side) ?? find('a', side)).focus();
}

function close() {
  if (!opener) return;
  delete document.body.dataset.drawer;
  main.inert = false;
  opener.focus();
  opener = null;
  uncover(close);
}

/** Leaves the page, without the drawer in its history. */
async function leave(link) {
  await uncoverPage();
  location.assign(link.href);
}

document.addEventListener('click', (event) => {
  const link = event.target.closest('[data-drawer-opener], #side a[href]');
  const isPlain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
  if (link?.dataset.drawerOpener !== undefined) {
    event.preventDefault();
    open(link);
  } else if (opener && link && isPlain) {
    event.preventDefault();
    void leave(link);
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
