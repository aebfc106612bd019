/** The length of a text as Go counts it. */

/** Code points. A text with as many bytes as code units is ASCII only, which is fast to find out. */
export function characters(value: string): number {
  if (value.length > 32 && Buffer.byteLength(value) === value.length) return value.length;
  let count = value.length;
  // not with an iterator, which allocates for every character: conditions of webhooks are evaluated for every write
  for (let at = 1; at < value.length; at += 1) {
    if (isLow(value.charCodeAt(at)) && isHigh(value.charCodeAt(at - 1))) count -= 1;
  }
  return count;
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
