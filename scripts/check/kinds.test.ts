import { expect, test } from "vitest";
import { projectRoot } from "../process/project.ts";
import { checkKinds, repeatedDeclarations, strayDefinitions } from "./kinds.ts";

const pods = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true };

test("a kind that is declared twice is found", () => {
  const again = repeatedDeclarations([
    ["pods", pods],
    ["podResources", { ...pods }],
    ["podsByMetadata", { ...pods, view: "metadata" }],
    ["podOf", () => pods],
  ]);
  expect(again).toEqual([{ file: "src/kube/kinds/", message: 'podResources declares the kind Pod of "" again; it is pods' }]);
});

test.each([
  { name: "a definition in another folder", text: `const pods = defineResource({ group: "", kind: "Pod", ...rest });`, want: [1] },
  { name: "a function that makes definitions", text: `\nconst core = (kind: string) => defineResource({ kind });`, want: [2] },
  { name: "an object with the same fields", text: `const p = { group: "", version: "v1", kind: "Pod", plural: "pods" };`, want: [1] },
  { name: "an object that only names a path", text: `const p = { group: "", version: "v1", plural: "pods" };`, want: [] },
  { name: "an import", text: `import { defineResource, pods } from "#kube";\nclient.list(pods);`, want: [] },
])("$name", ({ text, want }) => {
  expect(strayDefinitions(new Map([["src/cli/a.ts", text]])).map(({ line }) => line)).toEqual(want);
});

test("files that define kinds at run time are allowed", () => {
  expect(strayDefinitions(new Map([["src/crds/kind.ts", `defineResource({ kind });`]]))).toEqual([]);
});

test("this project declares each kind once", async () => expect(await checkKinds(projectRoot)).toEqual([]), 60_000);
