/** "Did you mean …?": the known name that a person most likely meant. Linear in the names, and long input is not compared at all. */
const LONGEST_COMPARED = 64;

/** The nearest name, if it is near enough that suggesting it helps more than it misleads. */
export function nearestName(given: string, known: Iterable<string>): string | undefined {
  if (given.length === 0 || given.length > LONGEST_COMPARED) return undefined;
  const wanted = given.toLowerCase();
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const name of known) {
    const distance = editDistance(wanted, name.toLowerCase());
    if (best === undefined || distance < best.distance) best = { name, distance };
  }
  const allowed = Math.max(1, Math.floor(given.length / 3));
  return best !== undefined && best.distance <= allowed ? best.name : undefined;
}

/** `; did you mean "x"?`, or nothing. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const name = nearestName(given, known);
  return name === undefined ? "" : `; did you mean "${name}"?`;
}

/** Insertions, deletions, replacements, and swaps of neighbours ("teh"), which are the commonest slip of all. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(beforeLast, j - 2) + 1 : Infinity;
      row.push(Math.min(at(last, j) + 1, at(row, j - 1) + 1, replaced, swapped));
    }
    [beforeLast, last] = [last, row];
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}
