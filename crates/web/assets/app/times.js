// Points in time as the reader's clock and calendar tell them. The server tells them in the same
// words (`zone.rs`).

import { setCookie } from './dom.js';
import { list, t } from './texts.js';

const DAY = 24 * 3600 * 1000;
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
  const day = new Date(at);
  const values = {
    weekday: list('locale.weekdays')[weekday(day)],
    date: day.getDate(),
    month: list('locale.months')[day.getMonth()],
    year: day.getFullYear(),
  };
  const isThisYear = values.year === new Date().getFullYear();
  return isThisYear ? t('locale.day', values) : t('locale.day_with_year', values);
}

/** The place of a day in its week, from Monday on. */
const weekday = (day) => (day.getDay() + 6) % 7;

/** The time of today, or else the day in few letters. */
export function shortTime(at) {
  const midnight = new Date().setHours(0, 0, 0, 0);
  if (at >= midnight) return clock(at);
  const day = new Date(at);
  if (at >= midnight - 6 * DAY) return list('locale.weekdays_short')[weekday(day)];
  return t('locale.day_short', { date: day.getDate(), month: list('locale.months_short')[day.getMonth()] });
}

/** Tells the server the reader's time zone, for the pages to come. */
export function noteZone() {
  setCookie('eddyline-zone', Intl.DateTimeFormat().resolvedOptions().timeZone);
}
