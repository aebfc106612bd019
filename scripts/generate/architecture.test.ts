import { describe, expect, it } from "vitest";
import { expectOk } from "#base";
import { parseLayers } from "../check/layers-file.ts";
import { checkGenerated } from "../check/generated.ts";
import { formatFinding } from "../check/finding.ts";
import { fileTree } from "../../test/builders/file-tree.ts";
import { fillArchitecture, generateArchitecture } from "./architecture.ts";

const PAGE =
  "# A\n<!-- written by `npm run generate` -->\n<!-- generated: folders -->\nold\n<!-- end -->\ntext\n<!-- generated: subfolders -->\n<!-- end -->\n";
const LAYERS = JSON.stringify({
  layers: {
    base: { what: "results", may: [] },
    server: { what: "answers", may: ["base"], pure: true, order: ["store", "rest"] },
  },
});

const fill = (text: string, raw: string) => fillArchitecture(text, expectOk(parseLayers(raw)), (folder) => folder === "base");

describe("ARCHITECTURE.md", () => {
  it("lists every folder of layers.json, and the order of its subfolders", () => {
    expect(fill(PAGE, LAYERS)).toBe(`# A
<!-- written by \`npm run generate\` -->
<!-- generated: folders -->

| folder | what it is | may import |
|---|---|---|
| [base](src/base/README.md) | results | – |
| server (pure) | answers | base |

<!-- end -->
text
<!-- generated: subfolders -->

- server: store, rest

<!-- end -->
`);
  });

  const names = ["a", "b", "c", "d", "e", "f"];
  const rows = [
    { name: "all", may: names, want: "all above" },
    { name: "all but a few", may: names.slice(1), want: "all above but a" },
    { name: "a few", may: ["a"], want: "a" },
  ];
  it.each(rows)("lists what the last of many folders may import: $name", ({ may, want }) => {
    const layers = Object.fromEntries([...names.map((name) => [name, { what: "w", may: [] }]), ["last", { what: "w", may }]]);
    expect(fill(PAGE, JSON.stringify({ layers }))).toContain(`| last | w | ${want} |`);
  });

  it("needs both markers", () => {
    expect(() => fill("# A\n", LAYERS)).toThrow('ARCHITECTURE.md has no "<!-- generated: folders, subfolders -->"');
  });

  it("fails the check while it differs from layers.json", async () => {
    const root = await fileTree({ "layers.json": LAYERS, "ARCHITECTURE.md": PAGE, "src/base/README.md": "# base\n" });
    expect((await checkGenerated(root, generateArchitecture(root))).map(formatFinding)).toEqual([
      "ARCHITECTURE.md  differs from its source; npm run generate writes it",
    ]);
  });
});
