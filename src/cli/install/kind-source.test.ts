/**
 * An installation from a bootstrap cluster of kind, with a program that has kind's interface: the cluster is created, prepared, and deleted at the end. A run that is stopped
 * is continued with the same cluster; one whose creation was interrupted is created again. Docker and kind themselves are not tried here.
 *
 * Machines are local ones, so the story enters below the flags of the command, which refuse kind for them.
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { expectOk, ok, seededRandom, systemClock } from "#base";
import { runInstall, type InstallProgress } from "#install";
import { parseYaml, type KubeObject } from "#kube";
import { withBootstrapClusters } from "./bootstrap-clusters.ts";
import type { CliIo } from "../io.ts";
import { KindSource, kindName } from "./kind-source.ts";
import { cliIo } from "../../../test/builders/cli-io.ts";
import { processesOf } from "../../../test/builders/fleet/fleet-process.ts";
import { LaptopClients } from "../../../test/builders/fleet/laptop-fleet.ts";
import { managementYaml } from "../../../test/builders/install-cluster.ts";

const projectRoot = join(import.meta.dirname, "../../..");
const folder = mkdtempSync(join(tmpdir(), "lattice-kind-"));
const bin = join(folder, "bin");
mkdirSync(bin);
writeFileSync(
  join(bin, "kind"),
  `#!/bin/sh\nexec '${process.execPath}' '${join(projectRoot, "test/builders/kind-program.ts")}' '${folder}' "$@"\n`,
);
chmodSync(join(bin, "kind"), 0o700);
const clients = new LaptopClients(join(folder, "fleet"));
afterAll(async () => {
  await clients.close();
  const pid = existsSync(join(folder, "pid")) ? Number(readFileSync(join(folder, "pid"), "utf8")) : 0;
  if (pid > 0 && processesOf(folder).includes(pid)) process.kill(pid, "SIGTERM");
  for (let look = 0; look < 300 && processesOf(folder).length > 0; look += 1) await wait(100);
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

const calls = () => (existsSync(join(folder, "calls")) ? readFileSync(join(folder, "calls"), "utf8").trim().split("\n") : []);
const state = (file: string) => join(folder, "state", "lattice", file);

type Run = { readonly code: number; readonly errors: string };

/** `stopAt`: the run is stopped at that step. */
async function install(cluster: KubeObject, stopAt?: InstallProgress["kind"] | "apply-cluster"): Promise<Run> {
  let errors = "";
  const stop = new AbortController();
  const { clock, random } = { clock: systemClock, random: seededRandom(7) };
  const io = {
    env: { ...process.env, PATH: `${bin}:${process.env["PATH"] ?? ""}`, XDG_STATE_HOME: join(folder, "state") },
    home: folder,
    cwd: projectRoot,
    stderr: (text: string) => void (errors += text),
    stdout: () => {},
    hostname: "story",
    clock,
    random,
    signal: stop.signal,
  } as unknown as CliIo;
  const request = {
    cluster: "mgmt",
    provider: () => Promise.resolve(ok("local")),
    managementKubeconfig: join(folder, "fleet", "clusters", "mgmt", "kubeconfig"),
    operator: {},
  };
  const report = (progress: InstallProgress) => {
    if (progress.kind === stopAt || (progress.kind === "step" && progress.step === stopAt)) stop.abort();
    if (progress.kind === "failed") errors += `${progress.message}\n`;
  };
  const code = await withBootstrapClusters(io, request, async (ends) => {
    const base = { clock, random, signal: stop.signal, identity: "story", patienceMs: 60_000, report };
    const done = await runInstall({ ...base, ...ends, name: "mgmt", cluster, beside: [] });
    if (!done.ok) errors += done.error.message;
    return done.ok ? 0 : 2;
  });
  return { code, errors };
}

test("a cluster of kind is created, used and deleted; interrupted runs are continued", { timeout: 600_000 }, async () => {
  const cluster = expectOk(parseYaml(await managementYaml("mgmt")))[0] as unknown as KubeObject;
  writeFileSync(join(folder, "broken"), "");
  const broken = await install(cluster, "failed");
  expect(broken.code).toBe(2);
  expect(broken.errors).toContain(
    "kind create cluster failed with exit code 1: ERROR: failed to create cluster: could not find a docker daemon",
  );
  rmSync(join(folder, "broken"));
  expect(existsSync(state("lattice-mgmt.creating"))).toBe(true);

  const stopped = await install(cluster, "apply-cluster");
  expect(stopped.errors).toContain("the same command continues");
  expect(existsSync(state("lattice-mgmt.creating"))).toBe(false);

  const done = await install(cluster);
  expect(done).toEqual({ code: 0, errors: "" });
  expect(await clients.isOwner("mgmt", "mgmt")).toBe(true);
  // one that failed, and one that was used by both runs
  expect(calls().filter((call) => call === "create cluster")).toHaveLength(2);
  expect(calls().at(-1)).toBe("get clusters");
  expect(calls().filter((call) => call === "delete cluster")).toHaveLength(1);
  expect([existsSync(join(folder, "kind", "lattice-mgmt")), existsSync(state("lattice-mgmt.kubeconfig"))]).toEqual([false, false]);
});

test("a kubeconfig that is left of a deleted cluster of kind is removed", async () => {
  mkdirSync(join(folder, "state", "lattice"), { recursive: true });
  writeFileSync(state("lattice-east.kubeconfig"), "");
  const io = cliIo({ home: folder, env: { XDG_STATE_HOME: join(folder, "state") } });
  const answer = { kind: "ended", code: 0, stdout: "lattice-west\n", errors: "" } as const;
  const source = new KindSource(io, "east", () => Promise.resolve(answer));
  expect(await source.find(new AbortController().signal)).toEqual(ok(undefined));
  expect(existsSync(state("lattice-east.kubeconfig"))).toBe(false);
});

test.each([
  { name: "a short name", given: "mgmt", want: "lattice-mgmt" },
  { name: "a long name, which kind would refuse", given: "a".repeat(60), want: `lattice-${"a".repeat(31)}-` },
])("the cluster of kind is named after the management cluster: $name", ({ given, want }) => {
  const name = kindName(given);
  expect(name.startsWith(want)).toBe(true);
  expect(name.length).toBeLessThanOrEqual(48);
});
