// The order of the tabs: dragged by a pointer, or moved by keys.

import { call } from './api.js';
import { find, findAll } from './dom.js';
import { t } from './texts.js';
import { notify } from './toast.js';

const LISTS = '#tabs, #conversations';
const ROOMS = '.tab:is([data-flow], [data-private])';
const side = find('.side');
/** The item that is dragged, with where it was. @type {{item: Element, list: Element, next: Element | null} | null} */
let dragged = null;

const itemOf = (element) => element.closest?.(ROOMS)?.closest('li') ?? null;

/** The orders that are to be sent, by the ids of their lists. @type {Map<string, {order: object, was: object}>} */
const waiting = new Map();
const sending = new Set();

/** What the server is told of the order of a list. */
function orderOf(list) {
  const tabs = findAll(ROOMS, list).map(({ dataset }) => dataset);
  return list.id === 'tabs'
    ? { flows: tabs.map(({ flow }) => flow) }
    : // A conversation that was not opened yet is none to the server.
      { conversations: tabs.filter((tab) => !('closed' in tab)).map((tab) => Number(tab.private)) };
}

/** Sends the order of a list, one after the other. When that fails, the last tab goes back. */
async function save(was) {
  const { id } = was.list;
  waiting.set(id, { order: orderOf(was.list), was });
  if (sending.has(id)) return;
  sending.add(id);
  for (let next = waiting.get(id); next; next = waiting.get(id)) {
    waiting.delete(id);
    try {
      await call('PUT', '/tabs', next.order);
    } catch (error) {
      if (waiting.has(id)) continue;
      putBack(next.was);
      notify(t('script.api.failed', { reason: error.message }));
    }
  }
  sending.delete(id);
}

side.addEventListener('dragstart', (event) => {
  const item = itemOf(event.target);
  if (!item) return;
  dragged = { item, list: item.parentElement, next: item.nextElementSibling };
  event.dataTransfer.effectAllowed = 'move';
  item.classList.add('dragged');
  // The list may be made anew during the drag. The event of a removed link does not reach it.
  event.target.addEventListener('dragend', end, { once: true });
});

side.addEventListener('dragover', (event) => {
  if (dragged && !dragged.item.isConnected) end();
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
  dragged = null;
  was.item.classList.remove('dragged');
  if (was.item.isConnected && was.item.nextElementSibling !== was.next) void save(was);
});

/** The list may have been made anew meanwhile. */
function putBack({ item, list, next }) {
  if (item.parentElement === list) list.insertBefore(item, next?.parentElement === list ? next : null);
}

/** A tab that is dropped elsewhere goes back. */
function end() {
  if (!dragged) return;
  putBack(dragged);
  dragged.item.classList.remove('dragged');
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
  void save(was);
});
