// A message as a row of the page: the template that the server renders, filled.

import { root } from './api.js';
import { find, findAll, icon, make, setHtml, textOf } from './dom.js';
import { person } from './people.js';
import { showReactions } from './reactions.js';
import { t } from './texts.js';
import { clock } from './times.js';

const self = document.body.dataset;
/** What mentions all who are in the flow. */
const EVERYONE = ['@everyone', '@everybody', '@all', '@anyone', '@anybody'];
/** A text of more is folded at first. */
const MOST_LINES = 12;
const MOST_LETTERS = 1200;

/** Whether a message mentions the reader. */
export function isHit(message) {
  const names = [`:user:${self.me}`, ':user:everyone'];
  // A mention of a group has the tag of the group, and this one for each of its users.
  if (!message.to) names.push(`:unread:${self.me}`);
  return message.user !== self.me && message.tags.some((tag) => names.includes(tag));
}

/** An empty row for a feed whose ids begin so. */
export function emptyRow() {
  return find('#row').content.querySelector('article').cloneNode(true);
}

/** The application that posted a message without an author. */
function sourceOf({ event, thread }) {
  return ['activity', 'discussion', 'mail'].includes(event) ? thread?.source : null;
}

/** Whose message it is: a name, and the picture of a user, or the path of one of an integration. */
export function authorOf(message) {
  if (message.author) return { name: message.author.name, outside: message.author.avatar_path };
  if (message.external_user_name) return { name: message.external_user_name };
  const source = sourceOf(message);
  if (message.user === '0') return { name: source?.application ?? 'Eddyline', outside: source?.icon_path };
  return person(message.user) ?? { name: t('both.former'), isUnknown: true };
}

/** Names the authors who were not known when their rows were filled. */
document.addEventListener('formerusers', () => {
  for (const row of findAll('article[data-unnamed]')) {
    const author = person(row.dataset.user);
    if (!author) continue;
    row.removeAttribute('data-unnamed');
    find('.by b', row).textContent = author.name;
    fillFace(find('.face', row), author);
  }
});

/** Shows a message in a row. What depends on the rows beside it is for the feed. */
export function fill(row, message, prefix) {
  const author = authorOf(message);
  const name = `${prefix}${message.id}`;
  Object.assign(row.dataset, { id: message.id, user: message.user, sent: message.sent });
  if (message.uuid) row.dataset.uuid = message.uuid;
  if (message.user === self.me) row.dataset.mine = '';
  row.setAttribute('aria-labelledby', `${name}-by ${name}`);
  row.classList.toggle('hit', isHit(message));
  row.classList.toggle('act', ['activity', 'status'].includes(message.event));
  if (message.event === 'status' && !find('.sets', row)) {
    find('.by b', row).after(make('span', { className: 'sets', textContent: t('both.status_set') }));
  }
  row.toggleAttribute('data-unnamed', Boolean(author.isUnknown));
  find('.by', row).id = `${name}-by`;
  find('.text', row).id = name;
  find('.by b', row).textContent = author.name;
  const time = find('.by time', row);
  time.dateTime = message.created_at;
  time.textContent = clock(message.sent);
  find('.side-time', row).textContent = clock(message.sent);
  const path = `${root}${find('#main').dataset.path}/messages/${message.id}#m${message.id}`;
  for (const link of findAll('.when, .side-time', row)) link.href = path;
  fillFace(find('.face', row), author);
  fillText(row, message);
  fillThread(row, message);
  fillMore(row, message);
}

/** Shows a picture, or else the initial of a name. */
export function fillFace(place, { name, avatar, outside }) {
  place.replaceChildren();
  place.removeAttribute('data-letter');
  const size = { alt: '', width: 36, height: 36 };
  if (avatar) place.append(make('img', { ...size, src: avatar }));
  else place.dataset.letter = [...name][0] ?? '';
  if (outside) place.append(make('img', { ...size, loading: 'lazy', src: root + outside }));
}

// The picture of an integration may be missing. The initial stands behind it.
const OUTSIDE = '[data-letter] img';
document.addEventListener('error', ({ target }) => target.matches?.(OUTSIDE) && target.remove(), true);
for (const picture of findAll(OUTSIDE)) if (picture.complete && !picture.naturalWidth) picture.remove();

/** The plain text of a message. */
function plain(message) {
  const { content } = message;
  return typeof content === 'string' ? content : (content?.text ?? null);
}

function fillText(row, message) {
  const text = plain(message);
  const html = message.html ?? (message.body || message.title);
  showText(row, text, html, Boolean(message.edited));
}

/** Shows a text, by its HTML where that is known. */
export function showText(row, text, html, isEdited) {
  const place = find('.text', row);
  if (text === '') {
    // With its text the reactions to a message went.
    showReactions(row, {});
    find('.tools', row)?.remove();
    place.replaceChildren(make('span', { className: 'gone', textContent: t('both.deleted') }));
    return;
  }
  if (html === undefined || html === null) place.textContent = text ?? '';
  // Pictures of a mail or a discussion are files of the flow.
  else setHtml(place, html.replaceAll('src="/files/', `src="${root}/app/-/api/files/`));
  row.classList.toggle('long', isLong(text));
  if (isEdited) place.append(' ', make('span', { className: 'edited', textContent: t('both.edited') }));
  dress(place);
  linkTags(place);
}

/** The page with the messages that have a tag. */
function tagPath(tag) {
  const { flow, path } = find('#main').dataset;
  return `${root}${flow ? path : '/app/-'}/search?tags=${encodeURIComponent(tag)}`;
}

/** Makes the tags of a text links, as the server does (`tag_links.rs`). */
function linkTags(place) {
  for (const tag of findAll('b.tag', place)) {
    if (tag.closest('a')) continue;
    const name = tag.textContent.replace(/^[#＃]+/u, '').toLowerCase();
    tag.replaceWith(make('a', { className: 'tag', href: tagPath(name), textContent: tag.textContent }));
  }
}

/** Whether a text is folded at first, by the same rule as on the server (`rows.rs`). */
function isLong(text) {
  return text !== null && (text.split('\n').length > MOST_LINES || [...text].length > MOST_LETTERS);
}

/** Marks where the text mentions the reader, and lets them copy its code. */
export function dress(place) {
  for (const block of findAll('pre:not(:has(+ .copy)):has(> code)', place)) {
    const button = make('button', { type: 'button', className: 'bare copy' }, icon('copy', true));
    button.dataset.do = 'copy';
    button.setAttribute('aria-label', t('script.row.copy_code'));
    const frame = make('div', { className: 'code' });
    block.replaceWith(frame);
    frame.append(block, button);
  }
  const names = [`@${self.nick}`.toLowerCase(), ...EVERYONE];
  for (const mention of findAll('.at', place)) {
    if (names.includes(mention.textContent.toLowerCase())) mention.classList.add('you');
  }
}

/** What the thread of a message is called. */
export const titleOf = ({ thread, thread_title: plain }) => plain ?? textOf(thread.title);

/** Shows the thread of a message in a row of the same thread. */
export function fillThread(row, message) {
  const { thread } = message;
  if (!thread) return;
  const path = `${root}${find('#main').dataset.path}/threads/${thread.id}`;
  row.dataset.thread = thread.id;
  row.dataset.root = thread.initial_message;
  row.dataset.hue = thread.mark & 7;
  if (thread.source) row.dataset.mirrors = '';
  const mark = find('.mark', row);
  const about = find('.about', row);
  const title = thread.initial_message === Number(row.dataset.id) ? '' : titleOf(message);
  mark.href = path;
  mark.setAttribute('aria-label', title ? t('both.thread_of', { title }) : t('both.thread'));
  find('.shape', mark).dataset.shape = thread.mark >> 3;
  about.href = path;
  about.replaceChildren(make('span', { textContent: title }), ...chip(thread.status));
}

/** The status of an outside item. */
export function chip(status) {
  if (!status?.value) return [];
  return [make('span', { className: `chip ${status.color ?? 'grey'}`, textContent: status.value })];
}

function fillMore(row, message) {
  const place = find('.more', row);
  place.replaceChildren(find('.unfold', place), ...message.attachments.flatMap(file));
  showTags(row, message.tags, plain(message));
  showReactions(row, message.emojiReactions);
}

/** Whether a text in small letters shows a tag, as a word of its own. The server does the same (`rows.rs`). */
export function namesTag(text, tag) {
  const parts = text.split(`#${tag}`);
  return parts.slice(1).some((behind) => !/^[\p{L}\p{N}_-]/u.test(behind));
}

/** Shows the tags that are no mentions and do not stand in the text. */
export function showTags(row, tags, text) {
  const said = (text ?? find('.text', row).textContent).toLowerCase();
  const shown = tags.filter((tag) => !tag.startsWith(':') && !namesTag(said, tag));
  find('.tags', row)?.remove();
  if (tags.length > 0) row.dataset.tags = JSON.stringify(tags);
  else row.removeAttribute('data-tags');
  if (shown.length === 0) return;
  const each = shown.map((tag) => make('a', { href: tagPath(tag), textContent: `#${tag}` }));
  const place = make('div', { className: 'tags' }, ...each);
  const reactions = find('.reacts', row);
  if (reactions) reactions.before(place);
  else find('.more', row).append(place);
}

function file(shown) {
  const address = (path) => `${root}/app/-/api${path}`;
  const place = { href: address(shown.path), target: '_blank', rel: 'noopener' };
  const size = bytes(shown.file_size);
  if (shown.image) {
    const { width, height } = shown.image;
    const src = address(shown.thumbnail?.path ?? shown.path);
    const link = make('a', { ...place, className: 'shot' });
    link.dataset.name = shown.file_name;
    link.setAttribute('aria-label', t('both.open_larger', { name: shown.file_name }));
    link.append(make('img', { src, alt: '', width, height, loading: 'lazy' }));
    const text = `${shown.file_name}, ${size}`;
    return [link, make('p', { className: 'shot-name', textContent: text })];
  }
  const dot = shown.file_name.lastIndexOf('.');
  const kind = dot < 0 ? '' : shown.file_name.slice(dot + 1, dot + 5).toUpperCase();
  const card = make(
    'a',
    { ...place, className: 'file' },
    make('span', { className: 'kind', textContent: kind || t('both.file') }),
    make('span', { className: 'name', textContent: shown.file_name }),
    make('span', { className: 'size', textContent: size }),
    icon('load'),
  );
  const media = shown.content_type.split('/')[0];
  if (!['audio', 'video'].includes(media)) return [card];
  const player = make(media, { className: 'play', controls: true, preload: 'none', src: place.href });
  player.setAttribute('aria-label', shown.file_name);
  return [player, card];
}

/** A number of bytes in three digits at most, as `48 KB`. */
export function bytes(count) {
  if (count < 1000) return `${count} B`;
  const units = ['KB', 'MB', 'GB', 'TB'];
  let scaled = count;
  let unit = 0;
  while (scaled >= 999500 && unit < units.length - 1) {
    scaled = Math.trunc((scaled + 500) / 1000);
    unit += 1;
  }
  const whole = Math.trunc(scaled / 1000);
  const tenths = Math.trunc((scaled % 1000) / 100);
  if (whole < 10 && tenths > 0) return `${whole}${t('locale.decimal')}${tenths} ${units[unit]}`;
  return `${Math.trunc((scaled + 500) / 1000)} ${units[unit]}`;
}
