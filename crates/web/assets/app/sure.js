// Asks whether a message is to be deleted.

import { find } from './dom.js';

const dialog = find('#delete');
/** Gives the answer to the question that is open. */
let answer = () => {};
const isWanted = () => dialog.returnValue === 'delete';

dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
dialog.addEventListener('close', () => {
  // The browser tells of it later. By then the next question may be open.
  if (!dialog.open) answer(isWanted());
});

/** @param {string} text what the message says @returns {Promise<boolean>} whether the reader wants it */
export function isSure(text) {
  answer(isWanted());
  const quote = find('blockquote', dialog);
  quote.textContent = text;
  quote.hidden = text === '';
  dialog.returnValue = '';
  dialog.showModal();
  return new Promise((resolve) => (answer = resolve));
}
