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

/** Opens the flow or conversation beside the current one. */
function goToTab(step, isWanted = () => true) {
  const tabs = findAll('.tab[data-flow], .tab[data-private]');
  const current = tabs.findIndex((tab) => tab.hasAttribute('aria-current'));
  for (let at = current + step; at >= 0 && at < tabs.length; at += step) {
    if (!isWanted(tabs[at])) continue;
    tabs[at].click();
    return;
  }
}

const isUnread = (tab) => tab.classList.contains('unread');

addCommands({
  [t('both.keys')]: showKeys,
  [t('both.notifications')]: openNotices,
  [t('both.mentions')]: open('/app/-/mentions'),
  [t('script.switcher.search_everywhere')]: open('/app/-/search'),
  [t('both.all_flows')]: open('/app'),
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
// Those who point at an icon are told its name.
document.addEventListener('pointerover', ({ target }) => {
  const named = target.closest?.('.bare[aria-label]:not([title])');
  if (named) named.title = named.getAttribute('aria-label');
});
find('[data-do="jump"]').addEventListener('click', openSwitcher);
find('[data-do="notices"]').addEventListener('click', openNotices);
noteZone();
showWaiting();
// The page of a room says so when it is ready itself.
if (!find('#chat')) document.documentElement.dataset.ready = '';
