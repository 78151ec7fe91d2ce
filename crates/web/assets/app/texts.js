// The texts of the page's language. The server makes `language.js` of its files (`texts/*.json`).

import { language, texts } from './language.js';

const plurals = new Intl.PluralRules(language);

const valueOf = (key) => key.split('.').reduce((area, name) => area[name], texts);

/**
 * A text.
 * @param {string} key such as `both.edited`; a test finds the keys by these calls
 * @param {Record<string, string | number>} [values] for its placeholders; `n` chooses among the forms
 *   of a plural
 */
export function t(key, values = {}) {
  const found = valueOf(key);
  const text = typeof found === 'string' ? found : (found[plurals.select(values.n)] ?? found.other);
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** The texts of a list. @returns {string[]} */
export const list = (key) => valueOf(key);
