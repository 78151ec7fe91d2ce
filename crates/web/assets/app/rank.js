// What the reader may mean by a few letters.

import { make } from './dom.js';

/** What is typed for letters that Unicode does not decompose; the search of the server has the same. */
const BASE = {
  ß: 'ss', ł: 'l', ø: 'o', đ: 'd', ð: 'd', ɗ: 'd', ı: 'i', æ: 'ae', œ: 'oe', þ: 'th', ħ: 'h', ŧ: 't', ŋ: 'n',
  ɓ: 'b', ƙ: 'k', ƴ: 'y', ǥ: 'g',
};
const UNDECOMPOSED = new RegExp(`[${Object.keys(BASE).join('')}]`, 'g');

/** Letters without accents and case, so that `jose` finds José, and `strasse` Straße. */
const folded = (text) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  .replace(UNDECOMPOSED, (letter) => BASE[letter]);

/**
 * The things with a name in which the letters stand: first the names that begin with them, then those
 * in which a word does, then the rest.
 * @template T
 * @param {string} letters
 * @param {T[]} things
 * @param {(thing: T) => string[]} namesOf
 * @returns {T[]}
 */
export function rank(letters, things, namesOf) {
  const wanted = folded(letters);
  const places = things.map((thing) => {
    const each = namesOf(thing).map((name) => placeIn(folded(name), wanted));
    return { thing, place: Math.min(...each) };
  });
  const found = places.filter(({ place }) => place < Infinity);
  return found.sort((one, other) => one.place - other.place).map(({ thing }) => thing);
}

function placeIn(name, wanted) {
  const at = name.indexOf(wanted);
  if (at < 0) return Infinity;
  if (at === 0) return name === wanted ? 0 : 1;
  return /[\p{L}\p{N}]/u.test(name[at - 1]) ? 3 : 2;
}

/** The text with what was found in it marked. @returns {(string | Node)[]} */
export function inMarks(text, letters) {
  const at = letters ? text.toLowerCase().indexOf(letters.toLowerCase()) : -1;
  if (at < 0) return [text];
  const end = at + letters.length;
  return [text.slice(0, at), make('mark', { textContent: text.slice(at, end) }), text.slice(end)];
}
