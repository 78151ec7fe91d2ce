// Jumps to a flow, a person, a thread or a command by a few letters.

import { call, root } from './api.js';
import { Choices } from './choices.js';
import { showDialog, uncoverPage } from './covers.js';
import { find, findAll, icon, make, textOf } from './dom.js';
import { inMarks, rank } from './rank.js';
import { t } from './texts.js';

/** Of each kind. */
const MOST = 5;
/** Milliseconds without another letter after which threads are searched for. */
const PAUSE = 150;
const dialog = find('#switcher');
const field = find('input', dialog);
const choices = new Choices(field, find('[role="listbox"]', dialog), (option) => go(option));
/** What the page cannot know is loaded when the dialog opens. */
let loaded = { flows: [], people: [], threads: [] };
/** The threads that the server found by some letters. */
let found = { letters: '', threads: [] };
/** Whether the server did not answer the last request. */
let isAway = false;
let timer = 0;
/** What the commands do, by their names. @type {Map<string, () => void>} */
const commands = new Map();

/** @param {Record<string, () => void>} added commands of the page, by what they are called */
export function addCommands(added) {
  for (const [name, run] of Object.entries(added)) commands.set(name, run);
}

export function openSwitcher() {
  if (dialog.open) return;
  field.value = '';
  showDialog(dialog);
  list();
  load();
}

async function load() {
  const { room = '' } = find('#main').dataset;
  const threads = room.startsWith('flows/') ? call('GET', `/${room}/threads?limit=100&html=1`) : [];
  const answers = await Promise.allSettled([call('GET', '/flows/all'), call('GET', '/users'), threads]);
  const [flows, people, recent] = answers.map(({ value }) => value ?? []);
  isAway = answers.some(({ status }) => status === 'rejected');
  loaded = { flows, people, threads: recent };
  if (dialog.open) listAgain();
}

/** Searches all threads of the flow on the server: the page knows only those that changed last. */
function seek() {
  clearTimeout(timer);
  const letters = field.value.trim();
  const { room = '' } = find('#main').dataset;
  if (letters.length < 2 || !room.startsWith('flows/')) return;
  timer = setTimeout(async () => {
    const query = new URLSearchParams({ search: letters, empty: 1, limit: MOST, html: 1 });
    // If the request fails, the list shows the threads that the page knows.
    const answer = await call('GET', `/${room}/threads?${query}`).catch(() => null);
    if (!dialog.open || field.value.trim() !== letters) return;
    isAway = answer === null;
    found = { letters, threads: answer ?? [] };
    listAgain();
  }, PAUSE);
}

/** All there is, with where each leads. */
function things(letters) {
  const { room = '', path } = find('#main').dataset;
  const flows = loaded.flows.map((flow) => {
    const place = `${flow.organization.parameterized_name}/${flow.parameterized_name}`;
    return { text: flow.name, to: `/app/${place}`, sign: icon('wave'), about: flow.joined ? '' : t('script.switcher.not_joined') };
  });
  const others = loaded.people.filter(({ id }) => String(id) !== document.body.dataset.me);
  const people = others.map((user) => {
    const face = make('span', { className: 'face s' }, make('img', { src: `${user.avatar}72`, alt: '', width: 36, height: 36 }));
    return { text: user.name, also: user.nick, to: `/app/-/private/${user.id}`, sign: face, about: `@${user.nick}` };
  });
  const matches = found.letters === letters ? found.threads : [];
  const all = new Map([...loaded.threads, ...matches].map((thread) => [thread.id, thread]));
  const threads = [...all.values()].filter(({ title }) => title).map((thread) => {
    const shape = make('span', { className: 'shape' });
    shape.dataset.shape = thread.mark >> 3;
    return {
      text: thread.plain_title ?? textOf(thread.title),
      to: `${path}/threads/${thread.id}`,
      sign: shape,
      hue: thread.mark & 7,
      isFound: matches.some(({ id }) => id === thread.id),
      about: thread.status?.value ?? '',
    };
  });
  const more = [...commands].map(([text, run]) => ({ text, run, sign: icon('right') }));
  return [
    [t('both.flows'), flows.length > 0 ? flows : onPage('[data-flow]')],
    [t('both.people'), people.length > 0 ? people : onPage('[data-private]')],
    [room.startsWith('flows/') ? t('script.switcher.threads', { flow: find('#main h1').textContent }) : '', threads],
    [t('script.switcher.commands'), more],
  ];
}

/** Leads to the page that searches messages: those of the flow, or outside of one those of all. */
function searchFor(letters) {
  const { flow, path } = find('#main').dataset;
  return {
    text: t('script.switcher.search_messages', { letters }),
    to: `${flow ? path : '/app/-'}/search?${new URLSearchParams({ q: letters })}`,
    sign: icon('search'),
  };
}

/** What the page knows before the rest is loaded. */
function onPage(kind) {
  return findAll(`.tab${kind}`).map((tab) => ({
    text: find('.t', tab).textContent,
    to: tab.getAttribute('href').slice(root.length),
    sign: find('.i, .face', tab).cloneNode(true),
  }));
}

function list() {
  const letters = field.value.trim();
  const groups = things(letters).flatMap(([name, all]) => {
    const ranked = rank(letters, all, ({ text, also }) => (also ? [text, also] : [text]));
    // The server finds words in any order.
    const others = all.filter((thing) => thing.isFound && !ranked.includes(thing));
    const shown = [...ranked, ...others].slice(0, MOST);
    return shown.length > 0 ? [group(name, shown, letters)] : [];
  });
  const say = (textContent) => make('p', { className: 'group', textContent });
  const nothing = groups.length > 0 ? [] : [say(t('both.nothing_found'))];
  const search = letters ? [optionOf(searchFor(letters), '')] : [];
  choices.show([...groups, ...(isAway ? [say(t('script.switcher.away'))] : nothing), ...search]);
}

/** Lists what is known by now. A choice that the reader has gone on to stays marked. */
function listAgain() {
  const marked = choices.marked === choices.options[0] ? undefined : choices.marked?.name;
  list();
  choices.mark(choices.options.find(({ name }) => name === marked) ?? choices.options[0]);
}

function group(name, shown, letters) {
  const title = make('p', { className: 'group', textContent: name });
  title.setAttribute('aria-hidden', 'true');
  const made = make('div', {}, title, ...shown.map((thing) => optionOf(thing, letters)));
  made.setAttribute('role', 'group');
  made.setAttribute('aria-label', name);
  return made;
}

function optionOf({ text, to, run, sign, hue, about }, letters) {
  const option = make(
    'div',
    {},
    make('span', { className: 'tile' }, sign),
    make('span', { className: 't' }, ...inMarks(text, letters)),
  );
  if (about) option.append(make('span', { className: 'sub end', textContent: about }));
  if (hue !== undefined) option.dataset.hue = hue;
  option.setAttribute('role', 'option');
  // A command leads to no address.
  option.name = to ?? text;
  option.run = run ?? (() => location.assign(root + to));
  return option;
}

async function go(option) {
  // Enter pressed twice goes once.
  if (!dialog.open) return;
  dialog.close();
  await uncoverPage();
  option?.run();
}

field.addEventListener('input', () => {
  list();
  seek();
});
field.addEventListener('keydown', (event) => {
  if (event.isComposing || event.keyCode === 229) return;
  if (event.key === 'ArrowDown') choices.move(1);
  else if (event.key === 'ArrowUp') choices.move(-1);
  else if (event.key === 'Enter') go(choices.marked);
  else return;
  event.preventDefault();
});
dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
