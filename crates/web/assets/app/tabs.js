// Tabs of flows and private conversations: closing one, and keeping that of the page open.

import { call, root } from './api.js';
import { countMentions } from './counts.js';
import { find, findAll } from './dom.js';
import './tab-order.js';
import { t } from './texts.js';
import { notify } from './toast.js';

/** The path of the API for what a tab shows. */
function roomOf(tab) {
  return tab.dataset.flow ? `/flows/${tab.dataset.api}` : `/private/${tab.dataset.private}`;
}

/** Marks what a tab counts as read: mentions would bring the tab back. */
async function markRead(tab) {
  if (tab.dataset.mentions === '0') return;
  const room = roomOf(tab);
  const [last] = await call('GET', `${room}/messages?limit=1`);
  if (!last) return;
  const message = last.id;
  await call('PUT', `${room}/read`, { message, ...(tab.dataset.flow && { marker: 'chat' }) });
  if (!tab.dataset.flow) return;
  // The inbox stays unread, unless the mentions stand there.
  const { unread, unread_mentions: mentions } = await call('GET', room);
  if (unread === 0 && mentions > 0) await call('PUT', `${room}/read`, { message, marker: 'inbox' });
}

async function close(pressed) {
  const address = pressed.getAttribute('href');
  try {
    await markRead(pressed);
    await call('PUT', roomOf(pressed), { open: false });
  } catch (error) {
    notify(t('script.api.failed', { reason: error.message }));
    return;
  }
  // The list may have been made anew meanwhile.
  const tabs = findAll('.side .tab');
  const at = tabs.findIndex((tab) => tab.getAttribute('href') === address);
  if (pressed.hasAttribute('aria-current')) {
    const isRoom = (tab) => tab.matches('[data-flow], [data-private]');
    const beside = tabs.slice(at + 1).find(isRoom) ?? tabs.slice(0, at).findLast(isRoom);
    location.assign(beside?.href ?? `${root}/app`);
    return;
  }
  if (at < 0) return;
  const item = tabs[at].closest('li');
  const hadFocus = item.contains(document.activeElement);
  item.remove();
  countMentions();
  if (hadFocus) (tabs[at + 1] ?? tabs[at - 1]).focus();
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
