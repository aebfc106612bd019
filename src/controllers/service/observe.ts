/**
 * The reads of a pass over a LatticeService: the config hash key, the Secrets that it is known to need, its pods if they do not run, and the
 * ReplicaSets that may still use config objects. The plan compiles (`state.ts`): objects that it finds missing are read in the next
 * round of the same pass.
 */
import { ok, timestamp, type Result, type Sensitive } from "#base";
import type { FailureCause, ReadRuntime } from "#controller-runtime";
import { parseLatticeService, type FieldError, type LatticeService } from "#crds";
import { keyText } from "#kube";
import { splitId } from "#mesh-compiler";
import { reachProblem } from "../reach.ts";
import type { WorldViewContext } from "../world/followed-world.ts";
import type { SecretValues } from "../world/secret-cache.ts";
import type { CompileRecord, CompileRecordReader } from "./compile-records.ts";
import type { PodProblem } from "./pod-problems.ts";
import { podSourcesOf, type PodSources } from "./retained.ts";
import { podProblemOf, workloadOf } from "./workload.ts";

export type ServiceObserveContext = ReadRuntime & WorldViewContext & { readonly records: CompileRecordReader };

/** The informers' cache and the world, which a plan reads synchronously: both reflect the same point in time. */
export type ServiceView = Pick<ReadRuntime, "cache"> & WorldViewContext;

/** Inputs of the compiler that are read from the API server, because no informer has them. */
export type CompileReads = {
  readonly kind: "read";
  readonly service: LatticeService;
  readonly hashKey: Sensitive<string>;
  readonly secrets: SecretValues;
  /** Why pods do not run; undefined if they run. */
  readonly podProblem: PodProblem | undefined;
  /** Undefined: not read. */
  readonly podSources: PodSources | undefined;
};

export type ServiceReads =
  | { readonly kind: "invalid"; readonly errors: readonly FieldError[] }
  | { readonly kind: "out-of-reach"; readonly message: string }
  /** A read failed. */
  | { readonly kind: "unread"; readonly service: LatticeService; readonly cause: FailureCause }
  /** The cluster has no config hash key yet. */
  | { readonly kind: "no-hash-key"; readonly service: LatticeService }
  | CompileReads;

export type ObservedService = {
  readonly view: ServiceView;
  readonly reads: ServiceReads;
  readonly record: CompileRecord;
  /** The current time, in milliseconds and as Kubernetes formats it. */
  readonly now: number;
  readonly timestamp: string;
};

export async function observe(raw: LatticeService, context: ServiceObserveContext): Promise<Result<ObservedService, FailureCause>> {
  const { cache, followed, records, clock } = context;
  const record = records.of(keyText(raw.metadata));
  const reads = await readFor(raw, record, context);
  return ok({ view: { cache, followed }, reads, record, now: clock.now(), timestamp: timestamp(clock) });
}

async function readFor(raw: LatticeService, record: CompileRecord, context: ServiceObserveContext): Promise<ServiceReads> {
  const parsed = parseLatticeService(raw);
  if (!parsed.ok) return { kind: "invalid", errors: parsed.error };
  const service = parsed.value;
  const beyond = outOfReach(service, context);
  if (beyond !== undefined) return { kind: "out-of-reach", message: beyond };
  const { followed, client, signal } = context;
  const hashKey = await followed.hashKey.read(client, signal);
  if (!hashKey.ok) return { kind: "unread", service, cause: hashKey.error };
  if (hashKey.value === undefined) return { kind: "no-hash-key", service };
  const secrets = await followed.secrets.valuesFor(keyText(service.metadata), context);
  if (!secrets.ok) return { kind: "unread", service, cause: secrets.error };
  const workload = workloadOf(service, context);
  const podProblem = await podProblemOf(workload, context);
  const podSources = record.hasStaleConfig === true ? await podSourcesOf(workload, context) : undefined;
  return { kind: "read", service, hashKey: hashKey.value, secrets: secrets.value, podProblem, podSources };
}

/** Nothing is read, compiled or written in a namespace that the operator has no rights in. */
function outOfReach(service: LatticeService, { followed, cache }: ServiceView): string | undefined {
  const id = followed.world.idOf(keyText(service.metadata));
  return id === undefined ? undefined : reachProblem(splitId(id).namespace, followed.reach, cache)?.message;
}
