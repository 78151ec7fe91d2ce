// Changes the tags of a message, in its row. What others change meanwhile stays: only what the reader
// added and removed is sent.

import { call } from './api.js';
import { find, make } from './dom.js';

/** The tags that a reader may change: those that the server has not made of the text. */
function tagsOf(row) {
  const text = find('.text', row).textContent.toLowerCase();
  const all = JSON.parse(row.dataset.tags ?? '[]');
  return all.filter((tag) => !tag.startsWith(':') && !text.includes(`#${tag}`));
}

/** Opens the form. @param {(text: string) => void} failed is told what went wrong */
export function editTags(row, room, failed) {
  if (find('.tag-form', row)) return;
  const before = tagsOf(row);
  const field = make('input', { className: 'input', value: before.map((tag) => `#${tag}`).join(' ') });
  field.setAttribute('aria-label', 'Tags, with spaces between');
  field.placeholder = '#release #firmware';
  const leave = make('button', { type: 'button', className: 'btn plain small', textContent: 'Cancel' });
  const save = make('button', { className: 'btn small', textContent: 'Save' });
  const form = make('form', { className: 'tag-form' }, field, save, leave);
  const close = () => {
    form.remove();
    row.focus();
  };
  leave.addEventListener('click', close);
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    close();
  });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const after = field.value.split(/[\s,]+/).map((tag) => tag.replace(/^#/, '').toLowerCase()).filter(Boolean);
    const add = after.filter((tag) => !before.includes(tag));
    const remove = before.filter((tag) => !after.includes(tag));
    try {
      const changes = { ...(add.length > 0 && { add_tags: add }), ...(remove.length > 0 && { remove_tags: remove }) };
      if (Object.keys(changes).length > 0) await call('PUT', `/${room}/messages/${row.dataset.id}`, changes);
      close();
    } catch (error) {
      failed(`Tags not changed: ${error.message}`);
    }
  });
  find('.more', row).append(form);
  field.focus();
}
