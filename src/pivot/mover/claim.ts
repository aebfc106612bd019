/**
 * The right to move a namespace: a Lease at the source. While another process renews it, a second move is refused and names the first; a
 * Lease that is not renewed was left by a killed process and is taken over when it has run out.
 *
 * Every write of a move, on both sides, is fenced: it is not sent when the lease cannot be proven.
 */
import { err, MetricsRegistry, silentLogger, sleep, type Clock } from "#base";
import { fencedClient, LeaderElector, leaseTimesFor } from "#controller-runtime";
import { isBeingDeleted, leases, namespaces, type Lease } from "#kube";
import type { KubeClient } from "#kube-client";
import { refusal, type MoveFailure, type Moved } from "./failure.ts";

const LEASE_NAME = "lattice-move";
const POLL_MS = 250;
/** A free lease is taken within seconds, or never: the permission to write it is missing. */
const FREE_MS = 20_000;

export type ClaimOptions = {
  readonly source: KubeClient;
  readonly target: KubeClient;
  readonly namespace: string;
  /** Unique for each process, and readable: it is shown to others. */
  readonly identity: string;
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Called once when the lease of another process has to run out first. */
  readonly onWait: (holder: string) => void;
};

export type FencedClients = { readonly source: KubeClient; readonly target: KubeClient; readonly signal: AbortSignal };

export async function withClaim<T>(options: ClaimOptions, work: (clients: FencedClients) => Moved<T>): Moved<T> {
  const { source, target, namespace, identity, clock, random, signal, leaseMs } = options;
  const place = await source.get(namespaces, { name: namespace }, { signal });
  if (!place.ok && place.error.kind === "not-found") return refusal(`the source has no namespace ${namespace}; name another one with -n`);
  if (place.ok && isBeingDeleted(place.value))
    return refusal(`Namespace ${namespace} of the source is being deleted; nothing of it is moved`);
  const over = new AbortController();
  const stop = () => over.abort();
  signal.addEventListener("abort", stop, { once: true });
  const lease = { namespace, name: LEASE_NAME };
  const elector = new LeaderElector({
    client: source,
    clock,
    random,
    identity,
    lease,
    times: leaseTimesFor(leaseMs),
    logger: silentLogger,
    metrics: new MetricsRegistry(),
  });
  let result: Awaited<Moved<T>> | undefined;
  const running = elector.run(async (fence) => {
    if (result !== undefined) return;
    const stopped = AbortSignal.any([signal, fence.signal]);
    result = await work({ source: fencedClient(source, fence), target: fencedClient(target, fence), signal: stopped });
    if (!result.ok && fence.signal.aborted && !signal.aborted) result = err(withLostLease(result.error));
    over.abort();
  }, over.signal);
  const held = await Promise.race([running.then(() => undefined), watchHolder(options, elector, over)]);
  await running;
  signal.removeEventListener("abort", stop);
  return result ?? err(held ?? { kind: "stopped", message: "stopped before the move began" });
}

/** A write may also end with its own error: it is given no more time than the lease lasts. */
function withLostLease(failure: MoveFailure): MoveFailure {
  if (failure.kind === "stopped")
    return { kind: "failed", message: "this process could not renew its lease in time, so it has stopped writing", isLeaseLost: true };
  return failure.kind === "failed" ? { ...failure, isLeaseLost: true } : failure;
}

/** The failure, as soon as another process is seen to renew the lease. */
async function watchHolder(
  { source, namespace, identity, clock, signal, onWait }: ClaimOptions,
  elector: LeaderElector,
  over: AbortController,
): Promise<MoveFailure | undefined> {
  let seen: Lease | undefined;
  let freeSince = clock.monotonic();
  while (!over.signal.aborted && !elector.leading) {
    const found = await source.get(leases, { namespace, name: LEASE_NAME }, { signal });
    if (!found.ok && found.error.kind !== "not-found") {
      over.abort();
      return { kind: "failed", message: `the source could not read Lease ${namespace}/${LEASE_NAME}: ${found.error.message}` };
    }
    const lease = found.ok ? found.value : undefined;
    const holder = lease?.spec?.holderIdentity ?? "";
    if (elector.leading || holder === identity) return undefined;
    if (lease !== undefined && holder !== "" && seen === undefined) onWait(holder);
    const isRenewed = seen !== undefined && lease !== undefined && lease.metadata.resourceVersion !== seen.metadata.resourceVersion;
    if (isRenewed && holder !== "" && holder === seen?.spec?.holderIdentity) {
      over.abort();
      const since = lease.spec?.acquireTime ?? "an unknown time";
      return { kind: "held", message: `namespace ${namespace} is being moved by ${holder} since ${since}; wait until that move has ended` };
    }
    if (holder !== "") freeSince = clock.monotonic();
    if (clock.monotonic() - freeSince > FREE_MS) {
      over.abort();
      return {
        kind: "failed",
        message: `Lease ${namespace}/${LEASE_NAME} cannot be written at the source; grant create and update of leases`,
      };
    }
    seen = lease;
    await sleep(clock, POLL_MS, over.signal);
  }
  return undefined;
}

/** Removes the Lease of a move that has ended, unless another process has taken it. */
export async function forgetClaim({ source, namespace }: Pick<ClaimOptions, "source" | "namespace">): Promise<void> {
  const found = await source.get(leases, { namespace, name: LEASE_NAME });
  if (!found.ok || (found.value.spec?.holderIdentity ?? "") !== "") return;
  const { resourceVersion } = found.value.metadata;
  if (resourceVersion !== undefined) await source.delete(leases, { namespace, name: LEASE_NAME }, { preconditions: { resourceVersion } });
}
