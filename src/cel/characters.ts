/** The length of a text as Go counts it. */

/** Code points. A text with as many bytes as code units is ASCII only, which is fast to find out. */
export function characters(value: string): number {
  if (value.length > 32 && Buffer.byteLength(value) === value.length) return value.length;
  let count = 0;
  for (const _ of value) count += 1;
  return count;
}
