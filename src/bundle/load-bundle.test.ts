import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { expectOk, sha256Hex } from "#base";
import { bundleSources } from "../../test/builders/bundle-sources.ts";
import { loadBundle } from "./load-bundle.ts";
import { makeBundle } from "./make-bundle.ts";

const made = expectOk(makeBundle(bundleSources(), { mirrors: [], variables: new Map() }));
type Manifest = { format: unknown; components: Record<string, unknown>[] };
const manifest = (): Manifest => JSON.parse(made.files.get("bundle.json") ?? "") as Manifest;

let folder: string;
const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
const writeManifest = (change: (given: Manifest) => void) => {
  const changed = manifest();
  change(changed);
  write("bundle.json", JSON.stringify(changed));
};
/** Changes a field of the first component, cluster-api. */
const writeField = (name: string, value: unknown) =>
  writeManifest(({ components: [first] }) => Object.assign(first ?? {}, { [name]: value }));
/** Another text with a correct digest. */
const replaceText = (text: string, images: readonly string[] = []) => {
  write("cluster-api.yaml", text);
  writeManifest(({ components: [first] }) => Object.assign(first ?? {}, { sha256: sha256Hex(text), images }));
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lattice-bundle-"));
  for (const [file, text] of made.files) write(file, text);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a bundle is loaded with the objects, versions and images that it was made of", () => {
  const { components } = expectOk(loadBundle(folder));
  expect([...components.keys()]).toEqual(made.entries.map(({ name }) => name));
  const core = components.get("cluster-api");
  expect(core).toMatchObject({ version: "v1.0.0", images: ["registry.k8s.io/cluster-api/cluster-api-controller:v1.14.2"] });
  expect(core?.objects.map(({ kind }) => kind)).toContain("CustomResourceDefinition");
});

describe("a bundle is refused with one sentence", () => {
  const rows: { name: string; change: () => void; want: string }[] = [
    { name: "a changed file", change: () => write("cilium.yaml", "a: 1\n"), want: "cilium.yaml was changed after the bundle was made" },
    { name: "a foreign file", change: () => write("notes.txt", ""), want: "notes.txt is not part of the bundle; remove it" },
    { name: "a missing file", change: () => rmSync(join(folder, "cilium.yaml")), want: "cilium.yaml: cannot be read (ENOENT)" },
    { name: "no bundle.json", change: () => rmSync(join(folder, "bundle.json")), want: "has no bundle.json; make it with lattice bundle" },
    { name: "no folder", change: () => rmSync(folder, { recursive: true }), want: "cannot be read (ENOENT); make it with lattice bundle" },
    { name: "a manifest that is not JSON", change: () => write("bundle.json", "{"), want: "bundle.json: not JSON" },
    { name: "another format", change: () => writeManifest((it) => (it.format = 2)), want: "bundle.json: format: must be 1" },
    { name: "no components", change: () => write("bundle.json", '{"format":1}'), want: "bundle.json: components: must be a list" },
    {
      name: "a component that is no object",
      change: () => write("bundle.json", '{"format":1,"components":[1]}'),
      want: "components[0]: must be",
    },
    { name: "a name that is no text", change: () => writeField("name", 1), want: "components[0].name: must be text" },
    { name: "an unknown name", change: () => writeField("name", "__proto__"), want: 'components[0].name: "__proto__" is not a component' },
    { name: "a bad version", change: () => writeField("version", ""), want: "components[0].version: must be a version" },
    { name: "a path as file", change: () => writeField("file", "../x.yaml"), want: "components[0].file: must be cluster-api.yaml" },
    { name: "a bad digest", change: () => writeField("sha256", "x"), want: "components[0].sha256: must be 64 hexadecimal digits" },
    { name: "no images", change: () => writeField("images", [1]), want: "components[0].images: must be a list of text" },
    {
      name: "other images",
      change: () => writeField("images", ["evil:1"]),
      want: "cluster-api.yaml has other images than bundle.json lists",
    },
    {
      name: "a component twice",
      change: () => writeManifest((it) => it.components.push(...it.components)),
      want: "bundle.json: component cluster-api is there twice",
    },
    {
      name: "a YAML bomb with a correct digest",
      change: () => replaceText("a: &a [x, x]\nb: [*a, *a]\n"),
      want: "aliases are not accepted",
    },
    { name: "YAML that is no object", change: () => replaceText("a: 1\n"), want: "cluster-api.yaml: a document is not an object" },
    { name: "a large manifest", change: () => write("bundle.json", " ".repeat(1024 * 1024 + 1)), want: "is larger than 1 MiB" },
    {
      name: "a link",
      change: () => {
        rmSync(join(folder, "cilium.yaml"));
        symlinkSync("/etc/passwd", join(folder, "cilium.yaml"));
      },
      want: "cilium.yaml: cannot be read (ELOOP)",
    },
    {
      name: "a folder in place of a file",
      change: () => {
        rmSync(join(folder, "cilium.yaml"));
        mkdirSync(join(folder, "cilium.yaml"));
      },
      want: "cilium.yaml: is not a regular file",
    },
  ];
  test.each(rows)("$name", ({ change, want }) => {
    change();
    const refused = loadBundle(folder);
    expect(refused).toMatchObject({ ok: false, error: { kind: "folder", message: expect.stringContaining(want) as string } });
  });

  test("a missing component", () => {
    rmSync(join(folder, "cilium.yaml"));
    writeManifest((it) => it.components.pop());
    const message = `bundle ${folder}: component cilium is missing; make it again with lattice bundle`;
    expect(loadBundle(folder)).toEqual({ ok: false, error: { kind: "missing", message } });
  });
});
