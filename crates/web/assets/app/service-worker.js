// The service worker: notifications of closed pages, and pages without a network. The server puts
// before this text: `ASSETS`, the addresses of the style and of all modules below the root, and
// `TEXTS` in the language of the reader.

const root = new URL('../..', self.location).pathname.replace(/\/$/, '');
const ASSETS_CACHE = 'eddyline-assets';
const PAGES_CACHE = 'eddyline-pages';
const OFFLINE = `${root}/app/-/offline`;
/** The start address of the installed client, which the server redirects to a flow. */
const START = `${root}/`;
/** The answers to a reader who may not see a page any more. */
const GONE = [403, 404, 410];
/** How many pages are kept, those that were looked at last. */
const MOST_PAGES = 20;

self.addEventListener('install', (event) => {
  event.waitUntil(install());
});

async function install() {
  const cache = await caches.open(ASSETS_CACHE);
  await cache.addAll([...ASSETS.map((path) => root + path), OFFLINE]);
  await self.skipWaiting();
}

self.addEventListener('activate', (event) => {
  event.waitUntil(activate());
});

/** Forgets the files of earlier versions. Pages that are open load them from the server. */
async function activate() {
  const cache = await caches.open(ASSETS_CACHE);
  const known = new Set([...ASSETS.map((path) => root + path), OFFLINE]);
  for (const request of await cache.keys()) {
    const { pathname, search } = new URL(request.url);
    if (!known.has(pathname + search)) await cache.delete(request);
  }
  await self.clients.claim();
}

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (origin !== self.location.origin) return;
  const isOfClient = pathname === `${root}/app` || pathname.startsWith(`${root}/app/`);
  // Forms outside of the client sign users in and out, and the server redirects to the sign-in page when
  // the session has ended. The next user must not see what was kept.
  const isOfSession = (request.method === 'POST' && !isOfClient) || pathname === `${root}/sign-in`;
  if (request.mode === 'navigate' && isOfSession) event.waitUntil(forget());
  if (request.method !== 'GET') return;
  if (request.mode === 'navigate' && (isOfClient || pathname === START)) event.respondWith(page(event));
  else if (pathname.startsWith(`${root}/assets/`)) event.respondWith(asset(request));
});

/** The page as the server has it, or as it was when it was last seen. */
async function page(event) {
  const { request } = event;
  try {
    const answer = await fetch(request);
    if (answer.ok) event.waitUntil(keep(request.url, answer.clone()));
    else if (GONE.includes(answer.status)) event.waitUntil(drop(request.url));
    return answer;
  } catch (error) {
    const kept = (await caches.match(request.url)) ?? (await lastSeen(request.url)) ?? (await caches.match(OFFLINE));
    if (kept) return kept;
    throw error;
  }
}

/** The page that was seen last, for where the client starts. */
async function lastSeen(url) {
  if (new URL(url).pathname !== START) return undefined;
  const cache = await caches.open(PAGES_CACHE);
  const last = (await cache.keys()).at(-1);
  return last && Response.redirect(last.url);
}

async function keep(url, answer) {
  const cache = await caches.open(PAGES_CACHE);
  await cache.delete(url);
  await cache.put(url, answer);
  const all = await cache.keys();
  for (const oldest of all.slice(0, Math.max(0, all.length - MOST_PAGES))) await cache.delete(oldest);
}

/** Removes a page that is gone. When that of its flow or conversation is gone too, all of that goes. */
async function drop(url) {
  const cache = await caches.open(PAGES_CACHE);
  await cache.delete(url);
  const room = roomOf(url);
  const isGone = new URL(url).pathname === room || GONE.includes((await fetch(room)).status);
  for (const { url: kept } of isGone ? await cache.keys() : []) if (roomOf(kept) === room) await cache.delete(kept);
}

/** The page of the flow or conversation that a page is of. */
function roomOf(url) {
  const { pathname } = new URL(url);
  const path = pathname.slice(root.length);
  const room = path.match(/^\/app\/(?:-\/private\/[^/]+|[^/]+\/[^/]+)/);
  return room ? root + room[0] : pathname;
}

/** What stands under a digest never changes. */
async function asset(request) {
  return (await caches.match(request)) ?? fetch(request);
}

/** Removes what belongs to the user who was signed in. */
async function forget() {
  await caches.delete(PAGES_CACHE);
  for (const shown of await self.registration.getNotifications()) shown.close();
}

self.addEventListener('push', (event) => {
  event.waitUntil(show(event.data?.json() ?? {}));
});

/** Shows what a message says, unless a page of the client is being looked at. */
async function show({ from, flow, event, text, path, tag }) {
  const pages = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  if (pages.some((page) => page.focused)) return;
  const what = event === 'file' ? TEXTS.sent_file : TEXTS.new_message;
  const values = { from, flow };
  const title = TEXTS.from_in.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  await self.registration.showNotification(flow ? title : from, {
    body: text ?? what,
    icon: `${root}/assets/icon.svg`,
    tag,
    renotify: true,
    data: { path },
  });
}

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(open(root + event.notification.data.path));
});

async function open(path) {
  const pages = await self.clients.matchAll({ type: 'window' });
  const [page] = pages;
  if (!page) return self.clients.openWindow(path);
  await page.focus();
  return page.navigate(path);
}
