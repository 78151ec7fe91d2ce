// What the reader can do with a message.

import { find, findAll } from './dom.js';

/** Whether a message was deleted. */
export const isGone = (row) => find('.text .gone', row) !== null;
/** Whether the reader can delete a message. */
export const isChangeable = (row) => 'mine' in row.dataset && !isGone(row);
const hasText = (row) => find('.text', row).textContent !== '';
/** Whether the reader can change the text of a message. */
export const isEditable = (row) => isChangeable(row) && hasText(row);

/** Shows the tools of the row that the pointer or the focus is in. */
export function showTools(row) {
  if (!row || !row.dataset.id || find('.tools', row)) return;
  for (const shown of findAll('article > .tools')) {
    if (!shown.contains(document.activeElement)) shown.remove();
  }
  const tools = find('#tools').content.cloneNode(true);
  const isDeleted = isGone(row);
  for (const button of findAll('button', tools)) {
    if (isDeleted && button.dataset.do !== 'reply') button.remove();
    const needsOwn = ['edit', 'delete'].includes(button.dataset.do);
    if (needsOwn && !('mine' in row.dataset)) button.remove();
    if (button.dataset.do === 'edit' && !hasText(row)) button.remove();
    if (button.dataset.do === 'reply' && (!row.dataset.thread || row.closest('#thread'))) button.remove();
    if (button.dataset.do === 'tags' && !find('#main').dataset.flow) button.remove();
  }
  row.append(tools);
}
