// A picture on its own, and from it to the others of the list.

import { showDialog } from './covers.js';
import { find, findAll } from './dom.js';
import { t } from './texts.js';

const dialog = find('#lightbox');
/** The pictures of the list, and which of them is shown. */
let shots = [];
let at = 0;

/** Opens the picture of a link in the list of messages. */
export function openPicture(link) {
  shots = findAll('a.shot', link.closest('.feed'));
  at = shots.indexOf(link);
  show();
  showDialog(dialog);
}

function show() {
  const link = shots[at];
  const row = link.closest('article');
  const small = find('img', link);
  const name = link.dataset.name;
  const picture = find('img', dialog);
  // The last picture must not stand there until this one is loaded.
  picture.removeAttribute('src');
  Object.assign(picture, { src: link.href, alt: name, width: small.width, height: small.height });
  find('b', dialog).textContent = name;
  find('small', dialog).textContent = `${find('.by b', row).textContent}, ${find('.by time', row).textContent}`;
  find('a', dialog).href = link.href;
  find('.bottom', dialog).textContent = shots.length > 1 ? t('script.lightbox.place', { at: at + 1, all: shots.length }) : '';
  for (const [step, button] of [[-1, '.before'], [1, '.after']]) {
    find(button, dialog).hidden = !shots[at + step];
  }
}

function move(step) {
  if (!shots[at + step]) return;
  at += step;
  show();
}

dialog.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowLeft') move(-1);
  else if (event.key === 'ArrowRight') move(1);
});
dialog.addEventListener('click', (event) => {
  const button = event.target.closest('button');
  if (button?.classList.contains('before')) move(-1);
  else if (button?.classList.contains('after')) move(1);
  else if (button || event.target === dialog) dialog.close();
});
dialog.addEventListener('close', () => shots[at]?.focus());
