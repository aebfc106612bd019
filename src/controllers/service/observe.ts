/** What a pass over a LatticeService starts from: the service compiled as the world is now, and what the cluster has of it. */
import { err, ok, sha256Hex, timestamp, type Result } from "#base";
import type { CompiledApplication, ServiceError, ServiceKey } from "#compile";
import { APPLIED_ANNOTATION, stamp, type Cause, type Runtime } from "#controller-runtime";
import { parseLatticeService, type FieldError, type LatticeService } from "#crds";
import { canonicalJson, keyText, type KubeObject, type Resource } from "#kube";
import { splitId, type ServiceId } from "#mesh-compiler";
import { deployments, meshKindOf, type DeploymentObject } from "../kinds.ts";
import { namespaceProblem, type NamespaceProblem } from "../namespace/namespace-problem.ts";
import { reachProblem } from "../namespace/reach.ts";
import type { FollowedWorld } from "../world/followed-world.ts";
import { leftObjects, type LeftObject } from "./left-objects.ts";
import { CONTROLLER_NAME, ownedKinds } from "./owned-kinds.ts";

export type ServiceContext = Runtime & { readonly followed: FollowedWorld; readonly compiled: CompiledTimes };

export type Compiled = {
  readonly kind: "compiled";
  readonly application: CompiledApplication;
  /** Kinds that the service or its namespace needs and the cluster lacks. */
  readonly missing: readonly Resource[];
  readonly compiledAt: string;
  readonly deployment: DeploymentObject | undefined;
};

export type NotCompiled = {
  readonly kind: "not-compiled";
  readonly errors: readonly ServiceError[];
  /** What runs from before. */
  readonly deployment: DeploymentObject | undefined;
  /** Who may talk to it, where that is known all the same; doors do not wait for templates. */
  readonly policies: readonly KubeObject[];
};

export type PatchMode = {
  readonly kind: "patch-mode";
  readonly workload: NonNullable<LatticeService["spec"]["workloadRef"]>;
  /** From before, when it was in ownership mode. */
  readonly left: readonly LeftObject[];
  readonly deployment: DeploymentObject | undefined;
  /** Of the pods that still run. */
  readonly policies: readonly KubeObject[];
};

export type Observed =
  | { readonly kind: "invalid"; readonly errors: readonly FieldError[] }
  | PatchMode
  | NotCompiled
  | ({ readonly kind: "waiting" } & NamespaceProblem)
  | Compiled;

/** When the objects of a service last became others. Kept here, because the status must not be written on every pass. */
export class CompiledTimes {
  readonly #known = new Map<ServiceKey, { readonly digest: string; readonly at: string }>();

  /** `isNew` is asked only about a service that this process has not compiled before. */
  at(key: ServiceKey, digest: string, { now, written, isNew }: { now: string; written: string | undefined; isNew: () => boolean }): string {
    const known = this.#known.get(key);
    if (known?.digest === digest) return known.at;
    const at = known === undefined && written !== undefined && !isNew() ? written : now;
    this.#known.set(key, { digest, at });
    return at;
  }

  forget(key: ServiceKey): void {
    this.#known.delete(key);
  }
}

export async function observe(raw: LatticeService, context: ServiceContext): Promise<Result<Observed, Cause>> {
  const parsed = parseLatticeService(raw);
  if (!parsed.ok) return ok({ kind: "invalid", errors: parsed.error });
  const service = parsed.value;
  const beyond = outOfReach(service, context);
  if (beyond !== undefined) return ok(beyond);
  if (service.spec.workloadRef !== undefined) return ok(patchMode(service, service.spec.workloadRef, context));
  const { followed, client, signal } = context;
  const key = keyText(service.metadata);
  const keyed = await followed.hashKey.ensure(client, signal);
  if (!keyed.ok) return keyed;
  const compiled = await compileWithSecrets(key, context);
  if (!compiled.ok) return compiled;
  if (!compiled.value.ok) return ok(notCompiled(key, compiled.value.error, context));
  return ok(lookAround(service, compiled.value.value, context));
}

/** Nothing is read, compiled or written in a namespace that the operator has no rights in. */
function outOfReach(service: LatticeService, { followed, cache }: ServiceContext): Observed | undefined {
  const id = followed.world.idOf(keyText(service.metadata));
  const problem = id === undefined ? undefined : reachProblem(splitId(id).namespace, followed.reach, cache);
  return problem === undefined ? undefined : { kind: "waiting", reason: "NamespaceOutOfReach", message: problem.message };
}

/** Of a resource with one of these errors it is not known what it calls. */
const UNKNOWN_PEERS = new Set<ServiceError["kind"]>(["provisioner", "unsupported-resource-type", "circular-dependency"]);

function patchMode(service: LatticeService, workload: PatchMode["workload"], context: ServiceContext): PatchMode {
  const { followed, cache } = context;
  const key = keyText(service.metadata);
  const left = leftObjects(service, cache);
  const deployment = left.some(({ resource }) => resource === deployments) ? deploymentOf(followed, key, context) : undefined;
  const id = followed.world.idOf(key);
  const policies = deployment === undefined || id === undefined ? [] : servedPolicies(id, context);
  return { kind: "patch-mode", workload, left, deployment, policies };
}

function servedPolicies(id: ServiceId, { followed, cache }: ServiceContext): readonly KubeObject[] {
  return followed.world.mesh.policiesOf(id).filter((object) => {
    const resource = meshKindOf(object);
    return resource === undefined || cache.isServed(resource);
  });
}

function notCompiled(key: ServiceKey, errors: readonly ServiceError[], context: ServiceContext): NotCompiled {
  const { followed } = context;
  const deployment = deploymentOf(followed, key, context);
  const id = followed.world.idOf(key);
  const known = id !== undefined && deployment !== undefined && !errors.some(({ kind }) => UNKNOWN_PEERS.has(kind));
  return { kind: "not-compiled", errors, deployment, policies: known ? servedPolicies(id, context) : [] };
}

/** Which Secrets are needed turns out while compiling; a binding may lead to another one, but not for ever. */
const MOST_ROUNDS = 4;

async function compileWithSecrets(
  key: ServiceKey,
  context: ServiceContext,
): Promise<Result<Result<CompiledApplication, readonly ServiceError[]>, Cause>> {
  const { followed } = context;
  for (let round = 1; ; round += 1) {
    const { result, asked } = followed.compile(key);
    followed.secrets.setNeeds(key, asked);
    const changed = await followed.secrets.refresh(asked.values, context);
    if (!changed.ok) return err(changed.error);
    if (!changed.value || round === MOST_ROUNDS) return ok(result);
    followed.putAgain(key);
  }
}

function lookAround(service: LatticeService, application: CompiledApplication, context: ServiceContext): Observed {
  const { followed, cache, clock, compiled } = context;
  const key = keyText(service.metadata);
  const { namespace } = splitId(application.id);
  const deployment = deploymentOf(followed, key, context);
  // closed first: no pod of ours runs in a namespace that is open
  const problem = deployment === undefined ? namespaceProblem(namespace, followed, cache) : undefined;
  if (problem !== undefined) return { kind: "waiting", ...problem };
  const objects = application.objects.map(({ object }) => object);
  const needed = [...objects, ...followed.world.namespaceObjects(namespace)].flatMap((object) => meshKindOf(object) ?? []);
  const missing = [...new Set(needed)].filter((resource) => !cache.isServed(resource));
  const digest = sha256Hex(canonicalJson(objects));
  const isNew = () => objects.some((object) => isAnother(object, service, context));
  const compiledAt = compiled.at(key, digest, { now: timestamp(clock), written: service.status?.compiledAt, isNew });
  return { kind: "compiled", application, missing, compiledAt, deployment };
}

/** The cluster has another version of it. One that is merely gone is made again as it was. */
function isAnother(object: KubeObject, service: LatticeService, { cache }: ServiceContext): boolean {
  const resource = ownedKinds.find(({ kind }) => kind === object.kind);
  const live = resource === undefined || !cache.isServed(resource) ? undefined : cache.get(resource, object.metadata);
  const wanted = stamp(object, { controller: CONTROLLER_NAME, object: service }).metadata.annotations?.[APPLIED_ANNOTATION];
  return live !== undefined && live.metadata.annotations?.[APPLIED_ANNOTATION] !== wanted;
}

/** Under a canary it is Flagger's copy that carries the traffic; ours is the one that is tried out, and mostly has no pods. */
function deploymentOf(followed: FollowedWorld, key: ServiceKey, { cache }: Pick<Runtime, "cache">): DeploymentObject | undefined {
  const id = followed.world.idOf(key);
  if (id === undefined) return undefined;
  const { namespace, name } = splitId(id);
  const canary = followed.world.service(key)?.spec.deploy?.strategy === "canary";
  const primary = canary ? cache.get(deployments, { namespace, name: `${name}-primary` }) : undefined;
  return primary ?? cache.get(deployments, { namespace, name });
}
