/** The fenced code blocks of a Markdown document, with the line on which each begins. */
export type DocBlock = {
  readonly language: string;
  /** What follows the language: `continued`, `in=test/kube`. */
  readonly marks: readonly string[];
  /** The line of the first line of code. */
  readonly line: number;
  readonly text: string;
};

const FENCE = /^( *)(`{3,}|~{3,})([^`\n]*)\n([^]*?)^\1\2 *$/gm;

/** The lines of a document; those of code blocks are empty. */
export function withoutBlocks(markdown: string): readonly string[] {
  return markdown.replace(FENCE, (block) => block.replace(/[^\n]/g, "")).split("\n");
}

export function docBlocks(markdown: string): readonly DocBlock[] {
  return [...markdown.matchAll(FENCE)].map((match) => {
    const [, indent = "", , info = "", text = ""] = match;
    const [language = "", ...marks] = info.trim().split(/\s+/);
    const line = markdown.slice(0, match.index).split("\n").length + 1;
    return { language, marks, line, text: text.replace(new RegExp(`^${indent}`, "gm"), "") };
  });
}
