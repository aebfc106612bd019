/**
 * `lattice up`, which is `npm start`: a cluster on this machine with Lattice on it, the examples applied, what the operator says of
 * them, and what to try next. Runs until Ctrl-C; state is kept.
 */
import { join, relative, resolve } from "node:path";
import { createLogger, PROGRAM_VERSION, sleep } from "#base";
import { latticeKinds, type LatticeObject } from "#crds";
import { fieldAt, keyOf, keyText, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import { complain, untilAskedToStop, type CliIo, type ExitCode } from "./io.ts";
import { applyAll, startLocalCluster, type LocalCluster } from "./local-cluster.ts";
import { checkFiles } from "./validate.ts";

export type UpFlags = { readonly dataDir: string };

export async function up(io: CliIo, flags: UpFlags): Promise<ExitCode> {
  const folder = resolve(io.cwd, flags.dataDir);
  const kubeconfig = join(folder, "kubeconfig");
  io.stdout(`Lattice ${PROGRAM_VERSION}: clusters that own themselves, services that talk only when both sides agree.\n\n`);
  const logger = createLogger((level, message, fields) => {
    if (level === "error") io.stderr(`${level}: ${message} ${JSON.stringify(fields)}\n`);
  });
  const cluster = await startLocalCluster(io, { dataDir: join(folder, "data"), kubeconfig, logger });
  if (!cluster.ok) return complain(io, cluster.error);
  io.stdout(describeCluster(cluster.value, relative(io.cwd, folder) || "."));
  const shown = await showExamples(io, cluster.value.client);
  if (shown === 0) io.stdout(whatNext(relative(io.cwd, kubeconfig)));
  if (shown === 0) await untilAskedToStop(io.signal);
  io.stdout("\nstopping\n");
  await cluster.value.close();
  return shown;
}

function describeCluster({ url, operator }: LocalCluster, folder: string): string {
  return [
    `  API server  ${url} (embedded; state in ${folder}/data)`,
    `  kinds       ${latticeKinds.map(({ shortName }) => shortName).join(" ")}: eight CustomResourceDefinitions`,
    `  operator    health and metrics at ${operator.healthUrl}`,
    "",
    "",
  ].join("\n");
}

async function showExamples(io: CliIo, client: KubeClient): Promise<ExitCode> {
  const checked = await checkFiles(io, [join(io.root, "examples")]);
  const examples = checked.flatMap((one) => (one.ok ? [inNamespace(one.object)] : []));
  if (examples.length < checked.length) return complain(io, "an example is not in order; lattice validate -f examples says which");
  const all = examples.flatMap((object) =>
    latticeKinds.filter(({ kind }) => kind === object.kind).map(({ resource }) => ({ resource, object })),
  );
  const applied = await applyAll(client, all);
  if (!applied.ok) return complain(io, applied.error);
  io.stdout(`  ${"KIND".padEnd(27)}${"NAME".padEnd(20)}${"PHASE".padEnd(10)}WHAT THE OPERATOR SAYS\n`);
  for (const { resource, object } of all) io.stdout(formatRow(await untilSeen(io, client, { resource, object })));
  io.stdout("\n");
  return 0;
}

/** What `kubectl apply` does with a file that names no namespace. */
function inNamespace(object: LatticeObject): KubeObject {
  const namespaced = latticeKinds.some(({ kind, resource }) => kind === object.kind && resource.namespaced);
  return namespaced ? { ...object, metadata: { namespace: "default", ...object.metadata } } : object;
}

const LOOK_EVERY_MS = 50;
const LOOK_AT_MOST = 400;

/** The object once the operator has said something about it; as it is when it does not for long. */
async function untilSeen(
  io: CliIo,
  client: KubeClient,
  { resource, object }: { resource: (typeof latticeKinds)[number]["resource"]; object: KubeObject },
): Promise<KubeObject> {
  let latest = object;
  for (let looks = 0; looks < LOOK_AT_MOST; looks += 1) {
    const answer = await client.get(resource, keyOf(object));
    if (answer.ok) latest = answer.value;
    if (fieldAt(latest, "status", "phase") !== undefined || !(await sleep(io.clock, LOOK_EVERY_MS, io.signal))) break;
  }
  return latest;
}

function formatRow(object: KubeObject): string {
  const phase = fieldAt(object, "status", "phase");
  const message = fieldAt(object, "status", "message");
  const text = typeof message === "string" ? message : "";
  const cut = text.length > 90 ? `${text.slice(0, 87)}...` : text;
  return `  ${object.kind.padEnd(27)}${keyText(keyOf(object)).padEnd(20)}${(typeof phase === "string" ? phase : "-").padEnd(10)}${cut}\n`;
}

function whatNext(kubeconfig: string): string {
  return [
    "This release validates Lattice resources and says on each what it does not act on yet; the laptop fleet comes with a later one.",
    "",
    "Try, in another terminal:",
    `  export KUBECONFIG=$PWD/${kubeconfig}`,
    "  kubectl get lattice -A                    all of the above, and their conditions with: kubectl describe lc mgmt",
    `  kubectl patch lc mgmt --type merge -p '{"spec":{"nodes":{"controlPlane":2}}}'      refused, with the reason`,
    "  ./lattice validate -f examples/           the same checks without a cluster",
    "",
    "Ctrl-C stops it. State is kept; delete the folder to begin anew.",
    "",
  ].join("\n");
}
