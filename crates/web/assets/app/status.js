// The status of users: a message of the kind `status` sets it, and the list of people shows it.

import { call } from './api.js';
import { find, newId } from './dom.js';
import { lineForm } from './line-form.js';
import { t } from './texts.js';

const placeOf = (user) => find(`.folks [data-person="${user}"] small`);

/** Opens the form in the reader's own line. @param {(text: string) => void} failed is told what went wrong */
export function editStatus(button, room, failed) {
  const place = placeOf(document.body.dataset.me);
  const save = async (text) => {
    try {
      const content = text.trim();
      const isNew = content !== '' && content !== place.textContent;
      if (isNew) await call('POST', `/${room}/messages`, { event: 'status', content, uuid: newId() });
      return true;
    } catch (error) {
      failed(t('script.status.not_changed', { reason: error.message }));
      return false;
    }
  };
  const closed = () => {
    button.hidden = false;
    button.focus();
  };
  const [label, hint] = [t('script.status.label'), t('script.status.hint')];
  const field = { label, hint, value: place.textContent, most: 140 };
  const { form, focus } = lineForm(field, save, closed);
  button.hidden = true;
  button.after(form);
  focus();
}

/** Shows the status that a message sets. A message under another name sets none. */
export function showStatus({ user, content, external_user_name: otherName }) {
  const place = otherName ? null : placeOf(user);
  if (!place) return;
  place.textContent = content;
  const button = find('[data-do="status"]', place.parentElement);
  if (button) button.textContent = content ? t('both.change_status') : t('both.set_status');
}
