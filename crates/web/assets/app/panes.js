// Moving between the lists and threads of a flow without loading the page: the chat stays where it is.

import { isOfAnother, load, root } from './api.js';
import { find, pageOf } from './dom.js';

const LISTS = ['', 'inbox', 'threads', 'files', 'people', 'search'];
const main = find('#main');
const home = root + main.dataset.path;
const addressOf = ({ pathname, search }) => pathname + search;

/** What an address of this flow shows: a `list`, a `thread`, or a `place` in the chat. */
function paneOf(address) {
  const { origin, pathname } = new URL(address, location.href);
  if (origin !== location.origin || !`${pathname}/`.startsWith(`${home}/`)) return null;
  const [name, id, rest] = pathname.slice(home.length + 1).split('/');
  if (rest !== undefined) return null;
  if (!id) return LISTS.includes(name) ? 'list' : null;
  if (name === 'threads') return 'thread';
  return ['messages', 'on'].includes(name) ? 'place' : null;
}

export class Panes {
  /**
   * @param {{isBusy: () => boolean, show: (address: string) => boolean, begin: () => void, end: () => void, take: (page: Document, pane: string) => void}} view
   *   `show` shows an address that the page has already, and tells whether it did; `begin` runs before a
   *   request for a page, `take` shows the parts of the page that came, `end` runs after both
   *   nothing is to be shown
   */
  constructor(view) {
    this.view = view;
    this.turn = 0;
    /** The link that was followed last. @type {HTMLElement | null} */
    this.followed = null;
    /** The address of what is shown. */
    this.shown = addressOf(location);
    document.addEventListener('click', (event) => this.clicked(event));
    document.addEventListener('submit', (event) => this.submitted(event));
    addEventListener('popstate', () => {
      this.followed = null;
      // What was asked for is not wanted any more.
      if (addressOf(location) === this.shown) this.drop();
      else if (!this.turnTo(location.href)) this.load(location.href);
    });
  }

  /** Follows a link as the browser would, unless it leads to a pane of this page. */
  clicked(event) {
    const link = event.target.closest('a[href]');
    const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    if (!link || !isPlain || event.defaultPrevented || link.target || link.dataset.drawerOpener !== undefined) return;
    // The tabs beside the page lead to the newest messages, and a fragment to a place on the page.
    if (link.closest('.side') || link.getAttribute('href').startsWith('#') || !paneOf(link.href)) return;
    event.preventDefault();
    this.go(link.href, link);
  }

  /** A form that searches leads to an address, too. */
  submitted(event) {
    const form = event.target;
    const address = new URL(form.action);
    if (form.method !== 'get' || event.defaultPrevented || !paneOf(address)) return;
    event.preventDefault();
    address.search = new URLSearchParams(new FormData(form));
    this.go(address.href);
  }

  go(to, link = null) {
    this.followed = link;
    const address = new URL(to, location.href).href;
    const enter = () => {
      if (address !== location.href) history.pushState(null, '', address);
    };
    if (!this.turnTo(address, enter)) this.load(address, enter);
  }

  /** Shows an address of what the page has already. @returns {boolean} whether it has it */
  turnTo(address, enter = () => {}) {
    if (!this.view.show(address)) return false;
    enter();
    this.shown = addressOf(new URL(address, location.href));
    this.drop();
    return true;
  }

  /** A page that was asked for is not shown when it comes. */
  drop() {
    this.turn += 1;
    this.view.end();
  }

  /** Shows an address; `enter` makes it the page's. */
  async load(address, enter = () => {}) {
    this.turn += 1;
    const { turn } = this;
    const page = this.view.isBusy() ? null : await this.request(address);
    if (turn !== this.turn) return;
    if (!page || this.view.isBusy()) {
      this.view.end();
      if (address === location.href) location.reload();
      else location.assign(address);
      return;
    }
    enter();
    this.shown = addressOf(new URL(address, location.href));
    this.view.take(page, paneOf(address));
  }

  /** The page of an address; `null` where it is not one of this flow, so that the browser goes there. */
  async request(address) {
    this.view.begin();
    try {
      const answer = await load(address);
      if (!answer.ok || answer.redirected) return null;
      const page = pageOf(await answer.text());
      const isHere = find('#main', page)?.dataset.room === main.dataset.room;
      return isHere && !isOfAnother(page) ? page : null;
    } catch {
      // The server is away. The browser may have the page.
      return null;
    }
  }
}
