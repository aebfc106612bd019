/** What `lattice install` and `lattice uninstall` refuse before anything is started. The whole commands run in test/stories/install.test.ts. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nodeProcesses, systemClock } from "#base";
import { reducedCapiCrds } from "#bundle";
import { latticeKinds } from "#crds";
import { startEmbeddedCluster, type EmbeddedCluster, type FixtureObject } from "#embedded-cluster";
import { runCli } from "../../test/builders/cli-io.ts";

const cluster = (name: string, { type = "local", endpoints = "{host: 10.0.0.1, service: {type: ClusterIP}}" } = {}) => `
apiVersion: lattice.dev/v1alpha1
kind: LatticeCluster
metadata: {name: ${name}}
spec:
  provider: {type: ${type}, kubernetes: {version: "1.36.3"}}
  nodes: {controlPlane: 1, workers: 0}
  ${endpoints === "" ? "" : `endpoints: ${endpoints}`}
`;

let cwd: string;
let empty: EmbeddedCluster;
let ready: EmbeddedCluster;
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), "lattice-install-"));
  writeFileSync(join(cwd, "good.yaml"), cluster("prod"));
  writeFileSync(join(cwd, "docker.yaml"), cluster("prod", { type: "docker" }));
  writeFileSync(join(cwd, "leaf.yaml"), cluster("prod", { endpoints: "" }));
  writeFileSync(join(cwd, "bootstrap.yaml"), cluster("lattice-bootstrap"));
  writeFileSync(join(cwd, "wrong.yaml"), cluster("prod").replace("controlPlane: 1", "controlPlane: 2"));
  for (const folder of ["used", "older", "running"]) mkdirSync(join(cwd, folder), { mode: 0o700 });
  writeFileSync(join(cwd, "used", "notes.txt"), "");
  mkdirSync(join(cwd, "older", "data"));
  writeFileSync(
    join(cwd, "running", "up.json"),
    JSON.stringify({ pid: process.pid, process: nodeProcesses.identify(process.pid), processes: [] }),
  );
  empty = await startEmbeddedCluster();
  const kinds = [...latticeKinds.map(({ crd }) => crd()), ...reducedCapiCrds("local")] as unknown as readonly FixtureObject[];
  ready = await startEmbeddedCluster({ objects: kinds });
  writeFileSync(join(cwd, "empty.kubeconfig"), await empty.kubeconfig({ http: true }));
  writeFileSync(join(cwd, "ready.kubeconfig"), await ready.kubeconfig({ http: true }));
});
afterAll(async () => {
  await empty.close();
  await ready.close();
  rmSync(cwd, { recursive: true });
});

type Row = { readonly name: string; readonly argv: string; readonly code: number; readonly want: RegExp };
const FROM = "--bootstrap-kubeconfig ready.kubeconfig --management-kubeconfig prod.kubeconfig";

describe("is refused with one sentence", () => {
  const rows: readonly Row[] = [
    { name: "a file that does not exist", argv: "install -f nothing.yaml", code: 2, want: /nothing\.yaml/ },
    { name: "an invalid file", argv: "install -f wrong.yaml", code: 1, want: /wrong\.yaml.*must be odd[^]*nothing was installed/ },
    { name: "a cluster that is no cell", argv: "install -f leaf.yaml", code: 1, want: /spec\.endpoints of LatticeCluster prod is missing/ },
    { name: "the name of the bootstrap cluster", argv: "install -f bootstrap.yaml", code: 1, want: /the name lattice-bootstrap is used/ },
    {
      name: "a provider that needs a bootstrap cluster",
      argv: "install -f docker.yaml",
      code: 2,
      want: /provider docker needs a bootstrap cluster/,
    },
    {
      name: "an address without a bootstrap cluster",
      argv: "install -f good.yaml --bootstrap-address 1.2.3.4",
      code: 2,
      want: /--bootstrap-address is for a bootstrap cluster/,
    },
    {
      name: "a bootstrap cluster without a kubeconfig of the result",
      argv: "install -f good.yaml --bootstrap-kubeconfig x",
      code: 2,
      want: /needs --management-kubeconfig/,
    },
    {
      name: "a bootstrap cluster and a folder",
      argv: `install -f good.yaml --data-dir x ${FROM}`,
      code: 2,
      want: /--data-dir is for clusters on this machine/,
    },
    {
      name: "a folder with other files",
      argv: "install -f good.yaml --data-dir used",
      code: 2,
      want: /contains other files \(notes\.txt\)/,
    },
    {
      name: "a folder of an older lattice up",
      argv: "install -f good.yaml --data-dir older",
      code: 2,
      want: /has clusters of lattice up already/,
    },
    {
      name: "a folder of a lattice up that runs",
      argv: "install -f good.yaml --data-dir running",
      code: 2,
      want: /lattice up runs in .*stop it with lattice down first/,
    },
    {
      name: "a bootstrap cluster that is not there",
      argv: `install -f good.yaml ${FROM.replace("ready", "no")}`,
      code: 2,
      want: /no\.kubeconfig/,
    },
    {
      name: "a bootstrap cluster without Lattice",
      argv: `install -f good.yaml ${FROM.replace("ready", "empty")}`,
      code: 2,
      want: /the bootstrap cluster has no latticeclusters/,
    },
    {
      name: "a bootstrap cluster without an address",
      argv: `install -f good.yaml ${FROM}`,
      code: 2,
      want: /give the address .* with --bootstrap-address/,
    },
    { name: "one of two kubeconfigs", argv: "uninstall prod --bootstrap-kubeconfig x", code: 2, want: /belong together/ },
    {
      name: "two kubeconfigs and a folder",
      argv: `uninstall prod --data-dir x ${FROM}`,
      code: 2,
      want: /--data-dir is for clusters on this machine/,
    },
    {
      name: "a folder without an installation",
      argv: "uninstall prod --data-dir fresh",
      code: 2,
      want: /has no installed management cluster, and not prod/,
    },
    {
      name: "uninstall in a folder of a lattice up that runs",
      argv: "uninstall prod --data-dir running",
      code: 2,
      want: /stop it with lattice down first/,
    },
    {
      name: "uninstall with a bootstrap cluster without Lattice",
      argv: `uninstall prod ${FROM.replace("ready", "empty")}`,
      code: 2,
      want: /the bootstrap cluster has no latticeclusters/,
    },
  ];
  test.each(rows)("$name", async ({ argv, code, want }) => {
    const run = await runCli(argv.split(" "), { cwd, clock: systemClock });
    expect(run).toMatchObject({ code, stdout: "" });
    expect(run.stderr).toMatch(want);
  });
});
