// The menu of the organization. Escape closes it, and so do a click and the focus elsewhere.

import { root } from './api.js';
import { find, kept, keptKeys } from './dom.js';
import { t } from './texts.js';
import { notify } from './toast.js';

const menu = find('.home-menu');

menu.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || !menu.open) return;
  event.preventDefault();
  event.stopPropagation();
  menu.open = false;
  find('summary', menu).focus();
});
for (const type of ['pointerdown', 'focusin']) {
  document.addEventListener(type, ({ target }) => {
    if (!menu.contains(target)) menu.open = false;
  });
}

// The next user of the browser must not read the drafts. What waits to be sent stays: nothing is lost.
find('form[action$="/sign-out"]', menu).addEventListener('submit', async (event) => {
  event.preventDefault();
  const form = event.target;
  const self = document.body.dataset;
  // The stream ends with the session, too. The page must not reload for it before the drafts are gone.
  self.leaving = '';
  try {
    const answer = await fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)), redirect: 'manual' });
    if (answer.type === 'opaqueredirect') {
      for (const key of keptKeys(`eddyline-draft:${self.me}:`)) kept.set(key, null);
      location.assign(`${root}/sign-in`);
      return;
    }
    // The answer to the form says what is wrong.
    form.submit();
  } catch {
    notify(t('script.api.no_connection'));
  }
  delete self.leaving;
});
