/** The length of a text as Go counts it. */

/** Code points. A text that has as many bytes as code units has nothing but ASCII in it, and finding that out is fast. */
export function characters(value: string): number {
  if (value.length > 32 && Buffer.byteLength(value) === value.length) return value.length;
  let count = 0;
  for (const _ of value) count += 1;
  return count;
}
