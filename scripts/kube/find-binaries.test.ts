import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findBinaries, otherVersions } from "./find-binaries.ts";
import { BINARIES } from "./versions.ts";

let root = "";

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "lattice-binaries-"));
});
afterEach(() => rm(root, { recursive: true }));

async function folderWith(name: string, names: readonly string[], says = "v1.36.3"): Promise<string> {
  const folder = join(root, name);
  await mkdir(folder, { recursive: true });
  for (const file of names) await writeFile(join(folder, file), `#!/bin/sh\necho ${says}\n`, { mode: 0o755 });
  return folder;
}

const ALL = BINARIES.map(({ name }) => name);
const ENVTEST = ["etcd", "kube-apiserver", "kubectl"];

test("--bin overrides LATTICE_KUBE_BIN, which overrides KUBEBUILDER_ASSETS", async () => {
  const [a, b, c] = [await folderWith("a", ALL), await folderWith("b", ALL), await folderWith("c", ALL)];
  const environment = { LATTICE_KUBE_BIN: b, KUBEBUILDER_ASSETS: c };
  expect(await findBinaries(a, environment)).toEqual({ kind: "given", folder: a, by: "--bin" });
  expect(await findBinaries(undefined, environment)).toEqual({ kind: "given", folder: b, by: "LATTICE_KUBE_BIN" });
  expect(await findBinaries(undefined, { ...environment, LATTICE_KUBE_BIN: "" })).toMatchObject({ folder: c, by: "KUBEBUILDER_ASSETS" });
});

test("a given folder that lacks a program is an error that names it", async () => {
  const folder = await folderWith("a", ENVTEST);
  const want = { kind: "incomplete", folder, by: "LATTICE_KUBE_BIN", missing: ["kube-controller-manager"] };
  expect(await findBinaries(undefined, { LATTICE_KUBE_BIN: folder })).toEqual(want);
});

test("a file that is not executable is not a program", async () => {
  const folder = await folderWith("a", ENVTEST);
  await writeFile(join(folder, "kube-controller-manager"), "an incomplete download", { mode: 0o644 });
  expect(await findBinaries(folder, {})).toMatchObject({ missing: ["kube-controller-manager"] });
});

test("envtest's folder, which has no controller manager, is skipped with a note", async () => {
  const assets = await folderWith("envtest", ENVTEST);
  const found = await findBinaries(undefined, { KUBEBUILDER_ASSETS: assets, LATTICE_CACHE: root });
  const note = `KUBEBUILDER_ASSETS (${assets}) lacks kube-controller-manager and is not used`;
  expect(found).toEqual({ kind: "cache", folder: join(root, "kube-1.36.3/bin"), complete: false, note });
});

test("the cache is complete with all four programs", async () => {
  await folderWith("kube-1.36.3/bin", ALL);
  expect(await findBinaries(undefined, { LATTICE_CACHE: root })).toMatchObject({ kind: "cache", complete: true });
});

test("programs of another version are named", async () => {
  const folder = await folderWith("old", ALL, "v1.35.0");
  expect(await otherVersions(folder)).toContain("kubectl is 1.35.0; the stories were written for 1.36.3");
});
