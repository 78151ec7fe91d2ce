// The emoji and their names. The list is loaded when it is first needed.

/** @type {Promise<{text: string, names: string[], group: number}[]> | undefined} */
let loading;

/** All emoji in the usual order. None while they can't be loaded. */
export function emoji() {
  loading ??= load().catch(() => {
    // The next use tries again.
    loading = undefined;
    return [];
  });
  return loading;
}

async function load() {
  const answer = await fetch(new URL('emoji.json', import.meta.url));
  if (!answer.ok) throw new Error(`emoji: ${answer.status}`);
  const groups = await answer.json();
  return groups.flatMap((group, number) =>
    group.map(([text, ...names]) => ({ text, names, group: number })),
  );
}
