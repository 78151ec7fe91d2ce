// Points in time as the reader's clock and calendar tell them. The server tells them in the same
// words (`zone.rs`).

const DAY = 24 * 3600 * 1000;
const parts = new Intl.DateTimeFormat('en-GB', {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
});
const two = (number) => String(number).padStart(2, '0');

/** The time of the day, as `09:06`. @param {number} at milliseconds since 1970 */
export function clock(at) {
  const date = new Date(at);
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** The day as addresses have it, as `2026-11-20`. */
export function dayPath(at) {
  const date = new Date(at);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Names the day among all others. */
export function dayKey(at) {
  return new Date(at).toDateString();
}

/** The day in words, as `Thursday, 19 November`, with the year where it is another than now. */
export function dayName(at) {
  const part = Object.fromEntries(parts.formatToParts(at).map(({ type, value }) => [type, value]));
  const isThisYear = part.year === String(new Date().getFullYear());
  return `${part.weekday}, ${part.day} ${part.month}${isThisYear ? '' : ` ${part.year}`}`;
}

/** The time of today, or else the day in few letters. */
export function shortTime(at) {
  const midnight = new Date().setHours(0, 0, 0, 0);
  if (at >= midnight) return clock(at);
  const part = Object.fromEntries(parts.formatToParts(at).map(({ type, value }) => [type, value]));
  if (at >= midnight - 6 * DAY) return part.weekday.slice(0, 3);
  return `${part.day} ${part.month.slice(0, 3)}`;
}

/** Tells the server how far the reader's clock is ahead of UTC, for the pages to come. */
export function noteZone() {
  const minutes = -new Date().getTimezoneOffset();
  const secure = location.protocol === 'https:' ? '; Secure' : '';
  document.cookie = `eddyline-zone=${minutes}; Path=/; SameSite=Lax; Max-Age=34560000${secure}`;
}
