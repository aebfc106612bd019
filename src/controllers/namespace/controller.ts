/**
 * Closes each namespace that Lattice services run in: it is in the mesh, nobody talks, and what is agreed opens from there. The namespace owns
 * these objects, and not one of the services, which come and go.
 *
 * The door stays closed as long as anything of ours is left inside, also when the world no longer knows why it is there: an environment that was
 * deleted under its services must not open them.
 */
import { ok, type Result } from "#base";
import {
  defineController,
  failed,
  FIELD_MANAGER,
  ownedFieldsOf,
  OWNER_LABEL,
  REQUEUE,
  settled,
  stalled,
  watch,
  type CacheReader,
  type Cause,
  type Controller,
  type Outcome,
  type Plan,
  type PlanError,
  type Runtime,
} from "#controller-runtime";
import { isSystemNamespace, latticeServices } from "#crds";
import { fieldAt, isBeingDeleted, isJsonObject, type KubeObject, type Resource } from "#kube";
import { SERVICE_LABEL } from "#service-compiler";
import {
  authorizationPolicies,
  ciliumNetworkPolicies,
  deployments,
  gateways,
  meshKindOf,
  meshKinds,
  namespaces,
  peerAuthentications,
} from "../kinds.ts";
import type { FollowedWorld } from "../world/followed-world.ts";
import { rbacCommand } from "./reach.ts";

type Observed = {
  /** In the world: what belongs there. Left: not in the world, but something of ours is inside. */
  readonly state: "ours" | "left" | "foreign";
  readonly labels: Readonly<Record<string, string>>;
  readonly closing: readonly KubeObject[];
};

/** The labels that the namespace should have from us, and no others from us. */
type Command = { readonly kind: "label"; readonly name: string; readonly labels: Readonly<Record<string, string>> };

const OWNED: readonly Resource[] = [ciliumNetworkPolicies, authorizationPolicies, peerAuthentications, gateways];

export function namespaceController(followed: FollowedWorld): Controller<KubeObject, Observed, Command, Runtime> {
  return defineController<KubeObject, Observed, Command, Runtime>({
    name: "namespace",
    reconciles: namespaces,
    owns: OWNED,
    access: OWNED,
    reads: [latticeServices],
    watches: [
      watch(deployments, ({ metadata }) => (metadata.labels?.[SERVICE_LABEL] === undefined ? [] : [{ name: metadata.namespace ?? "" }])),
    ],
    optional: meshKinds,
    triggers: followed.triggers("namespaces"),
    writesStatus: false,
    permissions: [{ resource: namespaces, verbs: ["patch"] }],
    observe: (namespace, { cache }) => Promise.resolve(ok(look(namespace, followed, cache))),
    plan,
    perform: (command, runtime) => label(command, runtime, followed),
    status: () => ({}),
  });
}

function look({ metadata: { name, labels = {} } }: KubeObject, { world }: FollowedWorld, cache: CacheReader): Observed {
  if (isSystemNamespace(name) || !world.namespaces().includes(name)) {
    const inside = cache.list(latticeServices, name).length > 0 || cache.list(deployments, name).some(isOfAService);
    return { state: inside ? "left" : "foreign", labels: {}, closing: [] };
  }
  const [wanted, ...closing] = world.namespaceObjects(name);
  const managed = labels[MANAGED_BY];
  // a namespace that Helm made is Helm's; the label says no more than who made it
  const { [MANAGED_BY]: ours, ...rest } = wanted?.metadata.labels ?? {};
  const keep = ours === undefined || (managed !== undefined && managed !== ours) ? rest : { ...rest, [MANAGED_BY]: ours };
  return { state: "ours", labels: keep, closing: closing.filter((object) => isServed(object, cache)) };
}

const MANAGED_BY = "app.kubernetes.io/managed-by";

function isOfAService({ metadata }: KubeObject): boolean {
  return metadata.labels?.[SERVICE_LABEL] !== undefined && metadata.labels[OWNER_LABEL] !== undefined;
}

function isServed(object: KubeObject, cache: CacheReader): boolean {
  const resource = meshKindOf(object);
  return resource === undefined || cache.isServed(resource);
}

function plan(namespace: KubeObject, { state, labels, closing }: Observed): Result<Plan<Command>, PlanError> {
  if (isBeingDeleted(namespace) || state === "left") return ok({ apply: [], commands: [] });
  const command: Command = { kind: "label", name: namespace.metadata.name, labels };
  const commands = isLabelled(namespace, labels) ? [] : [command];
  // pruned last: to delete a default deny is to open
  return ok({ access: { apply: closing, kinds: new Set() }, apply: [], prune: true, commands });
}

/** As wanted, and nothing of ours beyond it. */
function isLabelled(namespace: KubeObject, wanted: Readonly<Record<string, string>>): boolean {
  const owned = fieldAt(ownedFieldsOf(namespace), "f:metadata", "f:labels");
  const ours = isJsonObject(owned) ? Object.keys(owned).filter((name) => name.startsWith("f:")) : [];
  const complete = Object.entries(wanted).every(([name, value]) => namespace.metadata.labels?.[name] === value);
  return complete && ours.every((name) => Object.hasOwn(wanted, name.slice(2)));
}

/** Not by force: a label that a person set is the person's, and the services wait and say so. */
async function label({ name, labels }: Command, { client, signal }: Runtime, { labelRefusals, reach }: FollowedWorld): Promise<Outcome> {
  const object: KubeObject = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
  const answer = await client.apply(namespaces, object, { fieldManager: FIELD_MANAGER, signal });
  labelRefusals.delete(name);
  if (answer.ok) return settled;
  if (answer.error.kind === "forbidden") {
    const message = `${describeRefusal(name, labels)}, or grant it: ${rbacCommand(reach)}`;
    labelRefusals.set(name, message);
    return stalled("NamespaceOutOfReach", message, REQUEUE.compileErrorMs);
  }
  const cause: Cause = answer.error.kind === "conflict" ? { kind: "not-ours", message: answer.error.message } : answer.error;
  return failed(cause);
}

function describeRefusal(name: string, labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
  const command =
    pairs.length === 0 ? "remove the labels of field manager lattice" : `run: kubectl label namespace ${name} ${pairs.join(" ")}`;
  return `RBAC does not let this operator label namespace ${name}; ${command}`;
}
