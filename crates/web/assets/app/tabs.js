// Tabs of flows and private conversations: closing one, and keeping that of the page open.

import { call, root } from './api.js';
import { find, findAll } from './dom.js';
import { notify } from './toast.js';

/** The path of the API for what a tab shows. */
function roomOf(tab) {
  return tab.dataset.flow ? `/flows/${tab.dataset.api}` : `/private/${tab.dataset.private}`;
}

async function close(pressed) {
  const address = pressed.getAttribute('href');
  try {
    await call('PUT', roomOf(pressed), { open: false });
  } catch (error) {
    notify(error.message);
    return;
  }
  if (pressed.hasAttribute('aria-current')) {
    location.assign(`${root}/app`);
    return;
  }
  // The list may have been made anew meanwhile.
  const tabs = findAll('.side .tab');
  const at = tabs.findIndex((tab) => tab.getAttribute('href') === address);
  if (at < 0) return;
  tabs[at].closest('li').remove();
  (tabs[at + 1] ?? tabs[at - 1]).focus();
}

find('.side').addEventListener('click', (event) => {
  const button = event.target.closest('[data-do="close"]');
  if (button) void close(find('.tab', button.closest('li')));
});

// A page that is visited stays in the list, as if its tab had been opened.
const closed = find('.tab[data-closed]');
if (closed) {
  // If the server cannot be reached, the next visit opens the tab.
  call('PUT', roomOf(closed), { open: true }).then(() => delete closed.dataset.closed, () => {});
}
