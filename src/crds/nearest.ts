/**
 * "Did you mean …?": the known name with the smallest edit distance.
 *
 * There may be thousands of names and of errors: long names are not compared, names whose length differs too much are skipped, and of the
 * rest only a bounded number is compared.
 */
const LONGEST_COMPARED = 64;
const MOST_COMPARED = 128;
const MOST_READ = 2_048;
/** A name with more edits is not suggested. */
const MOST_EDITS = 6;

/** The nearest name; undefined if none is near enough. */
export function nearestName(given: string, known: Iterable<string>): string | undefined {
  if (given.length === 0 || given.length > LONGEST_COMPARED) return undefined;
  const wanted = given.toLowerCase();
  let allowed = Math.min(MOST_EDITS, Math.max(1, Math.floor(given.length / 3)));
  let best: string | undefined;
  let [read, compared] = [0, 0];
  for (const name of known) {
    read += 1;
    if (read > MOST_READ) break;
    if (Math.abs(name.length - wanted.length) > allowed) continue;
    compared += 1;
    if (compared > MOST_COMPARED) break;
    const distance = editDistance(wanted, name.toLowerCase(), allowed);
    if (distance > allowed) continue;
    best = name;
    if (distance === 0) break;
    // from here on only a nearer name replaces it
    allowed = distance - 1;
  }
  return best;
}

/** `; did you mean "x"?`, or nothing. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const name = nearestName(given, known);
  return name === undefined ? "" : `; did you mean "${name}"?`;
}

/**
 * The number of insertions, deletions, replacements and swaps of neighbours ("teh"). Cells further than `most` from the diagonal cannot matter,
 * and are not computed. A distance above `most` is returned as any number above it.
 */
function editDistance(a: string, b: string, most: number): number {
  const width = b.length + 1;
  let [beforeLast, last, row] = [new Uint8Array(width), new Uint8Array(width), new Uint8Array(width)];
  for (let j = 0; j < width; j++) last[j] = Math.min(j, FAR);
  for (let i = 1; i <= a.length; i++) {
    const [from, to] = [Math.max(1, i - most), Math.min(b.length, i + most)];
    row.fill(FAR);
    row[0] = Math.min(i, FAR);
    let least = at(row, 0);
    for (let j = from; j <= to; j++) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(beforeLast, j - 2) + 1 : FAR;
      const cell = Math.min(at(last, j) + 1, at(row, j - 1) + 1, replaced, swapped, FAR);
      row[j] = cell;
      least = Math.min(least, cell);
    }
    // a swap reaches back two rows, and is never cheaper than the row between them by more than one
    if (least > most + 1) return least;
    [beforeLast, last, row] = [last, row, beforeLast];
  }
  return at(last, b.length);
}

/** Greater than any relevant distance, and small enough for a byte. */
const FAR = 200;

function at(row: Uint8Array, index: number): number {
  return row[index] ?? FAR;
}
