/**
 * `lattice detach`: gives a patched Deployment back to its owner, by deleting the LatticeService that patches it. The operator restores the fields
 * that still have the patched value; this command shows them beforehand, and waits.
 *
 * Exit code 0: detached, or shown with --dry-run, 1: not finished in time, 2: could not be carried out.
 */
import { err, milliseconds, ok, sleep, type Result } from "#base";
import { latticeServices, type LatticeService } from "#crds";
import { deployments, findCondition, type KubeObject, type Resource } from "#kube";
import type { KubeClient } from "#kube-client";
import { pathText, recordOf, revertWorkloadPatch } from "#workload-patch";
import type { ClusterFlags } from "./cluster.ts";
import { parseDurationFlag } from "./duration-flag.ts";
import { reportError, reportFailure, type CliIo, type ExitCode } from "./io.ts";
import { withCluster } from "./live-world.ts";
import { scopeOf } from "./namespace-scope.ts";

export type DetachFlags = ClusterFlags & {
  readonly namespace?: string;
  readonly dryRun?: boolean;
  readonly wait?: string;
  readonly output: "text" | "json";
};

/** What a detachment restores and what it leaves. */
type Detachment = {
  readonly service: string;
  readonly deployment: string;
  /** Paths of fields that get their value before. */
  readonly restored: readonly string[];
  /** Paths of fields that were changed since, and keep their value. */
  readonly kept: readonly string[];
  readonly detached: boolean;
};

const WAIT = {
  name: "--wait",
  least: { text: "1s", why: "the operator needs some time" },
  most: { text: "1h", why: "the operator goes on without this command" },
};
const DEFAULT_WAIT_MS = 120_000;
const POLL_MS = 500;

export async function detach(io: CliIo, name: string, flags: DetachFlags): Promise<ExitCode> {
  const wait = parseDurationFlag(WAIT, flags.wait);
  if (!wait.ok) return reportFailure(io, wait.error);
  const waitMs = wait.value === undefined ? DEFAULT_WAIT_MS : milliseconds(wait.value);
  const found = await withCluster(io, flags, async (client, config) => {
    const scope = scopeOf(flags, config);
    if (!scope.ok) return scope;
    return detachService(io, client, { key: { namespace: scope.value ?? "default", name }, waitMs, flags });
  });
  if (!found.ok) return reportFailure(io, found.error);
  const { detachment, problem } = found.value;
  if (flags.output === "json") io.stdout(`${JSON.stringify(detachment, undefined, 2)}\n`);
  return problem === undefined ? 0 : reportError(io, problem);
}

type Key = { readonly namespace: string; readonly name: string };
type Request = { readonly key: Key; readonly waitMs: number; readonly flags: DetachFlags };
type Outcome = { readonly detachment: Detachment; readonly problem?: string };

async function detachService(io: CliIo, client: KubeClient, request: Request): Promise<Result<Outcome, string>> {
  const { key, flags } = request;
  const service = await client.get<LatticeService>(latticeServices, key, { signal: io.signal });
  if (!service.ok) return err(`LatticeService ${textOf(key)}: ${service.error.message}`);
  const { workloadRef } = service.value.spec;
  if (workloadRef === undefined) {
    return err(`LatticeService ${textOf(key)} patches no Deployment: it has no spec.workloadRef, and its Deployment is its own`);
  }
  const live = await read<KubeObject>(client, deployments, workloadRef, io.signal);
  if (!live.ok) return live;
  const { restored, kept } = live.value === undefined ? { restored: [], kept: [] } : revertWorkloadPatch(live.value);
  const paths = { restored: restored.map(pathText), kept: kept.map(({ path }) => pathText(path)) };
  const detachment = { service: textOf(key), deployment: textOf(workloadRef), ...paths, detached: false };
  if (flags.output === "text") io.stdout(planText(detachment));
  if (flags.dryRun === true) {
    if (flags.output === "text") io.stdout("nothing was changed: --dry-run\n");
    return ok({ detachment });
  }
  const { uid } = service.value.metadata;
  const deleted = await client.delete(latticeServices, key, {
    signal: io.signal,
    ...(uid === undefined ? {} : { preconditions: { uid } }),
  });
  if (!deleted.ok) return err(`LatticeService ${textOf(key)} could not be deleted: ${deleted.error.message}`);
  const problem = await untilDetached(io, client, { key, deployment: workloadRef, waitMs: request.waitMs });
  if (problem !== undefined) return ok({ detachment, problem });
  if (flags.output === "text") io.stdout(`detached: Deployment ${detachment.deployment} belongs to its owner alone\n`);
  return ok({ detachment: { ...detachment, detached: true } });
}

function planText({ service, deployment, restored, kept }: Detachment): string {
  const lines = [
    `LatticeService ${service}, with its policies and its config, is deleted`,
    restored.length === 0 ? `Deployment ${deployment} has no patched fields` : `Deployment ${deployment} gets back ${count(restored)}:`,
    ...restored.map((path) => `  ${path}`),
    ...(kept.length === 0 ? [] : [`${count(kept)} changed since the patch, and kept as now:`, ...kept.map((path) => `  ${path}`)]),
  ];
  return `${lines.join("\n")}\n`;
}

function count({ length }: readonly string[]): string {
  return length === 1 ? "1 field" : `${length} fields`;
}

type Waiting = { readonly key: Key; readonly deployment: Key; readonly waitMs: number };

/** undefined: the service is gone and the Deployment has no record. Otherwise the reason why not. */
async function untilDetached(io: CliIo, client: KubeClient, { key, deployment, waitMs }: Waiting): Promise<string | undefined> {
  const end = io.clock.monotonic() + waitMs;
  for (;;) {
    const service = await read<LatticeService>(client, latticeServices, key, io.signal);
    const live = await read<KubeObject>(client, deployments, deployment, io.signal);
    if (!service.ok || !live.ok) return service.ok ? (live.ok ? undefined : live.error) : service.error;
    const patched = live.value !== undefined && hasRecord(live.value);
    if (service.value === undefined && !patched) return undefined;
    if (io.clock.monotonic() >= end || !(await sleep(io.clock, POLL_MS, io.signal)))
      return unfinished({ key, deployment, patched }, service.value);
  }
}

function hasRecord(deployment: KubeObject): boolean {
  const record = recordOf(deployment);
  return !record.ok || record.value !== undefined;
}

type Unfinished = { readonly key: Key; readonly deployment: Key; readonly patched: boolean };

function unfinished({ key, deployment, patched }: Unfinished, service: LatticeService | undefined): string {
  const condition = findCondition(service?.status?.conditions ?? [], "Ready");
  const reason =
    condition?.message === undefined || condition.message === "" ? "the operator has not finished; does it run?" : condition.message;
  const restored = patched ? "" : `Deployment ${textOf(deployment)} belongs to its owner alone, and `;
  if (service !== undefined) return `${restored}LatticeService ${textOf(key)} is still being deleted: ${reason}`;
  return `Deployment ${textOf(deployment)} still has the patch: ${reason}`;
}

/** undefined: there is no such object. */
async function read<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  { namespace, name }: Key,
  signal: AbortSignal,
): Promise<Result<T | undefined, string>> {
  const answer = await client.get<T>(resource, { namespace, name }, { signal });
  if (answer.ok) return ok(answer.value);
  return answer.error.kind === "not-found" ? ok(undefined) : err(`${resource.kind} ${namespace}/${name}: ${answer.error.message}`);
}

function textOf({ namespace, name }: Key): string {
  return `${namespace}/${name}`;
}
