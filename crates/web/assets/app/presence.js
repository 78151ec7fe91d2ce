// Which users are online: in the list of people, and in the tabs of private conversations.

import { call } from './api.js';
import { find, findAll } from './dom.js';
import { t } from './texts.js';

/**
 * Milliseconds after which a user who went offline is shown as offline: one who opens another page is
 * connected again by then.
 */
const OFFLINE_DELAY = 3000;
const WORDS = { active: t('both.active'), idle: t('both.idle'), offline: t('both.offline') };

/** The timers of users who went offline in a flow. @type {Map<string, number>} */
const leaving = new Map();

/** How users appear in each flow, as far as the stream has told. @type {Map<number, Map<string, string>>} */
const told = new Map();

/** The users whose presence in the flow of the page has changed since the last request. @type {Set<number>} */
let heardSince = new Set();

/** Shows a change of presence that the stream brought, of the flow of the page or of another. */
export function notePresence({ user_id: user, state }, flow, isHere = true) {
  if (isHere) heardSince.add(user);
  const key = `${flow} ${user}`;
  clearTimeout(leaving.get(key));
  leaving.delete(key);
  const change = () => {
    leaving.delete(key);
    if (isHere) showInList(user, state);
    showInTab(user, flow, state);
  };
  if (state === 'offline') leaving.set(key, setTimeout(change, OFFLINE_DELAY));
  else change();
}

/** Forgets what the stream has told: it may have missed changes. */
export function forgetPresence() {
  told.clear();
  for (const timer of leaving.values()) clearTimeout(timer);
  leaving.clear();
}

/** Requests the presence of all users when a stream begins, since streams bring changes only. */
export async function askPresence(room) {
  if (!find('[data-online]')) return;
  try {
    const heard = new Set();
    heardSince = heard;
    const { id: flow, users } = await call('GET', `/${room}`);
    for (const { id, presence } of users) {
      // An event of the stream may be newer than the answer.
      if (!heard.has(id)) notePresence({ user_id: id, state: presence }, flow);
    }
  } catch {
    // Without an answer the page shows what it showed.
  }
}

function showIn(place, state) {
  place.dataset.presence = state;
  find('[data-word]', place).textContent = WORDS[state];
}

/** The list of people tells of the flow of the page. */
function showInList(user, state) {
  const line = find(`.folks [data-person="${user}"]`);
  if (!line) return;
  showIn(line, state);
  const all = findAll('.folks [data-person]');
  const online = all.filter(({ dataset }) => dataset.presence !== 'offline');
  find('[data-online]').textContent = t('both.online', { online: online.length, all: all.length });
}

/** The tab and the page of a conversation tell of all flows of the reader's: active in one is active. */
function showInTab(user, flow, state) {
  if (!told.has(user)) told.set(user, new Map());
  const states = told.get(user).set(flow, state);
  const best = ['active', 'idle'].find((each) => [...states.values()].includes(each)) ?? 'offline';
  const places = `.tab[data-private="${user}"][data-presence], .presence[data-person="${user}"]`;
  for (const place of findAll(places)) showIn(place, best);
}
