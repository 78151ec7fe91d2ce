// The people of the room, as the page knows them, and those who have left it.

import { call } from './api.js';
import { find } from './dom.js';
import { t } from './texts.js';

/** Those who have left the flow, by their ids. The page asks for them when it meets one. */
const former = new Map();
/** Users of whom the server says nothing. */
const unknown = new Set();
let asking = null;

/** A user of the room, or one who has left it, whom the page knows: name, nick and picture. */
export const known = (id) => find(`#people li[data-id="${CSS.escape(id)}"]`)?.dataset ?? former.get(id);

/** The same; where the page does not know the user, it asks. */
export const person = (id) => known(id) ?? miss(id);

/** What a user of the room is called. */
export const nameOf = (id) => person(String(id))?.name ?? t('both.former');

/** Asks once for those who have left; `formerusers` on the document tells that their names are there. */
function miss(id) {
  const { room } = find('#main').dataset;
  if (unknown.has(id) || !room?.startsWith('flows/')) return;
  unknown.add(id);
  asking ??= call('GET', `/${room}/former_users`)
    .then((users) => {
      for (const { id, nick, name, avatar } of users) former.set(String(id), { nick, name, avatar: `${avatar}72` });
      document.dispatchEvent(new CustomEvent('formerusers'));
    })
    // The next message of such a user asks once more.
    .catch(() => unknown.clear())
    .finally(() => {
      asking = null;
    });
}
