import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bundleSources } from "../../test/builders/bundle-sources.ts";
import { runCli } from "../../test/builders/cli-io.ts";

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "lattice-bundle-cli-"));
  for (const { name, files } of bundleSources()) writeFileSync(join(cwd, `${name}.src.yaml`), files[0]?.text ?? "");
});
afterEach(() => rmSync(cwd, { recursive: true }));

const names = bundleSources().map(({ name }) => name);
const from = ["--from", ...names.map((name) => `${name}=${name}.src.yaml`)];
const pins = ["--pin", ...names.map((name) => `${name}=v1`)];
const run = (...args: string[]) => runCli(["bundle", ...args], { cwd });

test("a bundle is made, checked, and its result is JSON for programs", async () => {
  const made = await run("--out", "made", ...from, ...pins, "-o", "json");
  expect(made).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(made.stdout)).toMatchObject({ folder: "made", components: names.map((name) => ({ name, version: "v1" })) });
  expect(await run("--check", "made")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("made: 5 components, digests match") as string,
  });
});

test("a folder is a component; its files that are not manifests are reported", async () => {
  mkdirSync(join(cwd, "network/more"), { recursive: true });
  writeFileSync(join(cwd, "network/b.yaml"), readFileSync(join(cwd, "cilium.src.yaml")));
  writeFileSync(
    join(cwd, "network/more/a.json"),
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"kube-system"}}',
  );
  writeFileSync(join(cwd, "network/README.md"), "");
  symlinkSync("/etc/passwd", join(cwd, "network/link.yaml"));
  const given = from.map((text) => (text.startsWith("cilium=") ? "cilium=network" : text));
  const made = await run("--out", "made", ...given, ...pins);
  expect(made.stdout).toContain("cilium v1: 4 objects");
  expect(made.stderr).toBe(
    "warning: left out: network/README.md, which is not a manifest\nwarning: left out: network/link.yaml, which is not a manifest\n",
  );
});

test("a changed bundle is exit code 1, a missing one 2", async () => {
  await run("--out", "made", ...from, ...pins);
  writeFileSync(join(cwd, "made/cilium.yaml"), "a: 1\n");
  expect(await run("--check", "made")).toMatchObject({ code: 1, stderr: expect.stringContaining("cilium.yaml was changed") as string });
  expect(await run("--check", "nowhere")).toMatchObject({ code: 2, stderr: "lattice: nowhere: there is no such folder\n" });
});

describe("a mistake is exit code 2 with one sentence, and writes nothing", () => {
  const rows: { name: string; args: string[]; want: string }[] = [
    { name: "neither --out nor --check", args: [], want: "use either --out FOLDER" },
    { name: "both", args: ["--out", "a", "--check", "b"], want: "use either --out FOLDER" },
    {
      name: "a version that is missing",
      args: ["--out", "a", ...from],
      want: "component cluster-api has no version; add --pin cluster-api=VERSION",
    },
    { name: "a version of another component", args: ["--out", "a", ...from, ...pins, "x=1"], want: "--pin x: there is no --from for it" },
    { name: "no NAME=", args: ["--out", "a", "--from", "x"], want: '--from: "x" is not NAME=VALUE' },
    { name: "a component twice", args: ["--out", "a", ...from, "cilium=x"], want: "--from: cilium is given twice" },
    {
      name: "a file that is missing",
      args: ["--out", "a", "--from", "cilium=x", "--pin", "cilium=1"],
      want: "x: there is no such file or folder",
    },
    {
      name: "a folder without manifests",
      args: ["--out", "a", "--from", "cilium=empty", "--pin", "cilium=1"],
      want: "empty: the folder has no .yaml",
    },
    { name: "a mirror that is none", args: ["--out", "a", ...from, ...pins, "--mirror", "x"], want: '--mirror: "x" is not FROM=TO' },
    { name: "a variable without a value", args: ["--out", "a", ...from, ...pins, "--set", "x"], want: '--set: "x" is not NAME=VALUE' },
    {
      name: "a component that is missing",
      args: ["--out", "a", "--from", "cilium=cilium.src.yaml", "--pin", "cilium=1"],
      want: "component cluster-api is missing",
    },
    { name: "a folder that is not empty", args: ["--out", "full", ...from, ...pins], want: "full cannot be written: it is not empty" },
    {
      name: "text that is not UTF-8",
      args: ["--out", "a", "--from", "cilium=bytes.yaml", "--pin", "cilium=1"],
      want: "bytes.yaml: is no UTF-8 text",
    },
  ];
  test.each(rows)("$name", async ({ args, want }) => {
    for (const folder of ["empty", "full"]) mkdirSync(join(cwd, folder));
    writeFileSync(join(cwd, "full/x"), "");
    writeFileSync(join(cwd, "bytes.yaml"), Buffer.of(0xff));
    expect(await run(...args)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(want) as string });
    expect(() => readFileSync(join(cwd, "a/bundle.json"))).toThrow();
  });
});
