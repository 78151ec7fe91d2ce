// What lies over the page on small screens: a drawer, a dialog. There Back takes it away, instead of
// leaving the page. Each has an entry in the history, which goes when it is closed otherwise.

const isSmall = matchMedia('(max-width: 52rem)');
/** How each is closed, that on top last. @type {(() => void)[]} */
const covers = [];
/** How many entries the history has for them. */
let entries = history.state?.covers ?? 0;
let isGoing = false;
/** What waits until the history has no entries of what is closed. @type {(() => void)[]} */
let waiting = [];

/** Something lies over the page now. @param {() => void} close */
export function cover(close) {
  covers.push(close);
  enter();
}

/** Gives each its entry. Not while a step back is under way, which would take away the new one. */
function enter() {
  if (isGoing) return;
  while (entries < covers.length) history.pushState({ covers: ++entries }, '');
}

/** It is closed. When Back did that, its entry is gone already. */
export function uncover(close) {
  const at = covers.indexOf(close);
  if (at < 0) return;
  covers.splice(at, 1);
  settle();
}

/** Leaves the entries of what is closed. */
function settle() {
  if (isGoing || entries <= covers.length) return;
  isGoing = true;
  history.go(covers.length - entries);
}

addEventListener('popstate', ({ state }) => {
  const isOurs = isGoing;
  isGoing = false;
  entries = state?.covers ?? 0;
  while (!isOurs && covers.length > entries) covers.pop()();
  settle();
  if (isGoing) return;
  enter();
  // The other listeners come first: to them this is no step of the reader's.
  for (const resolve of waiting) setTimeout(resolve);
  waiting = [];
});

/** Shows a dialog. One that fills the window is closed by Back on every screen. */
export function showDialog(dialog) {
  if (dialog.open) return;
  dialog.showModal();
  if (!isSmall.matches && !dialog.matches('.lightbox')) return;
  const close = () => dialog.close();
  cover(close);
  dialog.addEventListener('close', () => uncover(close), { once: true });
}

/** Closes all that lies over the page. @returns {Promise<void>} when the page may be left */
export async function uncoverPage() {
  while (covers.length > 0) covers.pop()();
  settle();
  if (entries > 0) await new Promise((resolve) => waiting.push(resolve));
}

// The page was made anew, and what lay over it is not there any more.
settle();
