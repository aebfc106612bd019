/** The text of an expression, its lines, and errors in cel-go's format: line, column, the line itself and a caret. */
export type Issue = { readonly at: number; readonly message: string };

const MAX_ISSUES = 100;
/** The position of an issue with the expression as a whole. */
export const NOWHERE = -1;

export class Source {
  readonly characters: readonly string[];
  readonly #lineStarts: readonly number[];

  constructor(text: string) {
    this.characters = Array.from(text);
    this.#lineStarts = [0, ...this.characters.flatMap((character, at) => (character === "\n" ? [at + 1] : []))];
  }

  /** All issues, in the order of the source. */
  describe(issues: readonly Issue[]): string {
    const sorted = issues.toSorted((a, b) => a.at - b.at);
    const shown = sorted.slice(0, MAX_ISSUES).map((issue) => this.#describeOne(issue));
    if (sorted.length > MAX_ISSUES) shown.push(`${sorted.length - MAX_ISSUES} more errors were truncated`);
    return shown.join("\n");
  }

  #describeOne(issue: Issue): string {
    if (issue.at === NOWHERE) return `ERROR: <input>:-1:0: ${issue.message}`;
    const line = this.#lineStarts.findLastIndex((start) => start <= issue.at);
    const start = this.#lineStarts[line] ?? 0;
    const column = issue.at - start;
    const end = this.#lineStarts[line + 1];
    const text = this.characters
      .slice(start, end === undefined ? undefined : end - 1)
      .map((character) => (character === "\t" ? " " : character));
    const dots = text.slice(0, column).map((character) => (isWide(character) ? "．" : "."));
    const caret = isWide(text[column] ?? "") ? "＾" : "^";
    return `ERROR: <input>:${line + 1}:${column + 1}: ${issue.message}\n | ${text.join("")}\n | ${dots.join("")}${caret}`;
  }
}

function isWide(character: string): boolean {
  return (character.codePointAt(0) ?? 0) > 0x7f;
}
