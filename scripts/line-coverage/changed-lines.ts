/** `git diff -U0` as data: for each file the lines of the new side that were added or changed. */
export type ChangedLines = ReadonlyMap<string, ReadonlySet<number>>;

const NEW_FILE = /^\+\+\+ b\/(.+?)\t?$/;
const HUNK = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/;

/**
 * Lines of the diff's body are counted, not parsed: a removed SQL comment ("-- b/x", shown as "--- b/x") or an added "++ b/x" would
 * otherwise be a file header.
 */
export function parseDiff(diff: string): ChangedLines {
  const files = new Map<string, Set<number>>();
  let lines: Set<number> | undefined;
  let body = 0;
  for (const text of diff.split("\n")) {
    if (body > 0) {
      if (!text.startsWith("\\")) body -= 1; // "\ No newline at end of file" is not counted by the hunk
      continue;
    }
    const file = NEW_FILE.exec(text)?.[1];
    if (file !== undefined) files.set(file, (lines = new Set()));
    const hunk = HUNK.exec(text);
    if (hunk === null) continue;
    const start = Number(hunk[1]);
    const count = Number(hunk[2] ?? 1);
    for (let line = start; line < start + count; line += 1) lines?.add(line);
    body = count + removedCount(text);
  }
  return files;
}

function removedCount(hunk: string): number {
  return Number(/^@@ -\d+(?:,(\d+))?/.exec(hunk)?.[1] ?? 1);
}
