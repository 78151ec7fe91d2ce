// Reactions below a message: one button for each emoji, which adds the reader's own or takes it back.

import { call } from './api.js';
import { find, findAll, make } from './dom.js';
import { nameOf } from './people.js';
import { t } from './texts.js';

const self = document.body.dataset;
/** So many names are read out; the rest is counted. */
const MOST_NAMES = 10;

/** Shows reactions: the users of each emoji. They stand in the order of the emoji, as on the server. */
export function showReactions(row, reactions) {
  find('.reacts', row)?.remove();
  const shown = Object.entries(reactions ?? {}).filter(([, users]) => users.length > 0);
  if (shown.length === 0) return;
  const order = ([one], [other]) => (one < other ? -1 : 1);
  const buttons = shown.sort(order).map(([emoji, users]) => buttonOf(emoji, users));
  find('.more', row).append(make('div', { className: 'reacts' }, ...buttons));
}

function buttonOf(emoji, users) {
  const names = users.slice(0, MOST_NAMES).map(nameOf);
  const rest = users.length > names.length ? [t('both.more', { n: users.length - names.length })] : [];
  const button = make('button', { type: 'button', className: 'react', title: [...names, ...rest].join(', ') });
  button.dataset.emoji = emoji;
  button.dataset.users = users.join(' ');
  button.setAttribute('aria-pressed', String(users.includes(Number(self.me))));
  button.append(make('span', { textContent: emoji }), make('span', { className: 'num', textContent: users.length }));
  return button;
}

document.addEventListener('formerusers', () => {
  const isUnnamed = (button) => button.title.split(', ').includes(t('both.former'));
  const rows = new Set(findAll('.react').filter(isUnnamed).map((button) => button.closest('article')));
  for (const row of rows) showReactions(row, reactionsOf(row));
});

/** The reactions that a row shows. */
function reactionsOf(row) {
  const buttons = findAll('.react', row);
  return Object.fromEntries(buttons.map(({ dataset }) => [dataset.emoji, dataset.users.split(' ').map(Number)]));
}

/** Shows that a user has reacted, or has taken it back. The same once more changes nothing. */
export function noteReaction(row, { emoji, type }, user) {
  const reactions = reactionsOf(row);
  const others = (reactions[emoji] ?? []).filter((other) => other !== user);
  const isThere = (reactions[emoji] ?? []).length > others.length;
  if (isThere === (type === 'add')) return;
  const hadFocus = find('.react:focus', row)?.dataset.emoji;
  showReactions(row, { ...reactions, [emoji]: type === 'add' ? [...others, user] : others });
  if (hadFocus) (find(`.react[data-emoji="${CSS.escape(hadFocus)}"]`, row) ?? row).focus();
}

/** Reacts for the reader, or takes it back where they have. @param {(text: string) => void} failed */
export async function toggleReaction(row, room, emoji, failed) {
  const isOwn = (reactionsOf(row)[emoji] ?? []).includes(Number(self.me));
  const change = (type) => noteReaction(row, { emoji, type }, Number(self.me));
  change(isOwn ? 'remove' : 'add');
  try {
    const path = `/${room}/messages/${row.dataset.id}/reactions/${encodeURIComponent(emoji)}`;
    await call(isOwn ? 'DELETE' : 'PUT', path);
  } catch (error) {
    change(isOwn ? 'add' : 'remove');
    failed(t('script.row.not_reacted', { reason: error.message }));
  }
}
