// The actions of the thread that is open.

import { call } from './api.js';
import { find, findAll, make } from './dom.js';
import { t } from './texts.js';

/** The threads of which an action is under way. The buttons may be made anew meanwhile. */
const acting = new Set();

/** Has the server send the request of an action, and says what came of it. */
export async function act(button, room) {
  const { thread } = find('#thread').dataset;
  if (acting.has(thread)) return;
  acting.add(thread);
  const told = find('.head .told');
  // A button that is disabled would lose the focus.
  button.ariaDisabled = 'true';
  // With the focus on another action, Enter pressed once more would trigger that.
  const hadFocus = button === document.activeElement;
  try {
    const path = `/${room}/threads/${thread}/actions/${button.dataset.action}`;
    await call('POST', path, { name: button.textContent });
    told.textContent = t('script.chat.action_done', { action: button.textContent });
  } catch (error) {
    told.textContent = `${button.textContent}: ${error.message}`;
    // The integration knows the user only after they have signed in there.
    const href = error.body?.authentication_url;
    const textContent = t('script.chat.sign_in');
    if (href) told.append(' ', make('a', { href, target: '_blank', rel: 'noopener noreferrer', textContent }));
  } finally {
    acting.delete(thread);
    told.hidden = false;
    button.ariaDisabled = 'false';
    if (hadFocus && isWaiting(button)) told.focus();
  }
}

/** Whether the reader has stayed where an action was begun, also when its buttons were made anew. */
function isWaiting(button) {
  const places = [document.body, find('.thread h2'), button, sameAction(button)];
  return places.includes(document.activeElement);
}

/** The button of the same action. At its place may stand another one, which the reader has not chosen. */
export const sameAction = ({ dataset, textContent }) =>
  dataset.action && findAll('#thread-head [data-action]').find((button) => button.textContent === textContent);
