/** lcov.info as data: which lines can run, and how often each did. Other records are ignored. */
export type LineHits = ReadonlyMap<string, ReadonlyMap<number, number>>;

export function parseLcov(text: string): LineHits {
  const files = new Map<string, Map<number, number>>();
  let lines = new Map<number, number>();
  for (const record of text.split("\n")) {
    if (record.startsWith("SF:")) files.set(record.slice(3).replaceAll("\\", "/"), (lines = new Map()));
    if (!record.startsWith("DA:")) continue;
    const [line, hits] = record.slice(3).split(",").map(Number);
    if (line !== undefined && hits !== undefined) lines.set(line, hits);
  }
  return files;
}
