/** What `lattice install` and `lattice uninstall` refuse before anything is started. The whole commands run in test/stories/install.test.ts. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk, nodeProcesses, systemClock } from "#base";
import { makeBundle, reducedCapiCrds } from "#bundle";
import { latticeKinds } from "#crds";
import { startEmbeddedCluster, type EmbeddedCluster, type FixtureObject } from "#embedded-cluster";
import { configMaps } from "#kube";
import { bundleSources } from "../../test/builders/bundle-sources.ts";
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
  for (const provider of ["docker", "aws"]) {
    const sources = bundleSources().map((source) => ({ ...source, name: source.name.replace("docker", provider) }));
    mkdirSync(join(cwd, `${provider}-bundle`));
    for (const [file, text] of expectOk(makeBundle(sources, { mirrors: [], variables: new Map() })).files)
      writeFileSync(join(cwd, `${provider}-bundle`, file), text);
  }
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
  writeFileSync(join(cwd, "gone.kubeconfig"), (await empty.kubeconfig({ http: true })).replace(/127\.0\.0\.1:[0-9]+/g, "127.0.0.1:9"));
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
      want: /provider docker needs a bootstrap cluster: give one with --bootstrap-kubeconfig .* there is no program kind on PATH/,
    },
    {
      name: "an address without a bootstrap cluster",
      argv: "install -f good.yaml --bootstrap-address 1.2.3.4",
      code: 2,
      want: /--bootstrap-address is for a bootstrap cluster/,
    },
    {
      name: "a bundle for an embedded bootstrap cluster",
      argv: "install -f good.yaml --bundle x",
      code: 2,
      want: /--bundle is for a bootstrap cluster of --bootstrap kind or --bootstrap-kubeconfig/,
    },
    {
      name: "kind without the program",
      argv: "install -f docker.yaml --bootstrap kind",
      code: 2,
      want: /there is no program kind on PATH/,
    },
    {
      name: "an embedded bootstrap cluster for machines elsewhere",
      argv: "install -f docker.yaml --bootstrap embedded",
      code: 2,
      want: /makes clusters of provider local, and not docker/,
    },
    {
      name: "two bootstrap clusters",
      argv: `install -f good.yaml --bootstrap kind ${FROM}`,
      code: 2,
      want: /leave out --bootstrap kind/,
    },
    {
      name: "machines elsewhere without a bundle",
      argv: `install -f docker.yaml ${FROM.replace("ready", "empty")}`,
      code: 2,
      want: /give a bundle with provider docker with --bundle/,
    },
    {
      name: "a folder that is no bundle",
      argv: `install -f docker.yaml --bundle used ${FROM.replace("ready", "empty")}`,
      code: 2,
      want: /--bundle: /,
    },
    {
      name: "a bundle without the provider",
      argv: `install -f docker.yaml --bundle aws-bundle ${FROM.replace("ready", "empty")}`,
      code: 2,
      want: /--bundle: the bundle has no component infrastructure-docker/,
    },
    {
      name: "machines elsewhere without an address",
      argv: `install -f docker.yaml --bundle docker-bundle ${FROM.replace("ready", "empty")}`,
      code: 2,
      want: /give an address of this machine that they reach with --bootstrap-address/,
    },
    {
      name: "a bootstrap cluster that does not answer",
      argv: `install -f good.yaml ${FROM.replace("ready", "gone")}`,
      code: 2,
      want: /the bootstrap cluster cannot be reached/,
    },
    {
      name: "a bundle for a bootstrap cluster that has Lattice",
      argv: `install -f docker.yaml --bundle docker-bundle ${FROM}`,
      code: 2,
      want: /leave out --bundle/,
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
      name: "a bootstrap cluster without an address",
      argv: `install -f good.yaml ${FROM}`,
      code: 2,
      want: /give the address .* with --bootstrap-address/,
    },
    {
      name: "one of two kubeconfigs",
      argv: "uninstall prod --bootstrap-kubeconfig x",
      code: 2,
      want: /--bootstrap-kubeconfig needs --management-kubeconfig/,
    },
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
      name: "uninstall of a cluster whose kubeconfig does not exist",
      argv: `uninstall prod ${FROM.replace("ready", "empty")}`,
      code: 2,
      want: /--management-kubeconfig: prod\.kubeconfig does not exist; give the file with the kubeconfig of prod/,
    },
    {
      name: "uninstall of a cluster whose kubeconfig does not exist, with a bootstrap cluster that has Lattice",
      argv: `uninstall prod ${FROM}`,
      code: 2,
      want: /--management-kubeconfig: prod\.kubeconfig does not exist; give the file with the kubeconfig of prod/,
    },
    {
      name: "uninstall with a folder as kubeconfig",
      argv: `uninstall prod ${FROM.replace("prod.kubeconfig", "used")}`,
      code: 2,
      want: /--management-kubeconfig: .*used/,
    },
    {
      name: "uninstall with a file that is no kubeconfig",
      argv: `uninstall prod ${FROM.replace("prod.kubeconfig", "good.yaml")}`,
      code: 2,
      want: /--management-kubeconfig: .*good\.yaml/,
    },
    {
      name: "uninstall with kind, without the program",
      argv: "uninstall prod --management-kubeconfig prod.kubeconfig",
      code: 2,
      want: /a cluster with a kubeconfig needs a bootstrap cluster/,
    },
  ];
  test.each(rows)("$name", async ({ argv, code, want }) => {
    const run = await runCli(argv.split(" "), { cwd, clock: systemClock });
    expect(run).toMatchObject({ code, stdout: "" });
    expect(run.stderr).toMatch(want);
    expect(empty.peek(configMaps, { namespace: "kube-system", name: "lattice-install" })).toBeUndefined();
  });
});

test("a management cluster that does not answer is waited for, and not reported as gone", async () => {
  const stop = new AbortController();
  let shown = "";
  const stderr = (text: string) => {
    shown += text;
    if (shown.includes("cluster prod does not answer")) stop.abort();
  };
  const argv = `uninstall prod ${FROM.replace("prod.kubeconfig", "gone.kubeconfig")}`;
  const run = await runCli(argv.split(" "), { cwd, clock: systemClock, signal: stop.signal, stderr });
  expect([run.code, run.stdout]).toEqual([2, ""]);
  expect(shown).toContain("stopped before the end; the same command continues");
});
