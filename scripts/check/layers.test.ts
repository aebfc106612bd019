import { describe, expect, it } from "vitest";
import { fileTree } from "../../test/builders/file-tree.ts";
import { checkLayers } from "./layers.ts";

const good = {
  "layers.json": JSON.stringify({ layers: { base: { may: [] }, kube: { may: ["base"], pure: true } } }),
  "package.json": JSON.stringify({ imports: { "#base": { default: "./src/base/index.ts" } }, dependencies: { zod: "1.0.0" } }),
  "src/base/index.ts": "export const a = 1;\n",
  "src/kube/index.ts": `import { a } from "#base";\nimport "zod";\nexport const b = a;\n`,
};

describe("checkLayers", () => {
  it("finds nothing in a tree that keeps the rules", async () => {
    expect(await checkLayers(await fileTree(good))).toEqual([]);
  });

  const rows: { name: string; add: Record<string, string>; want: object }[] = [
    {
      name: "a forbidden import, with its place",
      add: { "src/base/b.ts": `\nimport "#kube";\n` },
      want: { file: "src/base/b.ts", line: 2, message: "base may not import kube (layers.json)" },
    },
    {
      name: "a folder that is not in layers.json",
      add: { "src/extra/a.ts": "" },
      want: { file: "src/extra", message: "is not in layers.json" },
    },
    {
      name: "a file without a folder",
      add: { "src/loose.ts": "" },
      want: { file: "src/loose.ts", message: "is directly in src; move it to a folder" },
    },
    {
      name: "an alias without a file",
      add: { "package.json": JSON.stringify({ imports: { "#gone": { default: "./src/gone/index.ts" } }, dependencies: { zod: "1.0.0" } }) },
      want: { file: "package.json", message: "imports #gone: ./src/gone/index.ts does not exist" },
    },
    {
      name: "a broken layers.json",
      add: { "layers.json": JSON.stringify({ layers: { base: { may: ["kube"] } } }) },
      want: { file: "layers.json", message: "base may import kube, which does not stand above it in layers.json" },
    },
  ];
  it.each(rows)("finds $name", async ({ add, want }) => {
    expect(await checkLayers(await fileTree({ ...good, ...add }))).toEqual([want]);
  });
});
