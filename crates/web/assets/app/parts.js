// The page made anew by the server, and the parts of it that replace those shown.

import { load } from './api.js';
import { find, findAll } from './dom.js';

const FIRST_PAUSE = 1000;
const LAST_PAUSE = 30000;

/** The page as the server makes it now, however long that takes. */
export async function loadPage() {
  for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LAST_PAUSE)) {
    try {
      const answer = await load(location.href);
      if (answer.ok && !answer.redirected) return await answer.text();
      // The reader is signed out, or not in the flow any more.
      if (answer.redirected || [401, 403, 404].includes(answer.status)) location.reload();
    } catch {
      // The server is away.
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Whether the reader is writing in an element: what is made anew would lose the text. */
export function isWrittenIn(element) {
  const { activeElement } = document;
  const isChanged = findAll('input', element).some(({ value, defaultValue }) => value !== defaultValue);
  return isChanged || find('.line-form', element) || (element.contains(activeElement) && activeElement.matches('input'));
}

/** Shows what stands in an element of another page. */
export function takeChildren(old, fresh) {
  old.replaceChildren(...fresh.childNodes);
  for (const flag of ['more', 'newer']) {
    if (flag in fresh.dataset) old.dataset[flag] = '';
    else delete old.dataset[flag];
  }
}
