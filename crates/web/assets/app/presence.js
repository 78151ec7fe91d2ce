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

/** The timers of users who went offline. @type {Map<number, number>} */
const leaving = new Map();

/** The users whose presence the stream has changed since the last request. @type {Set<number>} */
let heardSince = new Set();

/** Shows a change of presence that the stream brought, of the flow of the page or of another. */
export function notePresence({ user_id: user, state }, isHere = true) {
  heardSince.add(user);
  forgetLeaving(user);
  if (state === 'offline') leaving.set(user, setTimeout(() => show(user, state, isHere), OFFLINE_DELAY));
  else show(user, state, isHere);
}

/** Requests the presence of all users when a stream begins, since streams bring changes only. */
export async function askPresence(room) {
  if (!find('[data-online]')) return;
  try {
    const heard = new Set();
    heardSince = heard;
    const { users } = await call('GET', `/${room}`);
    for (const { id, presence } of users) {
      // An event of the stream may be newer than the answer.
      if (!heard.has(id)) notePresence({ user_id: id, state: presence });
    }
  } catch {
    // Without an answer the page shows what it showed.
  }
}

function forgetLeaving(user) {
  clearTimeout(leaving.get(user));
  leaving.delete(user);
}

function show(user, state, isHere) {
  leaving.delete(user);
  // The tab of a conversation tells of all flows of the reader's, the list of people of one.
  const tab = `.tab[data-private="${user}"][data-presence]`;
  for (const place of findAll(isHere ? `${tab}, .folks [data-person="${user}"]` : tab)) {
    place.dataset.presence = state;
    find('[data-word]', place).textContent = WORDS[state];
  }
  const all = findAll('.folks [data-person]');
  const online = all.filter(({ dataset }) => dataset.presence !== 'offline');
  const count = find('[data-online]');
  if (count) count.textContent = t('both.online', { online: online.length, all: all.length });
}
