/**
 * Adds each namespace that Lattice services run in to the mesh, with a default deny that the policies of services open selectively. The namespace
 * owns these objects, and not a service, because services are created and deleted.
 *
 * The default deny stays as long as a pod of a service runs inside, also when nothing declares the namespace any more: deleting an environment must
 * not expose its running services. Then the namespace is released: default deny and Lattice's labels are removed, everything else stays.
 */
import { ok, type Result } from "#base";
import {
  defineController,
  isLabelledByUs,
  OWNER_INDEX,
  ownerLabelOf,
  settled,
  waiting,
  watch,
  type CacheReader,
  type FailureCause,
  type Plan,
  type PlanError,
  type ReadRuntime,
} from "#controller-runtime";
import { isSystemNamespace } from "#crds";
import {
  authorizationPolicies,
  ciliumNetworkPolicies,
  deployments,
  gateways,
  isBeingDeleted,
  meshKindOf,
  meshKinds,
  namespaces,
  peerAuthentications,
  pods,
  type KubeObject,
  type Resource,
} from "#kube";
import { DEFAULT_DENY, WAYPOINT } from "#mesh-compiler";
import { SERVICE_LABEL } from "#service-compiler";
import type { WorldContext, WorldViewContext } from "../world/followed-world.ts";
import { labelCommand, labelsInUse, ownedLabels, performLabel, type LabelCommand, type NamespaceLabels } from "./labels.ts";

type ObservedNamespace =
  /** Declared: services run there, or an environment has it. `inUse`: it has a Deployment of a service. */
  | { readonly state: "declared"; readonly labels: NamespaceLabels; readonly closing: readonly KubeObject[]; readonly inUse: boolean }
  /** No longer declared, but it has pods of a service. `until`: what it is checked for again and again, because pods are not watched. */
  | { readonly state: "left"; readonly closing: readonly KubeObject[]; readonly until: "pods are gone" | "Deployments are gone" }
  | { readonly state: "released" }
  /** Not changed: Lattice did not set its default deny, or may not. */
  | { readonly state: "foreign" };

const CONTROLLER = "namespace";
const OWNED: readonly Resource[] = [ciliumNetworkPolicies, authorizationPolicies, peerAuthentications, gateways];
const RESERVED: ReadonlySet<string> = new Set([DEFAULT_DENY, `${DEFAULT_DENY}-${WAYPOINT}`]);

export const namespaceController = defineController<KubeObject, ObservedNamespace, LabelCommand, WorldContext>({
  name: CONTROLLER,
  reconciles: namespaces,
  owns: OWNED,
  access: OWNED,
  watches: [
    watch(deployments, ({ metadata }) => (metadata.labels?.[SERVICE_LABEL] === undefined ? [] : [{ name: metadata.namespace ?? "" }])),
  ],
  optional: meshKinds,
  triggers: (enqueue, { followed }) => followed.subscribe("namespaces", enqueue),
  writesStatus: false,
  permissions: [
    { resource: namespaces, verbs: ["patch"] },
    { resource: pods, verbs: ["list"] },
  ],
  observe,
  plan,
  perform: performLabel,
});

async function observe(namespace: KubeObject, context: ReadRuntime & WorldViewContext): Promise<Result<ObservedNamespace, FailureCause>> {
  const { cache } = context;
  const { world } = context.followed;
  const { name } = namespace.metadata;
  const inUse = cache.list(deployments, name).some(isServiceDeployment);
  const mayClose = !isSystemNamespace(name) && world.reservation(name) === undefined;
  const [wanted, ...all] = world.namespaceObjects(name);
  const closing = all.filter((object) => isServed(object, cache));
  if (mayClose && world.hasNamespace(name)) return ok({ state: "declared", labels: namespaceLabels(namespace, wanted), closing, inUse });
  if (inUse) return ok(mayClose ? { state: "left", closing, until: "Deployments are gone" } : { state: "foreign" });
  if (!isClosedByUs(namespace, cache)) return ok({ state: "foreign" });
  const left = await podsIn(name, context);
  if (!left.ok) return left;
  if (!left.value) return ok({ state: "released" });
  return ok(mayClose ? { state: "left", closing, until: "pods are gone" } : { state: "foreign" });
}

/** The labels that Lattice sets on a namespace. Labels that another client may have set are not changed. */
export function namespaceLabels(namespace: KubeObject, wanted: KubeObject | undefined): NamespaceLabels {
  const ours = ownedLabels(namespace);
  const labels = Object.entries(wanted?.metadata.labels ?? {}).filter(([label, value]) => {
    const found = namespace.metadata.labels?.[label];
    return !mayBelongToOthers(label) || found === undefined || found === value || ours.includes(label);
  });
  return Object.fromEntries(labels);
}

/** Helm's managed-by label and a pod security level set by an administrator are kept. */
function mayBelongToOthers(label: string): boolean {
  return label === "app.kubernetes.io/managed-by" || label.startsWith("pod-security.kubernetes.io/");
}

/** Applied by Lattice's field manager: a user who copies a Deployment copies its labels, but sets them as another field manager. */
function isServiceDeployment(deployment: KubeObject): boolean {
  return deployment.metadata.labels?.[SERVICE_LABEL] !== undefined && isLabelledByUs(deployment);
}

function isServed(object: KubeObject, cache: CacheReader): boolean {
  const resource = meshKindOf(object);
  return resource === undefined || cache.isServed(resource);
}

/** It has labels or objects applied by Lattice. */
function isClosedByUs(namespace: KubeObject, cache: CacheReader): boolean {
  const label = ownerLabelOf({ controller: CONTROLLER, object: namespace });
  return ownedLabels(namespace).length > 0 || OWNED.some((resource) => cache.byIndex(resource, OWNER_INDEX, label).length > 0);
}

/** Pods outlive their Deployment and are not watched: they are listed only before a namespace is released. */
async function podsIn(
  namespace: string,
  { client, signal }: Pick<ReadRuntime, "client" | "signal">,
): Promise<Result<boolean, FailureCause>> {
  const fieldSelector = "status.phase!=Succeeded,status.phase!=Failed";
  const found = await client.list(pods, { namespace, labelSelector: SERVICE_LABEL, fieldSelector, limit: 1 }, { signal });
  return found.ok ? ok(found.value.items.length > 0) : found;
}

/** Interval of checks while pods end; their grace periods differ. */
const PODS_RECHECK_MS = 5_000;

function plan(namespace: KubeObject, observed: ObservedNamespace): Result<Plan<LabelCommand>, PlanError> {
  const idle = { apply: [], prune: false, commands: [] };
  if (isBeingDeleted(namespace)) return ok(idle);
  switch (observed.state) {
    case "foreign":
      return ok(idle);
    case "released":
      return ok({ apply: [], prune: true, commands: commandsFor(namespace, {}, false) });
    case "left": {
      const outcome =
        observed.until === "Deployments are gone"
          ? settled
          : waiting("PodsLeft", PODS_RECHECK_MS, "pods of a Lattice service still run here");
      const commands = commandsFor(namespace, labelsInUse(namespace), true);
      return ok({ ...idle, access: closed(observed.closing), commands, commandsAnyway: true, outcome });
    }
    case "declared": {
      const commands = commandsFor(namespace, observed.labels, observed.inUse);
      // pruned last: deleting a default deny allows traffic
      return ok({ access: closed(observed.closing), apply: [], prune: true, commands, commandsAnyway: true });
    }
  }
}

function closed(closing: readonly KubeObject[]) {
  return { apply: closing, kinds: new Set<string>(), reserved: RESERVED };
}

function commandsFor(namespace: KubeObject, labels: NamespaceLabels, inUse: boolean): readonly LabelCommand[] {
  const command = labelCommand(namespace, labels, inUse);
  return command === undefined ? [] : [command];
}
