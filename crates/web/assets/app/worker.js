// One stream for all tabs of a user: browsers open only six connections to a host over HTTP/1.1.

import { Connection, positionOf } from './stream.js';

/** How many events are kept for tabs whose page is older than the stream. */
const KEPT = 1000;

const ports = new Set();
const flows = new Set();
/** @type {{id: string | null, event: object}[]} */
let events = [];
/** The event that the kept ones follow. */
let start = '';
let state = 'open';

const url = new URL('../../app/-/stream/flows', import.meta.url).href;
const connection = new Connection(url, heard, (now) => {
  state = now;
  tell({ state });
});

function tell(message) {
  for (const port of ports) port.postMessage(message);
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

/** A tab wants these flows, and what happened after its page was made. */
function join(port, wanted, last) {
  const isFirst = ports.size === 0 || connection.isStopped;
  const hasNew = wanted.some((flow) => !flows.has(flow));
  ports.add(port);
  for (const flow of wanted) flows.add(flow);
  if (isFirst) {
    events = [];
    start = last;
    connection.start([...flows], last);
    return;
  }
  if (positionOf(last) < positionOf(start)) port.postMessage({ event: { event: 'reset' } });
  else {
    for (const { id, event } of events) {
      if (positionOf(id) > positionOf(last)) port.postMessage({ event });
    }
  }
  port.postMessage({ state });
  if (hasNew) connection.start([...flows], connection.last);
}

function leave(port) {
  ports.delete(port);
  if (ports.size > 0) return;
  connection.stop();
  flows.clear();
}

self.addEventListener('connect', ({ ports: [port] }) => {
  port.onmessage = ({ data }) => {
    if (data.join) join(port, data.join.flows, data.join.last);
    else if (data.leave) leave(port);
    else if (data.wake) connection.wake();
  };
});
