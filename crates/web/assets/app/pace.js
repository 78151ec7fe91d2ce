// A pace for what events ask for that others cause as often as they like: at once at first, and ever
// more seldom while they go on.

/** Milliseconds between the first deed and the second. */
const FIRST_PAUSE = 2000;
const LAST_PAUSE = 60000;

/**
 * A pace for each kind of event.
 * @returns {(kind: string, deed: () => void) => void} does a deed, now or after a pause. One that is waited for
 *   counts for all of its kind
 */
export function paces() {
  const all = new Map();
  return (kind, deed) => {
    if (!all.has(kind)) all.set(kind, pace());
    all.get(kind)(deed);
  };
}

function pace() {
  let pause = 0;
  let doneAt = -Infinity;
  let timer = 0;
  return (deed) => {
    if (timer) return;
    const rest = performance.now() - doneAt;
    // After a quiet time there is no pause again.
    pause = rest < 2 * Math.max(pause, FIRST_PAUSE) ? Math.min(Math.max(2 * pause, FIRST_PAUSE), LAST_PAUSE) : 0;
    timer = setTimeout(() => {
      timer = 0;
      doneAt = performance.now();
      deed();
    }, Math.max(0, pause - rest));
  };
}
