// What it means to the reader that the server refused something, in the language of the page.

import { t } from './texts.js';

/** Mistakes that the reader can mend, by the field and what the server says of it, which may name a bound. */
const MISTAKES = [
  [/^content$/, /too long/, (most) => t('script.refusal.text_too_long', { most })],
  [/^content$/, /blank/, () => t('script.refusal.text_empty')],
  [/^file_name$/, /too long/, (most) => t('script.refusal.name_too_long', { most })],
  [/tags$/, /more than/, (most) => t('script.refusal.too_many_tags', { most })],
  [/tags$/, /longer than/, (most) => t('script.refusal.tag_too_long', { most })],
  [/^$/, /different emoji$/, (most) => t('script.refusal.too_many_emoji', { most })],
];

/** What a status means, whatever the server says. */
const BY_STATUS = {
  403: () => t('script.refusal.denied'),
  404: () => t('script.refusal.gone'),
  408: () => t('script.refusal.slow'),
  410: () => t('script.refusal.gone'),
  413: () => t('script.refusal.too_large'),
  424: ofIntegration,
  429: (_, wait) => (wait > 0 ? t('script.refusal.too_many_for', { n: wait }) : t('script.refusal.too_many')),
  500: () => t('script.refusal.broken'),
  502: () => t('script.refusal.unreachable'),
  503: () => t('script.refusal.busy'),
  504: () => t('script.refusal.unreachable'),
  507: () => t('script.refusal.full'),
};

/**
 * Why the server refused a request. Where the page knows nothing better, the server's sentence says it.
 * @param {number} status
 * @param {object | null} body
 * @param {number} wait seconds, if the server names them
 */
export function reasonOf(status, body, wait) {
  const mistakes = Object.entries(body?.errors ?? {}).flatMap(([field, texts]) => texts.map((said) => [field, said]));
  if (mistakes.length > 0) return mistakes.map(([field, said]) => mistakeIn(field, said) ?? `${field} ${said}`).join('; ');
  const said = body?.message ?? null;
  return BY_STATUS[status]?.(body, wait) ?? (said && mistakeIn('', said)) ?? said ?? t('script.api.unexpected');
}

function mistakeIn(field, said) {
  const [, , text] = MISTAKES.find(([name, sign]) => name.test(field) && sign.test(said)) ?? [];
  return text?.(said.match(/\d+/)?.[0]);
}

/** Why an action of an integration was not done. Without its answer only the server knows. */
function ofIntegration(body) {
  if (body?.authentication_url) return t('script.refusal.sign_in');
  return body?.status ? t('script.refusal.answered', { status: body.status }) : null;
}
