/**
 * The policies and routes of a service, as they should be in the cluster now. They decide who can reach it.
 *
 * They depend on declarations only and exist in every state of the service, so that a revocation never waits for a Secret, a template
 * or a volume. While the workload cannot be compiled no new route is added: a route that is still declared unchanged stays, any other
 * is removed. Pods in a namespace where the service is not (or no longer) declared keep their probes and DNS, and reach nothing else.
 */
import type { CompiledApplication } from "#compile";
import type { LatticeService } from "#crds";
import { deployments, keyText, meshKindOf, type KubeObject, type NewCondition } from "#kube";
import { serviceId, splitId } from "#mesh-compiler";
import { isLabelledByUs, type CacheReader, type ChangeSet, type ReadRuntime } from "#controller-runtime";
import type { WorldViewContext } from "../world/followed-world.ts";
import { missingKinds, missingProblem, unprotectedProblem, type MissingKinds } from "../namespace/protection.ts";
import { crdsMissing, policiesApplied, policiesFailed, unprotected } from "./conditions.ts";
import { isApplied, ownedObjects } from "./owned-objects.ts";
import { accessKinds, POLICY_KINDS } from "../owned-kinds.ts";

export type ServiceAccess = {
  readonly objects: readonly KubeObject[];
  /** All other objects of these kinds are pruned. */
  readonly kinds: ReadonlySet<string>;
  /** Needed kinds that the cluster lacks; those of the namespace are included if the service is compiled. */
  readonly missing: MissingKinds;
};

type AccessContext = Pick<ReadRuntime, "cache"> & WorldViewContext;

/** `application`: absent while the service is not compiled. */
export function accessOf(service: LatticeService, context: AccessContext, application?: CompiledApplication): ServiceAccess {
  const { cache } = context;
  const served = accessKinds.filter((resource) => cache.isServed(resource));
  const wanted = [...declaredObjects(service, context, application), ...closedElsewhere(service, context)];
  const isServed = (object: KubeObject) => {
    const resource = meshKindOf(object);
    return resource === undefined || cache.isServed(resource);
  };
  const missing = missingKinds(wanted, cache, context.followed.allowUnprotected);
  return { objects: wanted.filter(isServed), kinds: new Set(served.map(({ kind }) => kind)), missing };
}

function declaredObjects(service: LatticeService, context: AccessContext, application?: CompiledApplication): readonly KubeObject[] {
  const isAccess = ({ kind }: KubeObject) => accessKinds.some((resource) => resource.kind === kind);
  if (application !== undefined) return application.objects.map(({ object }) => object).filter(isAccess);
  // a service without objects in the cluster has nothing to restrict
  if (ownedObjects(service, context.cache).length === 0) return [];
  const declared = context.followed.world.accessOf(keyText(service.metadata));
  return declared.filter((object) => POLICY_KINDS.has(object.kind) || isApplied(object, service, context.cache));
}

function closedElsewhere(service: LatticeService, { followed: { world }, cache }: AccessContext): readonly KubeObject[] {
  const id = world.idOf(keyText(service.metadata));
  const own = id === undefined ? undefined : splitId(id).namespace;
  const { name } = service.metadata;
  return ownedObjects(service, cache, [deployments])
    .filter(({ object }) => isLabelledByUs(object))
    .map(({ object }) => object.metadata.namespace ?? "")
    .filter((namespace) => namespace !== own)
    .map((namespace) => world.mesh.closedPolicy(serviceId(namespace, name)));
}

/** Whether the cluster has the declared policies and routes; empty for a service that has neither. */
export function policiesCondition({ objects, missing }: ServiceAccess, changes: ChangeSet): readonly NewCondition[] {
  const waited = missingProblem(missing);
  if (waited !== undefined) return [crdsMissing(waited)];
  const isAccess = (object: string) => accessKinds.some(({ kind }) => object.startsWith(`${kind} `));
  const failed = changes.failed.filter(({ object }) => isAccess(object)).map(({ object, message }) => `${object}: ${message}`);
  const skipped = changes.skipped.filter(isAccess).map((object) => `${object}: not deleted yet, because the service changed meanwhile`);
  if (failed.length + skipped.length > 0) return [policiesFailed([...failed, ...skipped].join("\n"))];
  const open = unprotectedProblem(missing);
  if (open !== undefined) return [unprotected(open)];
  const policies = objects.filter(({ kind }) => POLICY_KINDS.has(kind));
  const pruned = changes.pruned.some(isAccess);
  return policies.length > 0 || pruned ? [policiesApplied(policies.length)] : [];
}

/** Without routes: the objects that must exist before the first pod of a service starts. */
export function policiesOf({ objects, kinds, missing }: ServiceAccess): ServiceAccess {
  const policies = objects.filter(({ kind }) => POLICY_KINDS.has(kind));
  return { objects: policies, kinds: new Set([...kinds].filter((kind) => POLICY_KINDS.has(kind))), missing };
}

/** A policy that is missing or differs in the cluster; undefined: none. */
export function absentPolicy(access: ServiceAccess, service: LatticeService, cache: CacheReader): KubeObject | undefined {
  return policiesOf(access).objects.find((object) => !isApplied(object, service, cache));
}
