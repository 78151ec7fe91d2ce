// The stream of a page: one for all tabs of the browser. A line on the page says when it is broken.

import { root } from './api.js';
import { find, findAll } from './dom.js';
import { Connection } from './stream.js';
import { sharedWorkerAddress } from './worker-address.js';

/** Milliseconds after which the page says that the connection is broken. */
const OFFLINE_AFTER = 5000;
/** Milliseconds over which pages spread their requests: an event reaches all members at the same time. */
export const SPREAD = 2000;
const self = document.body.dataset;
/** Runs while the connection is broken and the line does not say so yet. */
let offlineTimer = 0;

/**
 * Opens the stream of the flows of the tabs.
 * @param {(event: object) => void} heard
 * @param {(state: string) => void} changed the stream is `open` or `broken`, the server has `refused`
 *   it, or the reader is `signed-out`
 * @returns {{join: () => void}} asks for what the tabs and the event of the page say now
 */
export function openStream(heard, changed) {
  const stream = connect(heard, (state) => {
    showConnection(state);
    changed(state);
  });
  addEventListener('online', stream.wake);
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && stream.wake());
  return { join: () => stream.join(request()) };
}

/** What the page wants of the stream. */
function request() {
  // A mention in a flow whose tab is closed brings the tab back.
  const flows = findAll('.tab[data-flow], #tabs [data-closed-flow]').map(({ dataset }) => dataset.flow ?? dataset.closedFlow);
  return { flows, last: self.event, token: self.csrf };
}

/** Connects with the worker of all tabs, or from here where the browser has no such workers. */
function connect(heard, changed) {
  if (!globalThis.SharedWorker) {
    const connection = new Connection(`${root}/app/-/stream/flows`, heard, changed);
    return {
      join: ({ flows, last, token }) => {
        connection.token = token;
        connection.start(flows, connection.last || last);
      },
      wake: () => connection.wake(),
    };
  }
  const { port } = new SharedWorker(sharedWorkerAddress, {
    type: 'module',
    name: `eddyline-${self.me}`,
  });
  port.onmessage = ({ data }) => (data.state ? changed(data.state) : heard(data.event));
  addEventListener('pagehide', () => port.postMessage({ leave: true }));
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
  return {
    join: (join) => port.postMessage({ join }),
    wake: () => port.postMessage({ wake: true }),
  };
}

function showConnection(state) {
  if (state === 'broken') {
    offlineTimer ||= setTimeout(() => (find('#offline').hidden = false), OFFLINE_AFTER);
  } else if (state === 'open') {
    clearTimeout(offlineTimer);
    offlineTimer = 0;
    find('#offline').hidden = true;
  }
}
