/**
 * The known name that a misspelt one most likely meant; undefined when none is near. Names that differ only in case
 * or in separators are nearest, then those within two edits, or one edit where the name is short.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const wanted = bare(name);
  const allowed = wanted.length <= 4 ? 1 : 2;
  let nearest: string | undefined;
  let fewest = allowed + 1;
  for (const candidate of known) {
    const edits = editDistance(wanted, bare(candidate));
    if (edits < fewest) [nearest, fewest] = [candidate, edits];
  }
  return nearest;
}

function bare(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/** Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment) from `a` to `b`. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(cost);
    }
    [beforeLast, last] = [last, current];
  }
  return last[b.length] ?? 0;
}
