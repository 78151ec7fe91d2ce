// The stream of a page: one for all tabs of the browser. A line on the page says when it is broken.

import { root } from './api.js';
import { find } from './dom.js';
import { Connection } from './stream.js';
import { sharedWorkerAddress } from './worker-address.js';

/** Milliseconds after which the page says that the connection is broken. */
const OFFLINE_AFTER = 5000;
/** Milliseconds over which pages spread their requests: an event reaches all members at the same time. */
export const SPREAD = 2000;
/** Milliseconds after which a worker that could not be loaded is loaded again. */
const FIRST_PAUSE = 1000;
const LAST_PAUSE = 30000;
/** Milliseconds for which a sign of the reader counts. */
const SIGN = 30000;
/** What shows that the reader is there. */
const SIGNS = ['pointerdown', 'pointermove', 'wheel', 'keydown'];
const self = document.body.dataset;
/** Runs while the connection is broken and the line does not say so yet. */
let offlineTimer = 0;

/**
 * Opens the stream of all flows that the reader is in.
 * @param {(event: object) => void} heard
 * @param {(state: string) => void} changed the stream is `open` or `broken`, the server has `refused`
 *   it, or the reader is `signed-out`
 * @returns {{join: () => void}} asks for what comes after the event of the page
 */
export function openStream(heard, changed) {
  const stream = connect(heard, (state) => {
    showConnection(state);
    if (!(state === 'signed-out' && 'leaving' in self)) changed(state);
  });
  let seenAt = Date.now();
  const seen = () => {
    if (Date.now() - seenAt < SIGN) return;
    seenAt = Date.now();
    stream.seen();
  };
  for (const sign of SIGNS) addEventListener(sign, seen, { capture: true, passive: true });
  addEventListener('online', stream.wake);
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState !== 'visible') return;
    stream.wake();
    seen();
  });
  return { join: () => stream.join({ last: self.event, token: self.csrf }) };
}

/** Connects with the worker of all tabs, or from here where the browser has no such workers. */
function connect(heard, changed) {
  if (!globalThis.SharedWorker) {
    const connection = new Connection(new URL(`${root}/app/-/stream/flows`, location.href).href, heard, changed);
    return {
      join: ({ last, token }) => {
        if (!connection.token) connection.seen();
        connection.token = token;
        connection.start(connection.last || last);
      },
      wake: () => connection.wake(),
      seen: () => connection.seen(),
    };
  }
  let port;
  let joined = null;
  let pause = FIRST_PAUSE;
  /** Runs while a worker that could not be loaded is to be loaded again. */
  let timer = 0;
  const start = () => {
    clearTimeout(timer);
    timer = 0;
    const worker = new SharedWorker(sharedWorkerAddress, { type: 'module', name: `eddyline-${self.me}` });
    const own = worker.port;
    port = own;
    own.onmessage = ({ data }) => {
      pause = FIRST_PAUSE;
      if (data.state) changed(data.state);
      else heard(data.event);
    };
    // The network broke before the worker was loaded.
    worker.onerror = () => {
      worker.onerror = null;
      own.postMessage({ leave: true });
      own.close();
      changed('broken');
      timer = setTimeout(start, pause);
      pause = Math.min(2 * pause, LAST_PAUSE);
    };
    if (joined) own.postMessage({ join: joined });
  };
  start();
  addEventListener('pagehide', () => port.postMessage({ leave: true }));
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
  return {
    join: (join) => port.postMessage({ join: (joined = join) }),
    wake: () => (timer ? start() : port.postMessage({ wake: true })),
    seen: () => port.postMessage({ seen: true }),
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

/** Forgets the pages that the service worker keeps: the reader may have been removed from a flow. */
export function forgetPages() {
  // Without a cache nothing was kept.
  globalThis.caches?.delete('eddyline-pages').catch(() => {});
}
