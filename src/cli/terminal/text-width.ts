/** How many columns of a terminal a text takes, and texts cut or wrapped to a number of columns. */

/** East Asian wide and fullwidth characters, and emoji: two columns each. */
const WIDE =
  /[\u{1100}-\u{115f}\u{2e80}-\u{303e}\u{3041}-\u{a4cf}\u{ac00}-\u{d7a3}\u{f900}-\u{faff}\u{fe30}-\u{fe6f}\u{ff00}-\u{ff60}\u{ffe0}-\u{ffe6}\u{1f300}-\u{1f64f}\u{1f680}-\u{1faff}\u{20000}-\u{3fffd}]/u;
/** Combining marks, joiners and variation selectors: none. */
const NO_WIDTH = /[\p{M}\p{Cf}]/u;
const ASCII = /^[\x20-\x7e]*$/;

export function textWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

function characterWidth(character: string): number {
  if (NO_WIDTH.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

export function padText(text: string, width: number): string {
  return `${text}${" ".repeat(Math.max(0, width - textWidth(text)))}`;
}

/** Lines of at most `width` columns, broken at spaces; a part without spaces that is longer is broken anywhere. */
export function wrapText(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (textWidth(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== "") lines.push(line);
    line = word;
    for (let start = startOf(line, width); start.length < line.length; start = startOf(line, width)) {
      lines.push(start);
      line = line.slice(start.length);
    }
  }
  return [...lines, line];
}

/** At least one character, so that wrapping ends. */
function startOf(text: string, width: number): string {
  let [taken, end] = [0, 0];
  for (const character of text) {
    taken += characterWidth(character);
    if (taken > width && end > 0) break;
    end += character.length;
  }
  return text.slice(0, end);
}
