// One stream for all tabs of a user: browsers open only six connections to a host over HTTP/1.1.

import { Connection, positionOf } from './stream.js';

/** How many events are kept for tabs whose page is older than the stream. */
const KEPT = 1000;

/** The tabs, each with the flows that its page shows. @type {Map<MessagePort, string[]>} */
const ports = new Map();
/** @type {{id: string, event: object}[]} */
let events = [];
/** The event that the kept ones follow. */
let start = '';
let state = 'open';

const url = new URL('../../app/-/stream/flows', import.meta.url).href;
const connection = new Connection(url, heard, (now) => {
  // A tab that the browser has discarded says nothing. Each that is still there names its flows again.
  if (now === 'refused') for (const port of ports.keys()) ports.set(port, []);
  // That the connection ends after a refusal is no news.
  if (state !== 'refused' || now !== 'broken') state = now;
  tell({ state: now });
});

function tell(message) {
  for (const port of ports.keys()) port.postMessage(message);
}

function heard(event, id) {
  if (event.event === 'reset') {
    events = [];
    start = connection.last;
  } else if (id) {
    events.push({ id, event });
    if (events.length > KEPT) start = events.shift().id;
  }
  tell({ event });
}

/** The flows of all tabs. */
function wanted() {
  return [...new Set([...ports.values()].flat())].sort();
}

/** A tab wants these flows, and what happened after its page was made. */
function join(port, { flows, last, token }) {
  ports.set(port, flows);
  connection.token = token;
  const isStopped = connection.isStopped;
  const all = wanted();
  if (!isStopped && all.join() === connection.flows.join() && state !== 'refused') {
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
  connection.start(all, from);
}

function replay(port, last) {
  if (positionOf(last) < positionOf(start)) port.postMessage({ event: { event: 'reset' } });
  for (const { id, event } of events) {
    if (positionOf(id) > positionOf(last)) port.postMessage({ event });
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
  };
});
