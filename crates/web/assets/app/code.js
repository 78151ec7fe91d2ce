// Finds code in what is being written, by the rules of the server.

/** A line that opens or closes a block of code. */
const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;

/** Whether a text that is written up to the caret ends in code: in a block, in an indented line, or behind backticks that are not closed in the line. */
export function endsInCode(before) {
  const lines = before.split('\n').map((line) => line.replace(/^(> )+/, ''));
  const last = lines.pop();
  /** The fence that is open. */
  let open = '';
  for (const line of lines) {
    if (open) {
      const end = /(`+|~+)\s*$/.exec(line)?.[1] ?? '';
      const isAlone = line.trim() === end;
      if (isAlone ? end.startsWith(open) : end === open && open.startsWith('`')) open = '';
      continue;
    }
    const ticks = unclosed(line);
    open = FENCE.exec(line)?.[1] ?? (ticks.length >= 3 ? ticks : '');
  }
  return open !== '' || /^(\t| {4})/.test(last) || unclosed(last) !== '';
}

/** The first run of backticks in a line that no later one of the same length closes. */
function unclosed(line) {
  const runs = line.match(/`+/g) ?? [];
  for (let at = 0; at < runs.length; at += 1) {
    const end = runs.indexOf(runs[at], at + 1);
    if (end < 0) return runs[at];
    at = end;
  }
  return '';
}
