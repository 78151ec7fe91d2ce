// One stream for all tabs of a user: browsers open only six connections to a host over HTTP/1.1.

import { Connection, positionOf } from './stream.js';

/** Milliseconds for which a change of presence may be newer than a page. */
const PRESENCE_KEPT = 60000;
/** How many events are kept for tabs whose page is older than the stream. */
const KEPT = 1000;

/** The tabs. @type {Set<MessagePort>} */
const ports = new Set();
/** @type {{id: string, event: object}[]} */
let events = [];
/** The last change of presence of each user in each flow. Such events have no place in the log. */
const presences = new Map();
/** The event that the kept ones follow. */
let start = '';
let state = 'open';

const url = new URL('../../app/-/stream/flows', import.meta.url).href;
const connection = new Connection(url, heard, (now) => {
  // That the connection ends after a refusal is no news.
  if (state !== 'refused' || now !== 'broken') state = now;
  // Changes may have been missed.
  if (now === 'open') presences.clear();
  tell({ state: now });
});

function tell(message) {
  for (const port of ports) port.postMessage(message);
}

function heard(event, id) {
  if (event.event === 'presence') presences.set(`${event.flow} ${event.content.user_id}`, { event, at: Date.now() });
  if (event.event === 'reset') {
    events = [];
    presences.clear();
    start = connection.last;
  } else if (id) {
    events.push({ id, event });
    if (events.length > KEPT) start = events.shift().id;
  }
  tell({ event });
}

/** A tab wants what happened after its page was made. */
function join(port, { last, token }) {
  // Pages ask again by themselves, which is no sign of the reader.
  if (!ports.has(port)) connection.seen();
  ports.add(port);
  connection.token = token;
  const isStopped = connection.isStopped;
  if (!isStopped && state !== 'refused') {
    replay(port, last);
    port.postMessage({ state });
    return;
  }
  // Events that a tab hears again change nothing there.
  const isOlder = isStopped || positionOf(last) < positionOf(connection.last);
  const from = isOlder ? last : connection.last;
  if (isOlder) {
    events = [];
    start = from;
  }
  state = 'open';
  connection.start(from);
}

function replay(port, last) {
  if (positionOf(last) < positionOf(start)) port.postMessage({ event: { event: 'reset' } });
  for (const { id, event } of events) {
    if (positionOf(id) > positionOf(last)) port.postMessage({ event });
  }
  for (const [key, { event, at }] of presences) {
    if (Date.now() - at < PRESENCE_KEPT) port.postMessage({ event });
    else presences.delete(key);
  }
}

function leave(port) {
  ports.delete(port);
  if (ports.size === 0) connection.stop();
}

self.addEventListener('connect', ({ ports: [port] }) => {
  port.onmessage = ({ data }) => {
    if (data.join) join(port, data.join);
    else if (data.leave) leave(port);
    else if (data.wake) connection.wake();
    else if (data.seen) connection.seen();
  };
});
