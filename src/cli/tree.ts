/**
 * `lattice tree`: the clusters below a cluster, with phase, owner, agent and health.
 *
 * The LatticeClusters of a cell are its children; theirs are on their own API servers, which only a local fleet can ask. A cluster that does not answer is
 * shown as such. Exit code 0: all are Ready, 1: some are not, 2: the clusters could not be read.
 */
import { err, ok, silentLogger, type Result } from "#base";
import { IDENTITY_CONFIG_MAP } from "#controllers";
import { latticeClusters, type LatticeCluster } from "#crds";
import { configMaps } from "#kube";
import type { KubeClient } from "#kube-client";
import { runningUp } from "#fleet";
import { OPERATOR_NAMESPACE } from "#operator";
import { connect, type ClusterFlags } from "./cluster.ts";
import { reportFailure, type CommandIo, type ExitCode } from "./io.ts";
import { checkLocalKubeconfig } from "./local-kubeconfig.ts";
import { treeOf, type AskedCluster, type TreeNode } from "./tree/cluster-tree.ts";
import { findLocalFleet, type LocalCluster, type LocalFleet } from "./tree/local-fleet.ts";
import { summaryOf, treeJson, treeTable } from "./tree/tree-table.ts";
import { dataDirFlag } from "./up/up-text.ts";

export type TreeFlags = ClusterFlags & { readonly output: "text" | "json"; readonly depth?: string };

/** Of each request to a cluster of the fleet: one that has stopped must not delay the others. */
const ANSWER_WITHIN_MS = 5_000;
/** Clusters that are asked at once. */
const AT_ONCE = 8;
const PAGE = 500;

export async function printTree(io: CommandIo, flags: TreeFlags): Promise<ExitCode> {
  const depth = parseDepth(flags.depth);
  if (!depth.ok) return reportFailure(io, depth.error);
  const trees = await readTrees(io, flags, depth.value);
  if (!trees.ok) return reportFailure(io, trees.error);
  const { total, healthy } = summaryOf(trees.value);
  if (flags.output === "json") io.stdout(`${JSON.stringify(treeJson(trees.value), null, 2)}\n`);
  else {
    io.print(treeTable(trees.value, io.terminal?.columns()));
    io.stdout(`${healthy} of ${total} ${total === 1 ? "cluster is" : "clusters are"} healthy\n`);
  }
  return healthy === total ? 0 : 1;
}

function parseDepth(text: string | undefined): Result<number | undefined, string> {
  if (text === undefined) return ok(undefined);
  return /^[0-9]{1,3}$/.test(text) ? ok(Number(text)) : err(`--depth: "${text}" is not a number of levels such as 1`);
}

async function readTrees(io: CommandIo, flags: TreeFlags, depth: number | undefined): Promise<Result<readonly TreeNode[], string>> {
  const fleet = await findLocalFleet(io, flags);
  if (fleet !== undefined) {
    const observed = await observeFleet(io, fleet);
    return ok(treeOf(observed, { root: fleet.isWhole ? undefined : fleet.current, depth }));
  }
  const connection = await connect(io, flags, { logger: silentLogger, local: { report: flags.output !== "json" } });
  if (!connection.ok) return connection;
  const { client, config } = connection.value;
  const seen = await observe(client, io.signal);
  await client.close();
  if (!seen.ok) return err(seen.error);
  const name = seen.value.name ?? new URL(config.server).host;
  return ok(treeOf([{ name, answers: true, clusters: seen.value.clusters }], { root: name, depth }));
}

async function observeFleet(io: CommandIo, { folder, clusters }: LocalFleet): Promise<readonly AskedCluster[]> {
  const isUp = (await runningUp(folder)) !== undefined;
  const flag = dataDirFlag(io, folder);
  // without a supervisor there is nothing that lattice start could ask
  const stopped = (name: string) => `it is stopped; lattice ${isUp ? `start ${name}${flag} starts it` : `up${flag} starts the fleet`}`;
  const observed = new Map<string, AskedCluster>();
  const queue = [...clusters];
  const work = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) observed.set(next.name, await observeLocal(io, next, stopped));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return clusters.flatMap(({ name }) => observed.get(name) ?? []);
}

async function observeLocal(
  io: CommandIo,
  { name, parent, kubeconfig, state }: LocalCluster,
  stopped: (name: string) => string,
): Promise<AskedCluster> {
  const silent = (why: string): AskedCluster => ({ name, parent, answers: false, why });
  if (state === "Stopped") return silent(stopped(name));
  const safe = await checkLocalKubeconfig(io, kubeconfig);
  if (!safe.ok) return silent(`${kubeconfig} is not used: ${safe.error}`);
  const connection = await connect(io, { kubeconfig }, { logger: silentLogger });
  if (!connection.ok) return silent(connection.error);
  const seen = await observe(connection.value.client, io.signal);
  await connection.value.client.close();
  return seen.ok ? { name, parent, answers: true, clusters: seen.value.clusters } : silent(seen.error);
}

type Seen = { /** Its own name; absent: it has none. */ readonly name: string | undefined; readonly clusters: readonly LatticeCluster[] };

async function observe(client: KubeClient, signal: AbortSignal): Promise<Result<Seen, string>> {
  const options = { signal, timeoutMs: ANSWER_WITHIN_MS };
  const clusters: LatticeCluster[] = [];
  let next: string | undefined;
  do {
    const page = await client.list(latticeClusters, { limit: PAGE, continue: next }, options);
    if (!page.ok) return err(page.error.kind === "not-found" ? NO_KINDS : page.error.message);
    clusters.push(...page.value.items);
    next = page.value.metadata.continue === "" ? undefined : page.value.metadata.continue;
  } while (next !== undefined);
  const identity = await client.get(configMaps, { namespace: OPERATOR_NAMESPACE, name: IDENTITY_CONFIG_MAP }, options);
  return ok({ name: identity.ok ? identity.value.data?.["cluster"] : undefined, clusters });
}

const NO_KINDS = "the cluster has no LatticeClusters: install the kinds with lattice crds | kubectl apply --server-side -f -";
