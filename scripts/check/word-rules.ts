/**
 * Words that the project does not use, with what to write instead, and the few files in which such a word is a noun of the domain.
 *
 * `comments`: in comments, in Markdown and in texts (strings and templates). `everywhere`: also as a part of an identifier or of a file name.
 */
export type WordRule = { readonly words: readonly string[]; readonly where: "everywhere" | "comments"; readonly instead: string };

export const WORD_RULES: readonly WordRule[] = [
  { words: ["somebody", "someone", "nobody", "whoever"], where: "everywhere", instead: "name the client, caller, user or component" },
  { words: ["told", "said"], where: "everywhere", instead: "write reported, requested, declared, received or sent" },
  { words: ["door", "doors", "shelf", "shelves"], where: "everywhere", instead: "name the port, endpoint, edge, cache or interface" },
  { words: ["moment", "moments"], where: "everywhere", instead: "write time, timestamp or instant" },
  { words: ["word", "words"], where: "comments", instead: "write name, text, message, term, value or token" },
];

export type WordException = { readonly file: RegExp; readonly words: readonly string[]; readonly why: string };

export const WORD_EXCEPTIONS: readonly WordException[] = [
  { file: /^scripts\/check\/((find-)?word|gate\.test)/, words: ["*"], why: "the list and its tests" },
  { file: /^scripts\/check\/parts\.ts$/, words: ["words"], why: "the name of the check" },
  { file: /^src\/cli\/completion[/.]/, words: ["word", "words"], why: "a shell splits a command line into words" },
  { file: /^CHANGELOG\.md$/, words: ["*"], why: "entries of earlier releases are not rewritten" },
];

export function isExcepted(file: string, word: string): boolean {
  return WORD_EXCEPTIONS.some(
    (exception) => exception.file.test(file) && (exception.words.includes("*") || exception.words.includes(word)),
  );
}
