import { describe, expect, it } from "vitest";
import { latticeKinds } from "#crds";
import { parseJson, parseYaml } from "#kube";
import { fillPage, generateCrdFiles } from "./crds.ts";
import { isGenerated } from "./generated-files.ts";

const [kind] = latticeKinds;
if (kind === undefined) throw new Error("there are no kinds");

describe("generateCrdFiles", () => {
  const files = generateCrdFiles();

  it("writes a manifest, a schema and a page for each kind", () => {
    expect(files.size).toBe(3 * latticeKinds.length);
    expect([...files.keys()].filter((path) => path.includes("cluster"))).toEqual([
      "deploy/crds/latticeclusters.yaml",
      "deploy/schemas/latticecluster.json",
      "docs/resources/latticecluster.md",
    ]);
  });

  it("writes YAML and JSON that can be read back", () => {
    for (const { plural, kind: name, crd, jsonSchema } of latticeKinds) {
      expect(parseYaml(files.get(`deploy/crds/${plural}.yaml`) ?? "")).toEqual({ ok: true, value: [crd()] });
      expect(parseJson(files.get(`deploy/schemas/${name.toLowerCase()}.json`) ?? "")).toMatchObject({ ok: true, value: jsonSchema() });
    }
  });

  it("marks every file, so that obsolete files can be found", () => {
    for (const [path, content] of files) expect(isGenerated(content), path).toBe(true);
  });

  it("gives a row to every field in the page of its kind", () => {
    for (const { kind: name, fields } of latticeKinds) {
      const page = files.get(`docs/resources/${name.toLowerCase()}.md`) ?? "";
      for (const { path } of fields().filter((row) => row.path.includes("."))) expect(page, name).toContain(`| \`${path}\` |`);
    }
  });
});

describe("fillPage", () => {
  const page = (what: string) =>
    `before\n<!-- generated: fields -->\n<!-- end -->\nbetween\n<!-- generated: ${what} -->\nold\n<!-- end -->\nafter\n`;

  it("keeps the text outside the markers", () => {
    const filled = fillPage("page.md", page("example a.yaml"), kind, () => "kind: A\n");
    expect(filled).toMatch(/^before\n<!-- generated: fields -->\n\| field \|/);
    expect(filled).toContain("<!-- end -->\nbetween\n<!-- generated: example a.yaml -->\n```yaml\nkind: A\n```\n<!-- end -->\nafter\n");
    expect(fillPage("page.md", filled, kind, () => "kind: A\n")).toBe(filled);
  });

  it("keeps an example's dollar signs", () => {
    expect(fillPage("page.md", page("example a.yaml"), kind, () => "a: ${b} $& $1\n")).toContain("a: ${b} $& $1\n");
  });

  it("refuses a page without a marker for the fields", () => {
    expect(() => fillPage("page.md", "nothing", kind)).toThrow('page.md has no line "<!-- generated: fields -->"');
  });

  it("refuses an unknown marker", () => {
    expect(() => fillPage("page.md", page("example ../../secret"), kind)).toThrow('page.md asks for "example ../../secret"');
  });
});
