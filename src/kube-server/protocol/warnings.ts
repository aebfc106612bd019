/**
 * What is said in Warning headers, as a real server's recorder has it: nothing empty, nothing that a header cannot hold, and not too much of
 * it. Beyond four thousand characters every text is cut, and when they are used up the rest is not said.
 */
const MAX_TOTAL = 4 * 1024;
const MAX_ITEM = 256;
// oxlint-disable-next-line no-control-regex -- that is what a header may not hold
const UNPRINTABLE = /[\u0000-\u001f\u007f]/;

/** More than these say nothing new: each has at least one character. */
const MAX_RECORDED = MAX_TOTAL + 1;

export function recordWarning(warnings: Set<string>, text: string): void {
  if (text !== "" && warnings.size < MAX_RECORDED) warnings.add(text);
}

export function warningTexts(given: ReadonlySet<string>): readonly string[] {
  if (given.size === 0) return [];
  const texts = [...given].filter((text) => text !== "" && !UNPRINTABLE.test(text));
  return fits(texts) ? texts : cut(texts);
}

/** Characters are at most as many as the units of a text, so most need not be counted. */
function fits(texts: readonly string[]): boolean {
  if (texts.reduce((sum, text) => sum + text.length, 0) <= MAX_TOTAL) return true;
  return texts.reduce((sum, text) => sum + lengthOf(text), 0) <= MAX_TOTAL;
}

/** What came before the limit was reached is always said; after that only as long as there is room. */
function cut(texts: readonly string[]): readonly string[] {
  const said: string[] = [];
  let [whole, written] = [0, 0];
  for (const text of texts) {
    if (whole > MAX_TOTAL && written >= MAX_TOTAL) break;
    const short = lengthOf(text) > MAX_ITEM ? firstCharacters(text) : text;
    said.push(short);
    whole += lengthOf(text);
    written += lengthOf(short);
  }
  return said;
}

/** A character has at most two units, so the first ones are within these. */
function firstCharacters(text: string): string {
  return Array.from(text.slice(0, 2 * MAX_ITEM))
    .slice(0, MAX_ITEM)
    .join("");
}

/** In characters. A text that is too long in any case is not counted. */
function lengthOf(text: string): number {
  return text.length > 2 * MAX_TOTAL ? text.length / 2 : Array.from(text).length;
}
