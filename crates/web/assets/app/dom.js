// What the modules need of the page.

/** @returns {HTMLElement | null} */
export const find = (selector, within = document) => within.querySelector(selector);
export const findAll = (selector, within = document) => [...within.querySelectorAll(selector)];

const same = (text) => text;
const prose =
  globalThis.trustedTypes?.createPolicy('prose', { createHTML: same }) ?? { createHTML: same };

/** Shows HTML that the server has made safe. Nothing else may come here. */
export function setHtml(element, html) {
  element.innerHTML = prose.createHTML(html);
}

/** The words of HTML that the server has made safe. */
export function textOf(html) {
  const template = document.createElement('template');
  template.innerHTML = prose.createHTML(html);
  return template.content.textContent;
}

/** A page of ours, as a document that runs nothing. */
export function pageOf(html) {
  return new DOMParser().parseFromString(prose.createHTML(html), 'text/html');
}

/** Makes an element with these properties and children. */
export function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

/** An icon of the page. */
export function icon(name, small = false) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('class', small ? 'i s' : 'i');
  svg.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS('http://www.w3.org/2000/svg', 'use');
  use.setAttribute('href', `#i-${name}`);
  svg.append(use);
  return svg;
}

/** Copies a text. @returns {Promise<boolean>} whether the browser did it */
export async function copy(text) {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text).then(() => true, () => false);
  }
  // Over plain http there is the old way only.
  const field = make('textarea', { value: text, className: 'quietly' });
  const focused = document.activeElement;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  focused?.focus();
  return isCopied;
}

/** 128 random bits. `crypto.randomUUID` is there only over https. */
export function newId() {
  const bits = crypto.getRandomValues(new Uint8Array(16));
  return [...bits].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Has the browser send a cookie, for as long as browsers allow. It must open nothing. */
export function setCookie(name, value) {
  const secure = location.protocol === 'https:' ? '; Secure' : '';
  document.cookie = `${name}=${value}; Path=/; SameSite=Lax; Max-Age=34560000${secure}`;
}

/** The keys under which this browser keeps something, and that begin so. */
export function keptKeys(prefix) {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(prefix));
  } catch {
    return [];
  }
}

/** Where this browser keeps something; storage can be forbidden. */
export const kept = {
  get(key) {
    try {
      return JSON.parse(localStorage.getItem(key));
    } catch {
      return null;
    }
  },
  set(key, value) {
    try {
      if (value === null) localStorage.removeItem(key);
      else localStorage.setItem(key, JSON.stringify(value));
    } catch {
      // What is not kept goes with the page.
    }
  },
};
