// Requests to the API, by the session of the browser.

import { pageOf } from './dom.js';
import { reasonOf } from './refusal.js';
import { t } from './texts.js';

/** How many letters of a request may outlive the page. Browsers allow 64 KiB of all together. */
const MOST_KEPT_ALIVE = 10000;
/** Milliseconds after which a request counts as lost: on a dead connection nothing ever comes. */
const LOST_AFTER = 45000;
const inTime = () => AbortSignal.timeout(LOST_AFTER);

/** The path under which the pages are reached, mostly empty. */
export const root = new URL('../..', import.meta.url).pathname.replace(/\/$/, '');

/** The server did not do what was asked. */
export class Refused extends Error {
  /**
   * @param {number} status
   * @param {object | null} body what the answer says
   * @param {number} wait seconds, if the server names them
   */
  constructor(status, body, wait) {
    super(reasonOf(status, body, wait));
    this.status = status;
    this.body = body;
    this.wait = wait;
  }

  /** Whether the same request may succeed later. */
  get isPassing() {
    // After a 401 the page signs in again, and the next one sends what waits.
    return this.status === 401 || this.status === 429 || this.status >= 500;
  }
}

/**
 * Sends a request and gives the answer's JSON.
 * @param {string} method
 * @param {string} path the path of the API, with its query
 * @param {object} [content]
 * @throws {Refused} when the server refuses; a TypeError when it is not reached
 */
export async function call(method, path, content) {
  try {
    const answer = await ask(method, path, content);
    // The token is another one when the reader has signed in anew in another tab.
    const isRenewed = answer.status === 403 && (await renewToken());
    return await read(isRenewed ? await ask(method, path, content) : answer);
  } catch (error) {
    if (error instanceof Refused) throw error;
    // What the browser says of it is in the browser's language, and not meant for readers.
    throw new TypeError(t('script.api.no_connection'));
  }
}

async function ask(method, path, content) {
  const headers = { 'X-CSRF-Token': document.body.dataset.csrf };
  if (content) {
    headers['Content-Type'] = 'application/json';
    // The answer to a post is then the message, and not only that it was taken.
    headers['X-Service-Wait-For-Message'] = 'true';
  }
  const body = content && JSON.stringify(content);
  return fetch(`${root}/app/-/api${path}`, {
    method,
    headers,
    body,
    // What is sent when the reader goes to another page arrives as well. Browsers take only short ones.
    keepalive: Boolean(body) && body.length < MOST_KEPT_ALIVE,
    signal: inTime(),
  });
}

/**
 * Sends a form with a file. Only `XMLHttpRequest` tells how far it is.
 * @param {(share: number) => void} going is told which share of it is sent
 * @returns {{done: Promise<object>, cancel: () => void}} `done` fails as {@link call} does
 */
export function upload(path, form, going) {
  let request = sendForm(path, form, going);
  const done = request.done.then(async (answer) => {
    if (answer.status !== 403 || !(await renewToken())) return read(answer);
    request = sendForm(path, form, going);
    return read(await request.done);
  });
  return { done, cancel: () => request.cancel() };
}

function sendForm(path, form, going) {
  const request = new XMLHttpRequest();
  request.open('POST', `${root}/app/-/api${path}`);
  request.setRequestHeader('X-CSRF-Token', document.body.dataset.csrf);
  request.setRequestHeader('X-Service-Wait-For-Message', 'true');
  let lost = setTimeout(() => request.abort(), LOST_AFTER);
  request.upload.addEventListener('progress', ({ loaded, total }) => {
    clearTimeout(lost);
    lost = setTimeout(() => request.abort(), LOST_AFTER);
    going(total ? loaded / total : 1);
  });
  const done = new Promise((resolve, reject) => {
    request.addEventListener('loadend', () => clearTimeout(lost));
    request.addEventListener('load', () => {
      const headers = { 'Retry-After': request.getResponseHeader('Retry-After') ?? '' };
      resolve(new Response(request.response || null, { status: request.status, headers }));
    });
    for (const end of ['error', 'abort']) {
      request.addEventListener(end, () => reject(new TypeError(t('script.api.no_connection'))));
    }
    request.send(form);
  });
  return { done, cancel: () => request.abort() };
}

/** Asks for a page of ours. It fails when the page does not come in time. @returns {Promise<Response>} */
export const load = (address) => fetch(address, { signal: inTime() });

/** Whether a page that was loaded anew is of another user, who has signed in in another tab. */
export const isOfAnother = (page) => page.body.dataset.me !== document.body.dataset.me;

/** Takes the token of the page as it is now. @returns {Promise<boolean>} whether it is another one */
async function renewToken() {
  const page = pageOf(await (await load(location.href)).text());
  if (isOfAnother(page)) {
    // Nothing is sent in the name of that user. What waits stays for its author.
    location.reload();
    throw new TypeError(t('script.api.no_connection'));
  }
  const { csrf } = page.body.dataset;
  if (!csrf || csrf === document.body.dataset.csrf) return false;
  document.body.dataset.csrf = csrf;
  return true;
}

async function read(answer) {
  if (answer.status === 401) location.reload();
  const text = await answer.text();
  const json = text ? parsed(text) : null;
  if (answer.ok) return json;
  throw new Refused(answer.status, json, Number(answer.headers.get('Retry-After')) || 0);
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
