// Who of the people of the flow is online.

import { call } from './api.js';
import { find, findAll } from './dom.js';

/** Whoever goes from page to page is away for a moment. This is how long nobody is told, in milliseconds. */
const MOMENT = 3000;
const WORDS = { active: 'Online', idle: 'Away', offline: 'Offline' };

/** @type {Map<number, number>} the timers of those who may be back in a moment */
const leaving = new Map();

/** Whether the page shows who is online. */
const isShown = () => find('[data-online]') !== null;

/** Those of whom the stream said something since the page asked. @type {Set<number>} */
let heardSince = new Set();

/** Shows what the stream says of a user. */
export function notePresence({ user_id: user, state }) {
  if (!isShown()) return;
  heardSince.add(user);
  forgetLeaving(user);
  if (state === 'offline') leaving.set(user, setTimeout(() => show(user, state), MOMENT));
  else show(user, state);
}

/** The stream tells changes. When it begins, the page asks how everybody appears. */
export async function askPresence(room) {
  if (!isShown()) return;
  try {
    const heard = new Set();
    heardSince = heard;
    const { users } = await call('GET', `/${room}`);
    for (const { id, presence } of users) {
      // What the stream says may be newer than the answer.
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

function show(user, state) {
  leaving.delete(user);
  const line = find(`.folks [data-person="${user}"]`);
  if (!line) return;
  line.dataset.presence = state;
  find('[data-word]', line).textContent = WORDS[state];
  const all = findAll('.folks [data-person]');
  const online = all.filter(({ dataset }) => dataset.presence !== 'offline');
  find('[data-online]').textContent = `${online.length} of ${all.length} online`;
}
