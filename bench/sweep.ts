/**
 * The deletion of many namespaces at once: how many objects a second the controllers of a cluster in this process delete, compared with
 * kube-controller-manager on etcd and kube-apiserver. `LATTICE_KUBE_BIN` names the folder of the binaries.
 *
 * kube-controller-manager runs with its default limits on requests per second (20, and 400 for its namespace controller), and once with
 * fifty times as many; both times ten namespaces at once (`--concurrent-namespace-syncs`, 10 by default). It waits five seconds before it
 * empties a namespace; ours does not. It gets a fifth of the namespaces, or this would take a quarter of an hour; the more there are, the
 * smaller the effect of those five seconds. LATTICE_SWEEP_NAMESPACES and LATTICE_SWEEP_THEIRS change how many each gets.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Result } from "#base";
import { resources } from "#embedded-cluster";
import type { KubeClient, KubeError } from "#kube-client";
import type { BenchResult } from "../scripts/bench/bench.ts";
import { embeddedPlane, kubernetesPlane, type SweepPlane } from "./support/sweep-planes.ts";

const NAMESPACES = Number(process.env["LATTICE_SWEEP_NAMESPACES"] ?? 1_000);
const THEIR_NAMESPACES = Number(process.env["LATTICE_SWEEP_THEIRS"] ?? Math.max(10, NAMESPACES / 5));
const OBJECTS = 100;
const AT_ONCE = 16;
const ROUNDS = 2;
const TRIES = 5;
const FAST = ["--kube-api-qps=1000", "--kube-api-burst=2000"];

type Rate = { readonly perSecond: number; readonly seconds: number };

export async function run(): Promise<readonly BenchResult[]> {
  const ours = await bestOf(ROUNDS, () => measured(embeddedPlane, NAMESPACES));
  const binaries = process.env["LATTICE_KUBE_BIN"];
  if (binaries === undefined) {
    console.log("sweep: no LATTICE_KUBE_BIN: measured beside a fifth of itself, not beside kube-controller-manager");
    const few = await bestOf(ROUNDS, () => measured(embeddedPlane, THEIR_NAMESPACES));
    return [result(ours, few, `itself with ${THEIR_NAMESPACES} namespaces`)];
  }
  const shipped = await measured(() => kubernetesPlane(binaries, []), THEIR_NAMESPACES);
  const fast = await measured(() => kubernetesPlane(binaries, FAST), THEIR_NAMESPACES);
  return [
    result(ours, shipped, "kube-controller-manager as it ships"),
    result(ours, fast, `kube-controller-manager with ${FAST.join(" ")}`),
  ];
}

function result({ perSecond, seconds }: Rate, peer: Rate, against: string): BenchResult {
  const name = `${NAMESPACES.toLocaleString("en-GB")} namespaces of ${OBJECTS} objects`;
  const note = `more is better; all gone after ${seconds.toFixed(1)} s; that deletes ${Math.round(peer.perSecond)} a second, of ${THEIR_NAMESPACES} namespaces in ${peer.seconds.toFixed(1)} s`;
  return { name, value: perSecond, unit: "objects/s", ratio: perSecond / peer.perSecond, against, note };
}

async function bestOf(rounds: number, measure: () => Promise<Rate>): Promise<Rate> {
  let best: Rate | undefined;
  for (let round = 0; round < rounds; round += 1) {
    const rate = await measure();
    if (best === undefined || rate.perSecond > best.perSecond) best = rate;
  }
  return best ?? { perSecond: Number.NaN, seconds: Number.NaN };
}

async function measured(start: () => Promise<SweepPlane>, count: number): Promise<Rate> {
  const { client, close } = await start();
  const names = Array.from({ length: count }, (_, at) => `sweep-${at}`);
  await inParallel(names, (name) => fill(client, name));
  const begun = performance.now();
  await inParallel(names, (name) => surely(() => client.delete(resources.namespaces, { name })));
  await gone(client);
  const seconds = (performance.now() - begun) / 1_000;
  await close();
  return { perSecond: (count * OBJECTS) / seconds, seconds };
}

/** Half ConfigMaps, half Secrets. What a controller adds to every namespace is not counted. */
async function fill(client: KubeClient, namespace: string): Promise<void> {
  await surely(() => client.create(resources.namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }));
  for (let at = 0; at < OBJECTS; at += 1) {
    const [kind, resource] = at % 2 === 0 ? (["ConfigMap", resources.configmaps] as const) : (["Secret", resources.secrets] as const);
    const object = { apiVersion: "v1", kind, metadata: { name: `object-${at}`, namespace }, data: { key: "dmFsdWU=" } };
    await surely(() => client.create(resource, object));
  }
}

/** A busy server may interrupt a call; the next call shows whether the first took effect. */
async function surely(ask: () => Promise<Result<unknown, KubeError>>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const answer = await ask();
    if (answer.ok || answer.error.kind === "already-exists") return;
    if (answer.error.kind !== "network" || tries > TRIES) throw new Error(answer.error.message);
  }
}

async function gone(client: KubeClient): Promise<void> {
  for (;;) {
    const listed = await client.list(resources.namespaces);
    if (listed.ok && !listed.value.items.some(({ metadata }) => metadata.name.startsWith("sweep-"))) return;
    await delay(20);
  }
}

async function inParallel(names: readonly string[], work: (name: string) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    for (let name = names[next++]; name !== undefined; name = names[next++]) await work(name);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}
