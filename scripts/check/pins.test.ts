import { describe, expect, it } from "vitest";
import { fileTree } from "../../test/builders/file-tree.ts";
import { checkPins } from "./pins.ts";

const manifest = (fields: object) => ({ "package.json": JSON.stringify(fields) });

describe("checkPins", () => {
  const rows: { name: string; files: Record<string, string>; want: string[] }[] = [
    {
      name: "exact versions pass, ranges of engines too",
      files: manifest({
        dependencies: { a: "1.2.3" },
        devDependencies: { b: "1.0.0-rc.1" },
        overrides: { c: { d: "1.0.0" } },
        engines: { node: ">=24" },
      }),
      want: [],
    },
    {
      name: "a caret is refused",
      files: manifest({ dependencies: { a: "^1.2.3" } }),
      want: [`dependencies a is "^1.2.3"; write one exact version`],
    },
    {
      name: "a tag is refused",
      files: manifest({ devDependencies: { a: "latest" } }),
      want: [`devDependencies a is "latest"; write one exact version`],
    },
    {
      name: "a nested override is seen",
      files: manifest({ overrides: { a: { b: "1.x" } } }),
      want: [`overrides a b is "1.x"; write one exact version`],
    },
    {
      name: "a registry's name is refused anywhere",
      files: { "docs/a.md": "see https://registry.npmjs.org/x" },
      want: ["names the registry registry.npmjs.org; remove it, so that npm's configuration decides"],
    },
    {
      name: "a lockfile with the servers of packages is refused",
      files: { "package-lock.json": `{"a": {"resolved": "https://npm.example.com/a.tgz"}}` },
      want: ["names the servers of packages; .npmrc has omit-lockfile-registry-resolved: write it again with npm install"],
    },
    { name: "a registry in .npmrc is refused", files: { ".npmrc": "fund=false\n@a:registry = https://x\n" }, want: ["sets a registry"] },
    { name: "names of images pass", files: { "deploy/a.yaml": "image: ghcr.io/x/y:1\n" }, want: [] },
  ];
  it.each(rows)("$name", async ({ files, want }) => {
    expect((await checkPins(await fileTree(files))).map(({ message }) => message)).toEqual(want);
  });
});
