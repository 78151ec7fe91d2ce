// A pace for what many events ask for: at once at first, and ever more seldom while they go on.

/** Milliseconds between the first deed and the second, when they follow each other. */
const FIRST_PAUSE = 2000;
const LAST_PAUSE = 60000;

/** @returns {(deed: () => void) => void} does a deed, now or after a pause; one that is waited for counts for all */
export function pace() {
  let pause = 0;
  let doneAt = -Infinity;
  let timer = 0;
  return (deed) => {
    if (timer) return;
    const rest = Date.now() - doneAt;
    // After a quiet time there is no pause again.
    pause = rest < 2 * Math.max(pause, FIRST_PAUSE) ? Math.min(Math.max(2 * pause, FIRST_PAUSE), LAST_PAUSE) : 0;
    timer = setTimeout(() => {
      timer = 0;
      doneAt = Date.now();
      deed();
    }, pause);
  };
}
