/** A folder that `lattice install` or `lattice uninstall` refuses stays as it was, byte for byte. */
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { nodeProcesses, systemClock } from "#base";
import { addFiles, fileTree } from "../../../test/builders/file-tree.ts";
import { runCli } from "../../../test/builders/cli-io.ts";

const FILE = `
apiVersion: lattice.dev/v1alpha1
kind: LatticeCluster
metadata: {name: prod}
spec:
  provider: {type: local, kubernetes: {version: "1.36.3"}}
  nodes: {controlPlane: 1, workers: 0}
  endpoints: {host: 10.0.0.1, service: {type: ClusterIP}}
`;
const MARKER = "lattice-local-cluster";
const OLDER = { [MARKER]: "This folder holds a local cluster of Lattice. `lattice down --purge` deletes it.\n", "data/log": "state" };
const current = (lines: string) => ({
  [MARKER]: `This folder holds local clusters of Lattice. \`lattice down --purge\` deletes it.\nlayout: 2\n${lines}`,
});
const stateOf = (name: string) => ({ [`clusters/${name}/cluster.json`]: "{}", [`clusters/${name}/data/log`]: "state" });
const self = { pid: process.pid, process: nodeProcesses.identify(process.pid) };

const INSTALL = ["install", "-f", "prod.yaml"];
const uninstall = (name: string) => ["uninstall", name];

type Row = {
  readonly name: string;
  readonly argv: readonly string[];
  /** Undefined: the folder does not exist. */ readonly files: Readonly<Record<string, string>> | undefined;
  readonly want: RegExp;
};
const rows: readonly Row[] = [
  {
    name: "install: one cluster of lattice up",
    argv: INSTALL,
    files: { ...current(""), ...stateOf("mgmt") },
    want: /has clusters of lattice up already/,
  },
  {
    name: "install: one cluster of lattice up that has no state yet",
    argv: INSTALL,
    files: { ...current(""), "clusters/mgmt/cluster.json": "{}" },
    want: /has clusters of lattice up already/,
  },
  {
    name: "install: clusters without services",
    argv: INSTALL,
    files: { ...current("content: empty\n"), ...stateOf("mgmt"), ...stateOf("cluster-2") },
    want: /has clusters of lattice up already/,
  },
  {
    name: "install: the laptop fleet",
    argv: INSTALL,
    files: { ...current("content: laptop\n"), ...stateOf("mgmt") },
    want: /has clusters of lattice up already/,
  },
  {
    name: "install: another installation",
    argv: INSTALL,
    files: { ...current("content: installed\nmanagement: other\n"), ...stateOf("other") },
    want: /has the management cluster other; choose another folder/,
  },
  { name: "install: a cluster in the older layout", argv: INSTALL, files: OLDER, want: /has clusters of lattice up already/ },
  {
    name: "install: a folder that a process uses",
    argv: INSTALL,
    files: { ...current("content: installed\nmanagement: prod\n"), "up.json": JSON.stringify({ ...self, processes: [] }) },
    want: /lattice up runs in .*stop it with lattice down first/,
  },
  {
    name: "install: a folder whose lock a process has",
    argv: INSTALL,
    files: { ...current("content: installed\nmanagement: prod\n"), "up.lock": JSON.stringify({ ...self, since: "now" }) },
    want: /lattice up runs in .* already/,
  },
  { name: "uninstall: a folder that does not exist", argv: uninstall("prod"), files: undefined, want: /no installed management cluster/ },
  { name: "uninstall: an empty folder", argv: uninstall("prod"), files: {}, want: /no installed management cluster/ },
  { name: "uninstall: a cluster in the older layout", argv: uninstall("prod"), files: OLDER, want: /no installed management cluster/ },
  {
    name: "uninstall: one cluster of lattice up",
    argv: uninstall("prod"),
    files: { ...current(""), ...stateOf("mgmt") },
    want: /no installed management cluster/,
  },
  {
    name: "uninstall: one cluster of lattice up, by its name",
    argv: uninstall("mgmt"),
    files: { ...current(""), ...stateOf("mgmt") },
    want: /no installed management cluster/,
  },
  {
    name: "uninstall: clusters without services",
    argv: uninstall("prod"),
    files: { ...current("content: empty\n"), ...stateOf("mgmt") },
    want: /no installed management cluster/,
  },
  {
    name: "uninstall: another cluster than that of the laptop fleet",
    argv: uninstall("prod"),
    files: { ...current("content: laptop\n"), ...stateOf("mgmt") },
    want: /has the management cluster mgmt, and not prod/,
  },
  {
    name: "uninstall: another installation",
    argv: uninstall("prod"),
    files: { ...current("content: installed\nmanagement: other\n"), ...stateOf("other") },
    want: /has the management cluster other, and not prod/,
  },
];

test.each(rows)("$name", async ({ argv, files, want }) => {
  const cwd = await fileTree({ "prod.yaml": FILE });
  const folder = join(cwd, "fleet");
  if (files !== undefined) mkdirSync(folder, { mode: 0o700 });
  await addFiles(folder, files ?? {});
  const before = contentsOf(folder);
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const run = await runCli([...argv, "--data-dir", "fleet"], { cwd, clock: systemClock, signal: stop.signal });
  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toMatch(want);
  expect(contentsOf(folder)).toEqual(before);
});

/** Names, modes and contents. */
function contentsOf(folder: string): Readonly<Record<string, string>> | undefined {
  if (!existsSync(folder)) return undefined;
  const names = ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" })];
  return Object.fromEntries(
    names.map((name) => {
      const path = join(folder, name);
      const info = lstatSync(path);
      return [name, `${info.mode.toString(8)} ${info.isDirectory() ? "" : readFileSync(path, "utf8")}`];
    }),
  );
}
