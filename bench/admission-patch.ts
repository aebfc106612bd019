/**
 * The cost of patch mode for writes of Deployments, as clients see it, with 10,000 Deployments of which 1,000 have a patch. A write of a patched one
 * is compared with the same through a webhook that does nothing; a write of another Deployment of the same namespaces with the same on a server
 * without webhooks.
 *
 * The client is in this process; each API server and each webhook is in a process of its own, connected over TLS on loopback. The webhook that does
 * nothing is the same admission server with a review that allows everything: the comparison is about patches, not about listeners.
 *
 * Every Deployment is written once before, as on a cluster that has run for a while. Every write is sent to all servers in turn (`support/turns.ts`), so
 * all of them have the same history; writes are measured in rounds of 100. A percentile is by nearest rank in a round, and the ratio is the median of the ratios of all rounds: a pause of the machine affects one round.
 * Two equal servers without webhooks are compared, too. That row shows the error of the method.
 */
import { expectOk, seededRandom } from "#base";
import { deployments, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import type { BenchResult } from "../scripts/bench/bench.ts";
import { missingBinaries } from "../scripts/kube/find-binaries.ts";
import { BINARIES } from "../scripts/kube/versions.ts";
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
import { percentile, takeTurns, type Latencies } from "./support/turns.ts";

const PATCHED_LIMIT = 1.5;
const OTHER_LIMIT = 1.05;
const ROUND = 100;

/** Of each kind of write. `warmUp`: not measured. A real API server has less to compile, and is slower. */
type Rounds = { readonly warmUp: number; readonly measured: number };
const EMBEDDED: Rounds = { warmUp: 10, measured: 30 };
const KUBERNETES: Rounds = { warmUp: 5, measured: 20 };

type Write = (client: KubeClient, at: number, value: string) => Promise<KubeObject>;

/** What `kubectl annotate` and controllers do: the webhook finds nothing to change. */
const touch: Write = touchOne;

/** What helm upgrade and kubectl apply do: the owner's values come in again, and the webhook patches them. */
const upgrade: Write = async (client, at, value) => {
  const { metadata, ...owner } = ownersDeployment(at);
  const annotations = { touched: value };
  return expectOk(await client.update(deployments, { ...owner, metadata: { ...metadata, annotations } }));
};

type Kind = {
  readonly name: string;
  readonly write: Write;
  /** The Deployment of the nth request. */
  readonly at: (request: number) => number;
};

const patchedOne = (request: number) => request % PATCHED;
const otherOne = (request: number) => PATCHED + (request % (DEPLOYMENTS - PATCHED));
const TOUCHED: Kind = { name: "a patched Deployment is touched", write: touch, at: patchedOne };
const UPGRADED: Kind = { name: "a patched Deployment is upgraded", write: upgrade, at: patchedOne };
const OTHER: Kind = { name: "another Deployment is touched", write: touch, at: otherOne };
/**
 * Kinds of writes that alternate. Others come first, so that what calls of a webhook leave in the process of a server does not count for writes without one.
 * They are measured four times as often: their limit is near to the error of a p99.
 */
const GROUPS: readonly (readonly Kind[])[] = [
  [OTHER, OTHER, OTHER, OTHER],
  [TOUCHED, UPGRADED],
];

type Row = { readonly kind: Kind; readonly measured: Side; readonly base: Side; readonly against: string; readonly limit?: number };

const NOTHING = { measured: "patching", base: "idle", against: "a webhook that does nothing", limit: PATCHED_LIMIT } as const;
const ROWS: readonly Row[] = [
  { kind: TOUCHED, ...NOTHING },
  { kind: UPGRADED, ...NOTHING },
  { kind: OTHER, measured: "patching", base: "bare", against: "no webhook at all", limit: OTHER_LIMIT },
  { kind: OTHER, measured: "bareAgain", base: "bare", against: "an equal server: the error of the method" },
];

/** On embedded API servers, or with LATTICE_KUBE_BIN on real ones. */
export async function run(): Promise<readonly BenchResult[]> {
  const folder = process.env["LATTICE_KUBE_BIN"];
  if (folder === undefined) return measure("embedded", embeddedPlane, EMBEDDED);
  const needed = BINARIES.filter(({ name }) => name === "etcd" || name === "kube-apiserver");
  const missing = await missingBinaries(folder, needed);
  if (missing.length > 0) throw new Error(`LATTICE_KUBE_BIN: ${folder} lacks ${missing.map(({ name }) => name).join(", ")}`);
  return measure("kube-apiserver", kubernetesPlane(folder), KUBERNETES);
}

async function measure(server: string, startPlane: StartPlane, rounds: Rounds): Promise<readonly BenchResult[]> {
  const planes = await startPatchPlanes(startPlane);
  try {
    const times = await measureKinds(planes, rounds);
    return ROWS.flatMap((row) => results(server, row, times.get(row.kind) ?? []));
  } finally {
    await planes.close();
  }
}

type Round = Latencies<Side>;

async function measureKinds({ clients, reviews }: PatchPlanes, { warmUp, measured }: Rounds): Promise<ReadonlyMap<Kind, readonly Round[]>> {
  const times = new Map<Kind, Round[]>(GROUPS.flat().map((kind) => [kind, []]));
  const random = seededRandom(1);
  const before = await reviews();
  for (const kinds of GROUPS) {
    for (let round = 0; round < warmUp + measured; round += 1) {
      for (const [place, kind] of kinds.entries()) {
        const send = (side: Side, request: number) => {
          const number = (round * kinds.length + place) * ROUND + request;
          return kind.write(clients[side], kind.at(number), `${number}`);
        };
        const latencies = await takeTurns(SIDES, ROUND, { send, random });
        if (round >= warmUp) times.get(kind)?.push(latencies);
      }
    }
  }
  expectReviews(before, await reviews(), warmUp + measured);
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

function results(server: string, { kind, measured, base, against, limit }: Row, rounds: readonly Round[]): readonly BenchResult[] {
  return ([0.5, 0.99] as const).map((share) => {
    const medianOf = (value: (round: Round) => number) => percentile(rounds.map(value), 0.5);
    const ratio = medianOf((round) => percentile(round[measured], share) / percentile(round[base], share));
    const [one, other] = [measured, base].map((side) => medianOf((round) => percentile(round[side], share)).toFixed(0));
    const note = `${one} µs instead of ${other} µs${limit === undefined ? "" : `; less is better, limit ${limit}`}`;
    const name = `${server}: ${kind.name}, p${share * 100}`;
    return { name, value: ratio, unit: "times", ratio, against, note, ...(limit === undefined ? {} : { limit }) };
  });
}
