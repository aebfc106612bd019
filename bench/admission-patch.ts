/**
 * The cost of patch mode for writes of Deployments, as clients see it, with 10,000 Deployments of which 1,000 have a patch. A write of a patched one
 * is compared with the same through a webhook that does nothing; a write of another Deployment of the same namespaces with the same without the
 * configuration of the webhook.
 *
 * The client is in this process; each API server and each webhook is in a process of its own, connected over TLS on loopback. The webhook that does
 * nothing is the same admission server with a review that allows everything: the comparison is about patches, not about listeners.
 *
 * Processes of one program differ by some percent, whatever their configuration, which is near to the limit for other Deployments. So these are
 * written on one server, whose configuration is created and deleted in turns, many times: what else the machine does comes in bursts. The writes without a
 * configuration are divided into two equal halves. What differs between these is the error of the method. A turn begins after a collection of garbage in
 * the server and in the client: without it, p99 was mostly the collections that happened to fall into a turn, and equal halves differed by up to 35 percent.
 *
 * A percentile is by nearest rank among all writes of a row.
 */
import { expectOk, seededRandom } from "#base";
import { deployments, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import type { BenchResult } from "../scripts/bench/bench.ts";
import { missingBinaries } from "../scripts/kube/find-binaries.ts";
import { BINARIES } from "../scripts/kube/versions.ts";
import { collectGarbage } from "./support/collect-garbage.ts";
import { DEPLOYMENTS, ownersDeployment, PATCHED } from "./support/patch-objects.ts";
import {
  embeddedPlane,
  kubernetesPlane,
  SIDES,
  startPatchPlanes,
  touchOne,
  type PatchPlanes,
  type Side,
  type StartPlane,
} from "./support/patch-planes.ts";
import { latencyOf, percentile, shuffled, takeTurns } from "./support/turns.ts";

const PATCHED_LIMIT = 1.5;
const OTHER_LIMIT = 1.05;
const ROUND = 100;
/** Other Deployments that are written in one turn: once before, because a server knows the conditions of a new configuration only then, and then measured. */
const OTHERS = 50;
const MEASURED_WRITES = 4;

/** `warmUp`: rounds that are not measured. */
type Rounds = { readonly warmUp: number; readonly measured: number };
type Amount = { readonly others: Rounds; readonly patched: Rounds };
const EMBEDDED: Amount = { others: { warmUp: 20, measured: 130 }, patched: { warmUp: 10, measured: 40 } };
/** It has less to compile, is slower, and follows a new configuration later. */
const KUBERNETES: Amount = { others: { warmUp: 5, measured: 60 }, patched: { warmUp: 5, measured: 20 } };

type Row = { readonly name: string; readonly against: string; readonly limit?: number };
/** Microseconds. */
type Compared = { readonly measured: readonly number[]; readonly base: readonly number[] };

/** On embedded API servers, or with LATTICE_KUBE_BIN on real ones. */
export async function run(): Promise<readonly BenchResult[]> {
  const folder = process.env["LATTICE_KUBE_BIN"];
  if (folder === undefined) return measure("embedded", embeddedPlane, EMBEDDED);
  const needed = BINARIES.filter(({ name }) => name === "etcd" || name === "kube-apiserver");
  const missing = await missingBinaries(folder, needed);
  if (missing.length > 0) throw new Error(`LATTICE_KUBE_BIN: ${folder} lacks ${missing.map(({ name }) => name).join(", ")}`);
  return measure("kube-apiserver", kubernetesPlane(folder), KUBERNETES);
}

async function measure(server: string, startPlane: StartPlane, amount: Amount): Promise<readonly BenchResult[]> {
  const planes = await startPatchPlanes(startPlane);
  const results = (row: Row, times: Compared) => resultsOf({ ...row, name: `${server}: ${row.name}` }, times);
  try {
    const other = await measureOthers(planes, amount.others);
    const { touched, upgraded } = await measurePatched(planes, amount.patched);
    const nothing = { against: "a webhook that does nothing", limit: PATCHED_LIMIT };
    const name = "another Deployment is touched";
    return [
      ...results({ name: "a patched Deployment is touched", ...nothing }, { measured: touched.patching, base: touched.idle }),
      ...results({ name: "a patched Deployment is upgraded", ...nothing }, { measured: upgraded.patching, base: upgraded.idle }),
      ...results(
        { name, against: "no webhook at all", limit: OTHER_LIMIT },
        { measured: other.present, base: [...other.absent, ...other.absentAgain] },
      ),
      ...results({ name, against: "equal writes: the error of the method" }, { measured: other.absentAgain, base: other.absent }),
    ];
  } finally {
    await planes.close();
  }
}

/** Of the configuration of the webhook. The last two are equal. */
const STATES = ["present", "absent", "absentAgain"] as const;
type State = (typeof STATES)[number];

async function measureOthers(
  { clients, setWebhook, collect }: PatchPlanes,
  rounds: Rounds,
): Promise<Readonly<Record<State, readonly number[]>>> {
  const times: Record<State, number[]> = { present: [], absent: [], absentAgain: [] };
  const random = seededRandom(1);
  let writes = 0;
  for (let round = 0; round < rounds.warmUp + rounds.measured; round += 1) {
    const others = Array.from({ length: OTHERS }, (_, at) => PATCHED + ((round * OTHERS + at) % (DEPLOYMENTS - PATCHED)));
    for (const state of shuffled(STATES, random)) {
      await setWebhook(state === "present");
      await collect();
      collectGarbage();
      for (let pass = 0; pass <= MEASURED_WRITES; pass += 1) {
        for (const at of others) {
          const latency = await latencyOf(() => touchOne(clients.patching, at, `${(writes += 1)}`));
          if (round >= rounds.warmUp && pass > 0) times[state].push(latency);
        }
      }
    }
  }
  await setWebhook(true);
  return times;
}

type Write = (client: KubeClient, at: number, value: string) => Promise<KubeObject>;

/** What helm upgrade and kubectl apply do: the owner's values come in again, and the webhook patches them. */
const upgradeOne: Write = async (client, at, value) => {
  const { metadata, ...owner } = ownersDeployment(at);
  const annotations = { touched: value };
  return expectOk(await client.update(deployments, { ...owner, metadata: { ...metadata, annotations } }));
};

type Sides = Readonly<Record<Side, readonly number[]>>;

/** What `kubectl annotate` and controllers do, where the webhook finds nothing to change, alternates with upgrades. */
async function measurePatched(
  { clients, reviews }: PatchPlanes,
  rounds: Rounds,
): Promise<{ readonly touched: Sides; readonly upgraded: Sides }> {
  const times = { touched: { patching: [], idle: [] }, upgraded: { patching: [], idle: [] } } as Record<
    "touched" | "upgraded",
    Record<Side, number[]>
  >;
  const random = seededRandom(2);
  const before = await reviews();
  for (let round = 0; round < rounds.warmUp + rounds.measured; round += 1) {
    for (const [kind, write] of [
      ["touched", touchOne],
      ["upgraded", upgradeOne],
    ] as const) {
      const send = (side: Side, request: number) => write(clients[side], (round * ROUND + request) % PATCHED, `${kind} ${round}`);
      const latencies = await takeTurns(SIDES, ROUND, { send, random });
      if (round >= rounds.warmUp) for (const side of SIDES) times[kind][side].push(...latencies[side]);
    }
  }
  expectReviews(before, await reviews(), rounds.warmUp + rounds.measured);
  return times;
}

/** A webhook that does not answer in time is ignored by the API server: such a run would look fast. */
function expectReviews(before: Reviews, after: Reviews, rounds: number): void {
  const upgrades = rounds * ROUND;
  const writes = upgrades * 2;
  const [patching, idle] = [after.patching.reviews - before.patching.reviews, after.idle.reviews - before.idle.reviews];
  const patched = after.patching.patched - before.patching.patched;
  if (patching !== writes || idle !== writes || patched < upgrades)
    throw new Error(`the webhooks got ${patching} and ${idle} reviews instead of ${writes}, and patched ${patched}`);
}

type Reviews = Awaited<ReturnType<PatchPlanes["reviews"]>>;

function resultsOf({ name, against, limit }: Row, { measured, base }: Compared): readonly BenchResult[] {
  return ([0.5, 0.99] as const).map((share) => {
    const [one, other] = [percentile(measured, share), percentile(base, share)];
    const note = `${one.toFixed(0)} µs instead of ${other.toFixed(0)} µs${limit === undefined ? "" : `; less is better, limit ${limit}`}`;
    const ratio = one / other;
    return {
      name: `${name}, p${share * 100}`,
      value: ratio,
      unit: "times",
      ratio,
      against,
      note,
      ...(limit === undefined ? {} : { limit }),
    };
  });
}
