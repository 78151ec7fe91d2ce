// The tabs of flows and private conversations, and what they count.

import { find, findAll } from './dom.js';

const pageTitle = document.title;

/** The tab of a flow by its id, or of the conversation with a user. */
export function tabOf({ flow, to }) {
  const name = flow ? `[data-flow="${CSS.escape(flow)}"]` : `[data-private="${CSS.escape(to ?? '')}"]`;
  return find(`.tab${name}`);
}

function sumOf(selector) {
  const counts = findAll(`.tab${selector} .count:not([hidden]) .num`);
  return counts.reduce((sum, number) => sum + Number(number.textContent), 0);
}

/** Shows above the tabs how many mentions they count, and in the title of the page how much waits. */
export function countMentions() {
  const mentions = sumOf('[data-flow]');
  const place = find('#mentions .count');
  find('.num', place).textContent = mentions;
  place.hidden = mentions === 0;
  showWaiting();
}

/** Shows in the title of the page how much waits for the reader. */
export function showWaiting() {
  const sum = sumOf(':is([data-flow], [data-private])');
  document.title = sum > 0 ? `(${sum}) ${pageTitle}` : pageTitle;
}
