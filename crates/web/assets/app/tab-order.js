// The order of the tabs: dragged by a pointer, or moved by keys.

import { call } from './api.js';
import { find, findAll } from './dom.js';
import { notify } from './toast.js';

const LISTS = '#tabs, #conversations';
const ROOMS = '.tab:is([data-flow], [data-private])';
const side = find('.side');
/** The item that is dragged, with where it was. @type {{item: Element, list: Element, next: Element | null} | null} */
let dragged = null;

const itemOf = (element) => element.closest?.(ROOMS)?.closest('li') ?? null;

/** Sends the order of a list. When that fails, the list is as it was. */
async function save(list, undo) {
  const tabs = findAll(ROOMS, list).map(({ dataset }) => dataset);
  const order =
    list.id === 'tabs'
      ? { flows: tabs.map(({ flow }) => flow) }
      : // A conversation that was not opened yet is none to the server.
        { conversations: tabs.filter((tab) => !('closed' in tab)).map((tab) => Number(tab.private)) };
  try {
    await call('PUT', '/tabs', order);
  } catch (error) {
    undo();
    notify(error.message);
  }
}

side.addEventListener('dragstart', (event) => {
  const item = itemOf(event.target);
  if (!item) return;
  dragged = { item, list: item.parentElement, next: item.nextElementSibling };
  event.dataTransfer.effectAllowed = 'move';
  item.classList.add('dragged');
});

side.addEventListener('dragover', (event) => {
  const over = itemOf(event.target);
  if (!dragged || !over || over.parentElement !== dragged.list) return;
  event.preventDefault();
  if (over === dragged.item) return;
  const { top, height } = over.getBoundingClientRect();
  if (event.clientY < top + height / 2) over.before(dragged.item);
  else over.after(dragged.item);
});

side.addEventListener('drop', (event) => {
  if (!dragged) return;
  event.preventDefault();
  const was = dragged;
  if (was.item.nextElementSibling !== was.next) void save(was.list, () => putBack(was));
  end();
});

// Let go elsewhere, the tab goes back.
side.addEventListener('dragend', () => {
  if (dragged) putBack(dragged);
  end();
});

/** The list may have been made anew meanwhile. */
function putBack({ item, list, next }) {
  if (item.parentElement === list) list.insertBefore(item, next?.parentElement === list ? next : null);
}

function end() {
  dragged?.item.classList.remove('dragged');
  dragged = null;
}

side.addEventListener('keydown', (event) => {
  if (!(event.ctrlKey || event.metaKey) || !event.shiftKey) return;
  const item = itemOf(event.target);
  const list = item?.closest(LISTS);
  if (!list) return;
  const items = findAll(ROOMS, list).map((tab) => tab.closest('li'));
  const at = items.indexOf(item);
  const beside = { ArrowUp: items[at - 1], ArrowDown: items[at + 1] }[event.key];
  if (event.key === 'ArrowUp' || event.key === 'ArrowDown') event.preventDefault();
  if (!beside) return;
  const was = { item, list, next: item.nextElementSibling };
  if (event.key === 'ArrowUp') beside.before(item);
  else beside.after(item);
  event.target.focus();
  void save(list, () => putBack(was));
});
