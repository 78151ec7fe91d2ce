// What stands around every page of the client: the list of flows, the switcher, the keys.

import { root } from './api.js';
import { showWaiting } from './counts.js';
import './drawer.js';
import { find, findAll } from './dom.js';
import './home-menu.js';
import { bindKeys, showKeys } from './keys.js';
import { openNotices } from './notices.js';
import { addCommands, openSwitcher } from './switcher.js';
import './tabs.js';
import { t } from './texts.js';
import { noteZone } from './times.js';

/** Opens a page. */
export const open = (path) => () => location.assign(root + path);

/** Opens the next flow or conversation in one direction. Behind the last comes the first. */
function goToTab(step, isWanted = () => true) {
  const tabs = findAll('.tab[data-flow], .tab[data-private]');
  const current = tabs.findIndex((tab) => tab.hasAttribute('aria-current'));
  const after = current < 0 ? tabs : [...tabs.slice(current + 1), ...tabs.slice(0, current)];
  (step > 0 ? after : after.reverse()).find(isWanted)?.click();
}

const isUnread = (tab) => tab.classList.contains('unread');

addCommands({
  [t('both.keys')]: showKeys,
  [t('both.notifications')]: openNotices,
  [t('both.mentions')]: open('/app/-/mentions'),
  [t('script.switcher.search_everywhere')]: open('/app/-/search'),
  [t('both.your_flows')]: open('/app'),
  [t('both.account')]: open('/account'),
});
bindKeys({
  'Ctrl+k': openSwitcher,
  'Ctrl+K': openSwitcher,
  '?': showKeys,
  'Alt+ArrowDown': () => goToTab(1),
  'Alt+ArrowUp': () => goToTab(-1),
  'Alt+Shift+ArrowDown': () => goToTab(1, isUnread),
  'Alt+Shift+ArrowUp': () => goToTab(-1, isUnread),
});
// Those who point at an icon, or at a name that is cut, are told it.
document.addEventListener('pointerover', ({ target }) => {
  const named = target.closest?.('.bare[aria-label]:not([title])');
  if (named) named.title = named.getAttribute('aria-label');
  const name = target.closest?.('.side :is(.t, b)');
  if (name) name.title = name.scrollWidth > name.clientWidth ? name.textContent : '';
});
find('[data-do="jump"]').addEventListener('click', openSwitcher);
find('[data-do="notices"]').addEventListener('click', openNotices);
noteZone();
showWaiting();
// The page of a room says so when it is ready itself.
if (!find('#chat')) document.documentElement.dataset.ready = '';
