// Changes the tags of a message, in its row. What others change meanwhile stays: only what the reader
// added and removed is sent.

import { call } from './api.js';
import { find } from './dom.js';
import { lineForm } from './line-form.js';
import { namesTag } from './row.js';
import { t } from './texts.js';

/** The tags that a reader may change: those that the server has not made of the text. */
function tagsOf(row) {
  const text = find('.text', row).textContent.toLowerCase();
  const all = JSON.parse(row.dataset.tags ?? '[]');
  return all.filter((tag) => !tag.startsWith(':') && !namesTag(text, tag));
}

/** Opens the form. @param {(text: string) => void} failed is told what went wrong */
export function editTags(row, room, failed) {
  if (find('.line-form', row)) return;
  const before = tagsOf(row);
  const field = {
    label: t('script.tags.label'),
    value: before.map((tag) => `#${tag}`).join(' '),
    hint: t('script.tags.hint'),
  };
  const save = async (text) => {
    const after = text.split(/[\s,]+/).map((tag) => tag.replace(/^#/, '').toLowerCase()).filter(Boolean);
    const add = after.filter((tag) => !before.includes(tag));
    const remove = before.filter((tag) => !after.includes(tag));
    try {
      const changes = { ...(add.length > 0 && { add_tags: add }), ...(remove.length > 0 && { remove_tags: remove }) };
      if (Object.keys(changes).length > 0) await call('PUT', `/${room}/messages/${row.dataset.id}`, changes);
      return true;
    } catch (error) {
      failed(t('script.tags.not_changed', { reason: error.message }));
      return false;
    }
  };
  const { form, focus } = lineForm(field, save, () => row.focus());
  find('.more', row).append(form);
  focus();
}
