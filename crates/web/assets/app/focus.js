// Moving the focus by keys: between messages, mentions and panes.

import { find, findAll } from './dom.js';

/** The message that has the focus. */
export const focusedRow = () => document.activeElement?.closest('article[data-id]');

/** Does something with the message that has the focus, if there is one. */
export function withRow(run) {
  return () => {
    const row = focusedRow();
    return row ? run(row) : false;
  };
}

/** Moves the focus to the message after the one that has it, or before it. */
export function moveRow(step, chat) {
  const row = focusedRow() ?? (step < 0 ? null : chat.lastRow());
  const rows = findAll('article[data-id]', row?.parentElement ?? chat.element);
  const at = row ? rows.indexOf(row) + step : rows.length - 1;
  rows[Math.min(Math.max(at, 0), rows.length - 1)]?.focus();
}

/**
 * Goes to the mention before the focused one. Where all of the chat is read, an unread one stands in
 * the inbox, to which the list of mentions leads; without any, another flow may have one.
 */
export function goToMention(chat) {
  const here = find('.tab[data-flow][aria-current]')?.dataset;
  const isInInbox = here && here.mentions !== '0' && here.unread === '0';
  const hits = findAll('article.hit', chat.element);
  const at = hits.indexOf(focusedRow());
  const hit = at > 0 ? hits[at - 1] : hits.at(-1);
  if (isInInbox) find('#mentions').click();
  else if (hit) hit.focus();
  else find('.tab[data-mentions]:not([data-mentions="0"], [aria-current])')?.click();
}

/** Moves the focus to the next of the panes that are shown. */
export function goToPane() {
  const places = [
    ['.side', ['.tab[aria-current]', '.tab']],
    ['.talk', ['textarea']],
    ['.list', ['.scroll a', '.tabs a']],
    ['.thread', ['textarea']],
  ];
  const firstIn = (pane, wanted) =>
    wanted.flatMap((place) => findAll(place, pane)).find((target) => target.checkVisibility());
  const visible = places
    .map(([name, wanted]) => ({ pane: find(name), wanted }))
    .filter(({ pane }) => pane)
    .map(({ pane, wanted }) => ({ pane, target: firstIn(pane, wanted) }))
    .filter(({ target }) => target);
  const at = visible.findIndex(({ pane }) => pane.contains(document.activeElement));
  visible[(at + 1) % visible.length]?.target.focus();
}

/** Only the last row is in the order of Tab; arrows lead to the others. */
export function setTabStop(feeds) {
  for (const feed of feeds) {
    for (const row of findAll('article[tabindex="0"]', feed.element)) row.tabIndex = -1;
    const last = feed.lastRow();
    if (last) last.tabIndex = 0;
  }
}

/** Finds what has the focus once more when the page is made anew. */
export function placeOfFocus() {
  const focused = document.activeElement;
  const tab = focused.closest('.side li')?.querySelector('.tab');
  if (tab) return `.tab[href="${tab.getAttribute('href')}"]${focused === tab ? '' : ' + .close'}`;
  const inList = focused.closest('#inbox a[href]');
  if (inList) return `#inbox a[href="${CSS.escape(inList.getAttribute('href'))}"]`;
  if (focused.dataset.action) return '.thread h2';
  const row = focused.closest('article[data-id]');
  return row && `#${row.parentElement.id} article[data-id="${row.dataset.id}"]`;
}
