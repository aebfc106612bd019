import { describe, expect, it } from "vitest";
import { fileTree } from "../../test/builders/file-tree.ts";
import { formatFinding } from "./finding.ts";
import { checkGenerated } from "./generated.ts";

const content = "# Written by npm run generate\na: 1\n";
const wanted = new Map([["deploy/crds/a.yaml", content]]);

describe("checkGenerated", () => {
  const rows: { name: string; files: Record<string, string>; want: string[] }[] = [
    { name: "passes what is as generated", files: { "deploy/crds/a.yaml": content, "deploy/crds/README.md": "by hand" }, want: [] },
    { name: "names what is missing", files: {}, want: ["deploy/crds/a.yaml  is missing; npm run generate writes it"] },
    {
      name: "names what was edited",
      files: { "deploy/crds/a.yaml": `${content}b: 2\n` },
      want: ["deploy/crds/a.yaml  differs from its source; npm run generate writes it"],
    },
    {
      name: "names what is left over",
      files: { "deploy/crds/a.yaml": content, "deploy/crds/old.yaml": content, "docs/old.yaml": content },
      want: ["deploy/crds/old.yaml  no generator writes it any more; delete it"],
    },
  ];
  it.each(rows)("$name", async ({ files, want }) => {
    expect((await checkGenerated(await fileTree(files), wanted)).map(formatFinding)).toEqual(want);
  });
});
