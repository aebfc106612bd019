import { expect, test } from "vitest";
import { projectRoot } from "../process/project.ts";
import { checkExports, exportProblems } from "./exports.ts";

const messages = (files: Readonly<Record<string, string>>) =>
  exportProblems(new Map(Object.entries({ "src/bin/lattice.ts": `import { run } from "#cli"; run();`, ...files }))).map(
    ({ file, message }) => `${file ?? ""} ${message}`,
  );
const CLI = { "src/cli/index.ts": `export { run } from "./run.ts";` };
const DEAD = "which no other file imports; do not export it, or delete it";

test.each([
  { name: "an export that is used through an index", files: { ...CLI, "src/cli/run.ts": "export function run() {}" }, want: [] },
  {
    name: "a function that no file imports",
    files: { ...CLI, "src/cli/run.ts": "export function run() {}\nexport const more = 1;" },
    want: [`src/cli/run.ts exports more, ${DEAD}`],
  },
  {
    name: "a name that only an index exports again",
    files: { "src/cli/index.ts": `export { run, more } from "./run.ts";`, "src/cli/run.ts": "export const run = () => 1, more = 1;" },
    want: [`src/cli/index.ts exports more, ${DEAD}`, `src/cli/run.ts exports more, ${DEAD}`],
  },
  { name: "a type that no file imports", files: { ...CLI, "src/cli/run.ts": "export type A = 1; export const run = () => 1;" }, want: [] },
  {
    name: "a module that is imported as a whole",
    files: {
      ...CLI,
      "src/cli/run.ts": `import * as all from "./all.ts"; export const run = () => all;`,
      "src/cli/all.ts": "export const a = 1;",
    },
    want: [],
  },
  {
    name: "a module that is imported when it is needed",
    files: { ...CLI, "src/cli/run.ts": `export const run = () => import("./all.ts");`, "src/cli/all.ts": "export class A {}" },
    want: [],
  },
  {
    name: "a fixture that tests import",
    files: {
      ...CLI,
      "src/cli/run.ts": "export const run = () => 1;",
      "src/cli/fixture.ts": "export const a = 1;",
      "src/cli/run.test.ts": `import { a } from "./fixture.ts";`,
    },
    want: ["src/cli/fixture.ts is imported by tests only; name it *.test-support.ts, or delete it"],
  },
  {
    name: "the exports of a public entry point",
    files: { ...CLI, "src/cli/run.ts": "export const run = 1;", "src/patch/index.ts": "export const a = 1;" },
    want: [],
  },
])("$name", ({ files, want }) => expect(messages(files as Record<string, string>)).toEqual(want));

test("this project exports nothing in vain", async () => expect(await checkExports(projectRoot)).toEqual([]), 60_000);
