// A form of one field that opens where its text stands.

import { make } from './dom.js';
import { t } from './texts.js';

/**
 * @param {{label: string, value: string, hint: string, most?: number}} field
 * @param {(text: string) => Promise<boolean>} save says whether the form may close
 * @param {() => void} closed is called when the form is gone
 */
export function lineForm({ label, value, hint, most }, save, closed) {
  const input = make('input', { className: 'input', value, placeholder: hint });
  if (most) input.maxLength = most;
  input.setAttribute('aria-label', label);
  const leave = make('button', { type: 'button', className: 'btn plain small', textContent: t('both.cancel') });
  const form = make(
    'form',
    { className: 'line-form' },
    input,
    make('button', { className: 'btn small', textContent: t('script.row.save') }),
    leave,
  );
  let isSaving = false;
  const close = () => {
    form.remove();
    closed();
  };
  leave.addEventListener('click', close);
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    close();
  });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    // Enter pressed twice saves once.
    if (isSaving) return;
    isSaving = true;
    if (await save(input.value)) close();
    isSaving = false;
  });
  return { form, focus: () => input.focus() };
}
