import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectOk } from "#base";
import { parseYaml } from "#kube";
import { runCli } from "../../test/builders/cli-io.ts";

const GUIDE = "docs/guides/patches";
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "lattice-patch-"));
  const widget = { apiVersion: "example.org/v1", kind: "Widget", spec: { parts: [{ id: "a", size: 1 }], tags: ["x"] } };
  const parts = {
    type: "array",
    items: { type: "object", properties: { id: { type: "string" }, size: { type: "integer" } } },
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["id"],
  };
  const schema = { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties: { parts } } } } };
  const crd = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    spec: { group: "example.org", names: { kind: "Widget" }, versions: [{ name: "v1", schema }] },
  };
  writeFileSync(join(folder, "widget.yaml"), JSON.stringify(widget));
  writeFileSync(join(folder, "crd.yaml"), JSON.stringify(crd));
  writeFileSync(join(folder, "two.yaml"), "a: 1\n---\nb: 2\n");
  writeFileSync(join(folder, "broken.yaml"), "a: [1\n");
});
afterAll(() => rmSync(folder, { recursive: true }));

const patch = (...argv: string[]) => runCli(["patch", ...argv], { cwd: process.cwd() });
const inFolder = (...argv: string[]) => runCli(["patch", ...argv], { cwd: folder });

describe("lattice patch", () => {
  it("has the result that the guide shows", async () => {
    const { code, stdout, stderr } = await patch("-f", `${GUIDE}/deployment.yaml`, "-p", `${GUIDE}/patch.yaml`);
    const [result] = expectOk(parseYaml(stdout)) as { spec: { template: { spec: { containers: { name: string }[] } } } }[];
    expect(code).toBe(0);
    expect(result?.spec.template.spec.containers.map(({ name }) => name)).toEqual(["metrics", "web", "proxy"]);
    expect(stderr).toContain("spec.template.spec.containers: merged by name; added metrics; changed web; kept proxy\n");
    expect(stderr).toContain("spec.template.spec.containers[web].args: replaced; added --quiet; removed --verbose\n");
  });

  it.each([
    {
      name: "a merge patch, given as text",
      argv: ["--type", "merge", "-p", "{spec: {tags: null}}"],
      want: { spec: { parts: [{ id: "a", size: 1 }] } },
    },
    {
      name: "a JSON patch",
      argv: ["--type", "json", "-p", '[{op: add, path: /spec/tags/-, value: "y"}]'],
      want: { spec: { tags: ["x", "y"] } },
    },
    {
      name: "a custom resource by its list types",
      argv: ["--schema", "crd.yaml", "-p", "{spec: {parts: [{id: b, size: 2}]}}"],
      want: {
        spec: {
          parts: [
            { id: "a", size: 1 },
            { id: "b", size: 2 },
          ],
        },
      },
    },
  ])("applies $name", async ({ argv, want }) => {
    const { code, stdout } = await inFolder("-f", "widget.yaml", "-o", "json", ...argv);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject(want);
  });

  it.each([
    {
      name: "a custom resource without its CRD",
      argv: ["-f", "widget.yaml", "-p", "{}"],
      want: "API servers refuse strategic merge patches of custom resources (415)",
    },
    {
      name: "a patch that a server refuses",
      argv: ["-f", "widget.yaml", "--type", "json", "-p", "[{op: remove, path: /nope}]"],
      want: "HTTP 422",
    },
    { name: "a missing file", code: 2, argv: ["-f", "nowhere.yaml", "-p", "{}"], want: "nowhere.yaml: there is no such file" },
    { name: "invalid YAML, with its position", code: 2, argv: ["-f", "broken.yaml", "-p", "{}"], want: "broken.yaml:2:1" },
    { name: "two documents", code: 2, argv: ["-f", "two.yaml", "-p", "{}"], want: "must contain one document, and contains 2" },
    { name: "an object without a kind", argv: ["-f", "-", "-p", "{}"], want: "so how its lists merge is unknown" },
    {
      name: "a document that is not an object",
      code: 2,
      argv: ["-f", "widget.yaml", "-p", "{}", "--schema", "-"],
      want: "does not contain a CustomResourceDefinition",
    },
  ])("refuses $name with the reason", async ({ argv, want, code = 1 }) => {
    const run = await runCli(["patch", ...argv], { cwd: folder, input: argv.includes("--schema") ? "[]" : "{a: 1}" });
    expect(run).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(want) as string });
  });

  it("shortens long lists of names", async () => {
    const env = Array.from({ length: 12 }, (_, n) => ({ name: `V${n}`, value: "1" }));
    const { stderr } = await patch(
      "-f",
      `${GUIDE}/deployment.yaml`,
      "-p",
      JSON.stringify({ spec: { template: { spec: { containers: [{ name: "web", env }] } } } }),
    );
    expect(stderr).toContain("V7 and 4 more; kept LOG_LEVEL");
  });
});
