// Notifications of this browser. They are off until the reader turns them on. A service worker shows
// them also when no page is open, where the browser has a push service; else an open page does.

import { call, root } from './api.js';
import { tabOf } from './counts.js';
import { showDialog } from './covers.js';
import { find, kept, textOf } from './dom.js';
import { known } from './people.js';
import { authorOf, isHit } from './row.js';
import { t } from './texts.js';
import { registered } from './worker-address.js';

/** Holds the number of the user who turned notifications on here. */
const SETTING = 'eddyline-notices';
const KINDS = ['message', 'comment', 'file'];
/** How long a page waits for another one to say that it is being looked at, in milliseconds. */
const WAIT = 150;
const MOST_LETTERS = 140;
const self = document.body.dataset;
const dialog = find('#notices');
const told = find('.told', dialog);
const button = find('.btn', dialog);
const channel = new BroadcastChannel('eddyline-notices');
let isLookedAt = false;
/** Whether the server sends push messages to this browser. */
let isPushed = false;
/** The number of the last message of each room that was heard. @type {Map<string, number>} */
const lastHeard = new Map();

const isLooking = () => document.visibilityState === 'visible' && document.hasFocus();
const isOn = () => kept.get(SETTING) === self.me && globalThis.Notification?.permission === 'granted';

channel.addEventListener('message', ({ data }) => {
  if (data === 'looking') isLookedAt = true;
  else if (isLooking()) channel.postMessage('looking');
});

export function openNotices() {
  tell();
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  find('.more a', dialog).search = new URLSearchParams({ zone: timeZone ?? '' });
  showDialog(dialog);
}

/** Says how things are. */
function tell(problem) {
  button.textContent = isOn() ? t('script.notice.turn_off') : t('both.turn_on');
  const how = isPushed ? t('script.notice.pushed') : t('script.notice.open');
  told.textContent = problem ?? (isOn() ? how : t('script.notice.off'));
  told.classList.toggle('bad', Boolean(problem));
}

button.addEventListener('click', async () => {
  button.disabled = true;
  try {
    tell(await (isOn() ? turnOff() : turnOn()));
  } finally {
    button.disabled = false;
  }
});
dialog.addEventListener('click', (event) => {
  if (event.target === dialog || event.target.closest('button.bare')) dialog.close();
});

/** @returns {Promise<string | undefined>} why it does not work */
async function turnOn() {
  const answer = globalThis.Notification ? await Notification.requestPermission() : 'missing';
  if (answer !== 'granted') {
    return (
      {
        denied: t('script.notice.denied'),
        missing: t('script.notice.missing'),
      }[answer] ?? t('script.notice.not_allowed')
    );
  }
  kept.set(SETTING, self.me);
  await subscribe();
}

async function turnOff() {
  kept.set(SETTING, null);
  isPushed = false;
  const subscription = await (await registered)?.pushManager?.getSubscription();
  try {
    await subscription?.unsubscribe();
    await post({ do: 'unsubscribe' });
  } catch {
    // The server is away. What it pushes to a subscription that has ended is refused, and it forgets it.
  }
}

/** Has the server send push messages to this browser, if it has a push service. */
async function subscribe() {
  const manager = (await registered)?.pushManager;
  if (!manager) return;
  try {
    let subscription = await manager.getSubscription();
    if (subscription && keyOf(subscription) !== self.pushKey) {
      await subscription.unsubscribe();
      subscription = null;
    }
    if (subscription && self.pushed) {
      isPushed = true;
      return;
    }
    subscription ??= await manager.subscribe({ userVisibleOnly: true, applicationServerKey: self.pushKey });
    const { endpoint, keys } = subscription.toJSON();
    const answer = await post({ do: 'subscribe', endpoint, p256dh: keys.p256dh, auth: keys.auth });
    isPushed = answer.ok;
  } catch {
    // The push service is not there. A page that is open shows notifications then.
  }
}

/** The key of the server that a subscription is for, in base64 for URLs. */
function keyOf(subscription) {
  const bytes = new Uint8Array(subscription.options.applicationServerKey ?? []);
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

const post = (fields) =>
  fetch(`${root}/app/-/push`, { method: 'POST', body: new URLSearchParams({ csrf: self.csrf, ...fields }) });

/** Tells of a message of another user, unless the service worker does, or a page is being looked at. */
export async function notice(message) {
  if (message.user === self.me || !KINDS.includes(message.event) || isRepeated(message)) return;
  if (!isWanted(message) || !isOn() || isPushed || isLooking() || isQuiet()) return;
  isLookedAt = false;
  channel.postMessage('looking?');
  await new Promise((resolve) => setTimeout(resolve, WAIT));
  if (isLookedAt) return;
  const place = placeOf(message);
  const from = await senderOf(message);
  const title = place.name ? t('script.notice.from_in', { from, flow: place.name }) : from;
  // Several tabs tell of the same message. The last one takes the place of the others.
  const tag = `${message.flow ?? message.user}:${message.id}`;
  const content = { body: bodyOf(message), icon: `${root}/assets/icon.svg`, tag };
  try {
    const shown = new Notification(title, content);
    shown.onclick = () => {
      shown.close();
      focus();
      if (place.path) location.assign(place.path);
    };
  } catch {
    // Browsers of phones show what a service worker tells only, which opens what it tells of.
    const data = { path: place.path?.slice(root.length) ?? '/app' };
    await (await registered)?.showNotification(title, { ...content, data });
  }
}

/** Who wrote a message, which may be of another room than that of the page. */
async function senderOf(message) {
  if (message.author || message.external_user_name || message.user === '0') return authorOf(message).name;
  const { name } = known(message.user) ?? {};
  if (name) return name;
  try {
    return (await call('GET', `/users/${message.user}`)).name;
  } catch {
    return t('both.former');
  }
}

/** Whether the stream has brought a message before, as it does when the page is made anew. */
function isRepeated({ flow, user, id }) {
  const room = flow ?? user;
  if (id <= (lastHeard.get(room) ?? 0)) return true;
  lastHeard.set(room, id);
  return false;
}

function bodyOf(message) {
  if (!self.notifyText) return message.event === 'file' ? t('script.notice.sent_file') : t('script.notice.new_message');
  const { html, content } = message;
  const text = html ? textOf(html) : (content.file_name ?? content.text ?? content);
  return [...(text ?? '')].slice(0, MOST_LETTERS).join('');
}

function isWanted(message) {
  const tab = message.flow && tabOf(message);
  // Of a flow whose tab is closed only a mention is shown, which opens the tab.
  if (message.flow && !tab) return isHit(message);
  const level = tab?.dataset?.notify || self.notify;
  return level === 'all' || (level === 'mentions' && (Boolean(message.to) || isHit(message)));
}

/** Whether it is in the quiet hours, such as `22:00-07:00`, by the clock of their zone. */
function isQuiet() {
  if (!self.quiet) return false;
  const [from, until] = self.quiet.split('-');
  const now = timeIn(self.quietZone);
  return from < until ? from <= now && now < until : from <= now || now < until;
}

/** The time of day in a zone; by the clock of this machine where the browser does not know the zone. */
function timeIn(timeZone) {
  try {
    const format = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone };
    return new Intl.DateTimeFormat('en-GB', format).format();
  } catch {
    return new Date().toTimeString().slice(0, 5);
  }
}

/** Where a message was written. */
function placeOf(message) {
  if (message.to) return { name: '', path: `${root}/app/-/private/${message.user}` };
  const tab = tabOf(message);
  return { name: tab ? find('.t', tab).textContent : '', path: tab?.getAttribute('href') };
}

if (isOn()) subscribe();
