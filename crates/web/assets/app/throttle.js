// Throttles what events ask for that others can cause as often as they like.

/** Milliseconds between the first call and the second. Each pause is twice the one before. */
const FIRST_PAUSE = 2000;
const LAST_PAUSE = 60000;

/**
 * A throttle for each kind of event.
 * @returns {(kind: string, call: () => void) => void} calls at once, or after a pause when calls of the kind follow
 *   each other. A call that waits stands for all that come until then
 */
export function throttles() {
  const all = new Map();
  return (kind, call) => {
    if (!all.has(kind)) all.set(kind, throttle());
    all.get(kind)(call);
  };
}

function throttle() {
  let pause = 0;
  let calledAt = -Infinity;
  let timer = 0;
  return (call) => {
    if (timer) return;
    const quiet = performance.now() - calledAt;
    // After a quiet time there is no pause again.
    pause = quiet < 2 * Math.max(pause, FIRST_PAUSE) ? Math.min(Math.max(2 * pause, FIRST_PAUSE), LAST_PAUSE) : 0;
    timer = setTimeout(() => {
      timer = 0;
      calledAt = performance.now();
      call();
    }, Math.max(0, pause - quiet));
  };
}
