/**
 * Warning headers with the rules of a real server's recorder: no empty texts, no control characters, and a limited total length. Beyond four
 * thousand characters every text is truncated; when the truncated texts exceed the limit too, the rest is dropped.
 */
const MAX_TOTAL = 4 * 1024;
const MAX_ITEM = 256;
// oxlint-disable-next-line no-control-regex -- a header must not contain these
const UNPRINTABLE = /[\u0000-\u001f\u007f]/;

/** More warnings can never be sent: each has at least one character. */
const MAX_RECORDED = MAX_TOTAL + 1;

export function recordWarning(warnings: Set<string>, text: string): void {
  if (text !== "" && warnings.size < MAX_RECORDED) warnings.add(text);
}

export function warningTexts(given: ReadonlySet<string>): readonly string[] {
  if (given.size === 0) return [];
  const texts = [...given].filter((text) => text !== "" && !UNPRINTABLE.test(text));
  return fits(texts) ? texts : cut(texts);
}

/** A text has at most as many characters as UTF-16 units, so most texts need no counting. */
function fits(texts: readonly string[]): boolean {
  if (texts.reduce((sum, text) => sum + text.length, 0) <= MAX_TOTAL) return true;
  return texts.reduce((sum, text) => sum + lengthOf(text), 0) <= MAX_TOTAL;
}

/** Texts before the limit are always sent; later ones only while their truncated texts fit. */
function cut(texts: readonly string[]): readonly string[] {
  const sent: string[] = [];
  let [whole, written] = [0, 0];
  for (const text of texts) {
    if (whole > MAX_TOTAL && written >= MAX_TOTAL) break;
    const short = lengthOf(text) > MAX_ITEM ? firstCharacters(text) : text;
    sent.push(short);
    whole += lengthOf(text);
    written += lengthOf(short);
  }
  return sent;
}

/** A character has at most two UTF-16 units, so the slice contains enough characters. */
function firstCharacters(text: string): string {
  return Array.from(text.slice(0, 2 * MAX_ITEM))
    .slice(0, MAX_ITEM)
    .join("");
}

/** In characters. A text that is certainly too long is not counted. */
function lengthOf(text: string): number {
  return text.length > 2 * MAX_TOTAL ? text.length / 2 : Array.from(text).length;
}
