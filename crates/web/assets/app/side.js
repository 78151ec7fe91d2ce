// The script of pages without a chat, as the settings: the tabs beside them count what comes, and the
// list of mentions grows.

import { isOfAnother, load } from './api.js';
import { countChange, countMentions, countNews, noteRead } from './counts.js';
import { find, findAll, pageOf } from './dom.js';
import './frame.js';
import { SPREAD, forgetPages, openStream } from './live.js';
import { notice } from './notices.js';
import { sendWaiting } from './outbox.js';
import { notePresence } from './presence.js';
import { isHit } from './row.js';
import { throttles } from './throttle.js';

/** What is made anew, by the ids of its elements. */
const PARTS = ['tabs', 'conversations', 'mentions-list'];
/** Milliseconds after which a page that did not come is asked for again. */
const AWAY = 10000;
const self = document.body.dataset;

let timer = 0;
/** Whether the page is to be asked for again when it has come: what is on its way may be older. */
let isAsked = false;
/** What was heard while the page is asked for. @type {object[] | null} */
let held = null;

/** @param {boolean} [isAgain] whether the event was heard before */
function heard(event, isAgain = false) {
  held?.push(event);
  switch (event.event) {
    case 'message-edit':
    case 'message-delete':
    case 'tag-change':
      if (!countChange(event) || isListed(event.content.message)) refreshSoon();
      break;
    case 'presence':
      notePresence(event.content, event.flow, false);
      break;
    case 'read':
      if (!showRead(event.content) || !noteRead(event.content)) refreshSoon();
      break;
    case 'flow-remove':
      forgetPages();
      refreshSoon();
      break;
    case 'reset':
    case 'flow-add':
      refreshSoon();
      break;
    case 'flow-change':
    case 'user-edit':
    case 'backend.user.join':
      if (!isAgain) throttled(event.event, refreshSoon);
      break;
    default:
      if (typeof event.id !== 'number') break;
      notice(event);
      if (!countNews(event) || (find('#mentions-list') && isHit(event))) refreshSoon();
  }
}

/** Whether the list of mentions has a message with this number. */
const isListed = (id) => find(`#mentions-list :is([href$="#m${id}"], [href$="#t${id}"])`) !== null;

/**
 * Shows which mentions the reader has read in a flow, on this page or elsewhere.
 * @returns {boolean} whether the list is right: which messages are of a thread only the server knows
 */
function showRead({ flow, message, marker, thread_id: thread }) {
  const unread = findAll('#mentions-list .unread').filter((item) => item.dataset.flow === flow);
  if (thread) return unread.length === 0;
  for (const item of unread) {
    const isMeant = !marker || item.dataset.marker === marker;
    if (!isMeant || Number(item.dataset.message) > message) continue;
    item.classList.remove('unread');
    find('.quietly', item).remove();
  }
  return true;
}

/** As on the page of a flow. */
const throttled = throttles();

function refreshSoon() {
  if (held) isAsked = true;
  else timer ||= setTimeout(refresh, Math.random() * SPREAD);
}

/** Makes the tabs anew, and the list of mentions. */
async function refresh() {
  held = [];
  try {
    const answer = await load(location.href);
    if (answer.status === 429 || answer.status >= 500) throw new Error('no page');
    const page = pageOf(await answer.text());
    // The reader is signed out, or another user has signed in.
    if (answer.redirected || (answer.ok && isOfAnother(page))) location.reload();
    else if (answer.ok) take(page);
  } catch {
    // The server is away.
    setTimeout(refreshSoon, AWAY);
  }
  timer = 0;
  const missed = held;
  held = null;
  for (const event of missed) heard(event, true);
  if (isAsked) refreshSoon();
  isAsked = false;
}

function take(page) {
  const focused = document.activeElement.closest('.side a[href], #mentions-list a[href]')?.getAttribute('href');
  for (const id of PARTS) {
    const fresh = page.getElementById(id);
    if (fresh) document.getElementById(id)?.replaceChildren(...fresh.childNodes);
  }
  if (focused) find(`:is(.side, #mentions-list) a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  [self.csrf, self.event] = [page.body.dataset.csrf, page.body.dataset.event];
  stream.join();
  countMentions();
}

const stream = openStream(heard, (state) => {
  if (state === 'refused') refreshSoon();
  else if (state === 'signed-out') location.reload();
});
stream.join();
sendWaiting();
