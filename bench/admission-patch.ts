/**
 * The cost of patch mode for writes of Deployments, with 10,000 Deployments of which 1,000 have a patch. A write of a patched one is compared with the
 * same through a webhook that does nothing; a write of any other Deployment of the same namespaces with the same on a server without webhooks.
 *
 * Both sides take turns, request by request, so that what else the machine does affects them alike, and of each side the best round counts. The client, the API
 * servers and the webhooks are in this process.
 */
import { expectOk, systemClock } from "#base";
import { deployments, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import type { BenchResult } from "../scripts/bench/bench.ts";
import { DEPLOYMENTS, ownersDeployment, PATCHED, startPatchServers, targetOf, type PatchServers } from "./support/patch-servers.ts";

const ROUNDS = 40;
const WARM_UP = 10;
const REQUESTS = 100;
const PATCHED_LIMIT = 1.5;
const OTHER_LIMIT = 1.05;

type Write = (client: KubeClient, at: number, value: string) => Promise<KubeObject>;

/** What `kubectl annotate` and controllers do: the webhook finds nothing to change. */
const touch: Write = async (client, at, value) =>
  expectOk(await client.patch(deployments, targetOf(at), { type: "merge", patch: { metadata: { annotations: { touched: value } } } }));

/** What helm upgrade and kubectl apply do: the owner's values come in again, and the webhook patches them. */
const upgrade: Write = async (client, at, value) => {
  const { metadata, ...owner } = ownersDeployment(at);
  const annotations = { touched: value };
  return expectOk(await client.update(deployments, { ...owner, metadata: { ...metadata, annotations } }));
};

type Comparison = {
  readonly name: string;
  readonly against: string;
  readonly limit: number;
  readonly write: Write;
  readonly sides: (servers: PatchServers) => readonly [KubeClient, KubeClient];
  /** The Deployment of the nth request. */
  readonly at: (request: number) => number;
};

const NOTHING = "a webhook that does nothing";
const patchedOne = (request: number) => request % PATCHED;
const otherOne = (request: number) => PATCHED + (request % (DEPLOYMENTS - PATCHED));
const withWebhook: Comparison["sides"] = ({ patching, idle }) => [patching, idle];

const COMPARISONS: readonly Comparison[] = [
  { name: "a patched Deployment is touched", against: NOTHING, limit: PATCHED_LIMIT, write: touch, sides: withWebhook, at: patchedOne },
  { name: "a patched Deployment is upgraded", against: NOTHING, limit: PATCHED_LIMIT, write: upgrade, sides: withWebhook, at: patchedOne },
  {
    name: "another Deployment is touched",
    against: "no webhook at all",
    limit: OTHER_LIMIT,
    write: touch,
    sides: ({ patching, bare }) => [patching, bare],
    at: otherOne,
  },
];

export async function run(): Promise<readonly BenchResult[]> {
  const servers = await startPatchServers();
  try {
    await patchAll(servers);
    const results: BenchResult[] = [];
    for (const comparison of COMPARISONS) results.push(...(await compare(comparison, servers)));
    return results;
  } finally {
    await servers.close();
  }
}

/** The first write of a Deployment adds the patch and its record, as when a service is created; none of the comparisons is about that one. */
async function patchAll({ patching, idle }: PatchServers): Promise<void> {
  for (let at = 0; at < PATCHED; at += 1) for (const client of [patching, idle]) await touch(client, at, "first");
}

type Percentiles = { readonly p50: number; readonly p99: number };
const WORST: Percentiles = { p50: Number.POSITIVE_INFINITY, p99: Number.POSITIVE_INFINITY };

async function compare(comparison: Comparison, servers: PatchServers): Promise<readonly BenchResult[]> {
  const [measured, base] = comparison.sides(servers);
  let [one, other] = [WORST, WORST];
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    const [times, baseTimes] = await roundOf(comparison, [measured, base], round);
    if (round >= 0) [one, other] = [better(one, times), better(other, baseTimes)];
  }
  return (["p50", "p99"] as const).map((percentile) => {
    const ratio = one[percentile] / other[percentile];
    const note = `${one[percentile].toFixed(0)} µs instead of ${other[percentile].toFixed(0)} µs; less is better, limit ${comparison.limit}`;
    const { against, limit } = comparison;
    return { name: `${comparison.name}, ${percentile}`, value: ratio, unit: "times", ratio, against, note, limit };
  });
}

/** Request by request, the sides in turn, and each of them first in every other request. */
async function roundOf(
  { write, at }: Comparison,
  sides: readonly [KubeClient, KubeClient],
  round: number,
): Promise<readonly [readonly number[], readonly number[]]> {
  const times: readonly [number[], number[]] = [[], []];
  for (let request = 0; request < REQUESTS; request += 1) {
    const number = (round + WARM_UP) * REQUESTS + request;
    const order = request % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const);
    for (const side of order) times[side].push(await timeOf(() => write(sides[side], at(number), `${number}`)));
  }
  return times;
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const before = systemClock.monotonic();
  await work();
  return (systemClock.monotonic() - before) * 1_000;
}

function better(best: Percentiles, times: readonly number[]): Percentiles {
  const sorted = times.toSorted((a, b) => a - b);
  // by nearest rank: of 100 requests, the 99th is p99, and the 100th the worst
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.POSITIVE_INFINITY;
  return { p50: Math.min(best.p50, at(0.5)), p99: Math.min(best.p99, at(0.99)) };
}
