// Asks whether a message is to be deleted.

import { showDialog } from './covers.js';
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

/**
 * @param {string} text what the message says, or the name of its file
 * @param {boolean} isFile whether it is a file, which goes without a trace
 * @returns {Promise<boolean>} whether the reader wants it
 */
export function isSure(text, isFile) {
  answer(isWanted());
  const quote = find('blockquote', dialog);
  quote.textContent = text;
  quote.hidden = text === '';
  find('#delete-text').hidden = isFile;
  find('#delete-file').hidden = !isFile;
  dialog.returnValue = '';
  showDialog(dialog);
  return new Promise((resolve) => (answer = resolve));
}
