// The people of the room, as the page knows them.

import { find } from './dom.js';
import { t } from './texts.js';

/** A user of the room: name, nick and picture. */
export const person = (id) => find(`#people li[data-id="${CSS.escape(id)}"]`)?.dataset;

/** What a user of the room is called. */
export const nameOf = (id) => person(String(id))?.name ?? t('both.former');
