// Notifications of the desktop, while a tab of the client is open. They are off until the reader asks
// for them, and this browser keeps what they want.

import { root } from './api.js';
import { find, findAll, kept } from './dom.js';
import { authorOf, isHit } from './row.js';

const SETTING = 'eddyline-notices';
const KINDS = ['message', 'comment', 'file'];
/** How long a page waits for another one to say that it is being looked at, in milliseconds. */
const WAIT = 150;
const MOST_LETTERS = 140;
const self = document.body.dataset;
const dialog = find('#notices');
const told = find('.told', dialog);
const channel = new BroadcastChannel('eddyline-notices');
let isLookedAt = false;

const isLooking = () => document.visibilityState === 'visible' && document.hasFocus();

channel.addEventListener('message', ({ data }) => {
  if (data === 'looking') isLookedAt = true;
  else if (isLooking()) channel.postMessage('looking');
});

/** What the reader wants to be told: `off`, `mentions` or `all`. */
const wanted = () => kept.get(SETTING) ?? 'off';

export function openNotices() {
  for (const choice of findAll('input', dialog)) choice.checked = choice.value === wanted();
  told.hidden = true;
  dialog.showModal();
}

dialog.addEventListener('change', async ({ target }) => {
  kept.set(SETTING, target.value === 'off' ? null : target.value);
  told.hidden = true;
  if (target.value === 'off') return;
  const answer = globalThis.Notification ? await Notification.requestPermission() : 'missing';
  if (answer === 'granted') return;
  told.textContent = {
    denied: 'This browser blocks notifications of this site. Allow them in its settings for the site.',
    missing: 'This browser has no notifications, or shows them only over https.',
  }[answer] ?? 'The browser has not been allowed to show notifications.';
  told.hidden = false;
});
dialog.addEventListener('click', (event) => {
  if (event.target === dialog || event.target.closest('button')) dialog.close();
});

/** Tells of a message of another user, unless a page of the client is being looked at. */
export async function notice(message) {
  if (message.user === self.me || !KINDS.includes(message.event) || !isWanted(message)) return;
  if (globalThis.Notification?.permission !== 'granted' || isLooking()) return;
  isLookedAt = false;
  channel.postMessage('looking?');
  await new Promise((resolve) => setTimeout(resolve, WAIT));
  if (isLookedAt) return;
  const place = placeOf(message);
  const text = typeof message.content === 'string' ? message.content : message.content.file_name;
  const shown = new Notification(`${authorOf(message).name}${place.name ? ` in ${place.name}` : ''}`, {
    body: [...(text ?? '')].slice(0, MOST_LETTERS).join(''),
    icon: `${root}/assets/icon.svg`,
    // Several tabs tell of the same message. The last one takes the place of the others.
    tag: `${message.flow ?? message.user}:${message.id}`,
  });
  shown.onclick = () => {
    shown.close();
    focus();
    if (place.path) location.assign(place.path);
  };
}

function isWanted(message) {
  return wanted() === 'all' || (wanted() === 'mentions' && (Boolean(message.to) || isHit(message)));
}

/** Where a message was written. */
function placeOf(message) {
  if (message.to) return { name: '', path: `${root}/app/-/private/${message.user}` };
  const tab = find(`.tab[data-flow="${CSS.escape(message.flow)}"]`);
  return { name: tab ? find('.t', tab).textContent : '', path: tab?.getAttribute('href') };
}

const title = document.title;

/** Shows in the title of the page how much waits for the reader. */
export function showWaiting() {
  const counts = findAll('.tab:is([data-flow], [data-private]) .count:not([hidden]) .num').map((place) => Number(place.textContent));
  const sum = counts.reduce((total, count) => total + count, 0);
  document.title = sum > 0 ? `(${sum}) ${title}` : title;
}
