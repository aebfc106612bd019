import { expect, test } from "vitest";
import { repeatedTypes } from "./names.ts";
import { wordsIn } from "./words.ts";

const found = (file: string, text: string) => wordsIn(file, text).map(({ line, message }) => `${line} ${message.replace(/:.*/, "")}`);

test.each([
  { name: "a comment", text: "const a = 1;\n/** Nobody reads it. */\n", want: ['2 "nobody"'] },
  { name: "a line comment", text: "const a = 1; // as it was told\n", want: ['1 "told"'] },
  { name: "a text", text: 'fail("somebody else owns it");\n', want: ['1 "somebody"'] },
  { name: "a template", text: "fail(`${name} said no`);\n", want: ['1 "said"'] },
  { name: "a test name", text: 'test("a door is closed", () => {});\n', want: ['1 "door"'] },
  { name: "an identifier", text: "const secretShelf = 1;\n", want: ['1 the name secretShelf has the word "shelf"'] },
  { name: "a type", text: "export type Moment = number;\n", want: ['1 the name Moment has the word "moment"'] },
  { name: "words in a comment", text: "// in kubectl's words\n", want: ['1 "words"'] },
])("$name with a word that the project does not use is found", ({ text, want }) => {
  expect(found("src/base/a.ts", text)).toEqual(want);
});

test("a file name and a line of Markdown are read too", () => {
  expect(found("src/base/secret-shelf.ts", "")).toEqual(['1 the name secret-shelf has the word "shelf"']);
  expect(found("docs/a.md", "# A\n\nWhoever asks.\n")).toEqual(['3 "whoever"']);
});

test.each([
  { name: "password", file: "src/base/a.ts", text: "/** The password of a saidoor. */ const password = 1;\n" },
  { name: "word as an identifier", file: "src/base/a.ts", text: "const word = 1;\n" },
  { name: "a shell's words", file: "src/cli/completion/a.ts", text: "// the word before the cursor\n" },
])("$name is no finding", ({ file, text }) => {
  expect(found(file, text)).toEqual([]);
});

test("a type that two files export is a finding in the second", () => {
  const texts = new Map([
    ["src/a/x.ts", "export type Answer = 1;\nexport type Only = 2;\n"],
    ["src/b/y.ts", "type Only = 3;\n\nexport class Answer {}\nexport const answer = 1;\n"],
    ["src/c/z.ts", 'export { type Answer } from "../a/x.ts";\nexport const answer = 2;\n'],
  ]);
  expect(repeatedTypes(texts)).toEqual([
    { file: "src/b/y.ts", line: 3, message: "exports Answer, a name that src/a/x.ts exports too; name the thing in the domain" },
  ]);
});
