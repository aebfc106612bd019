/**
 * What the plugins that every API server runs put into objects: protection finalizers, default tolerations, priorities, default classes. It
 * comes after ownership was noted, so these fields belong to nobody.
 */
import { ok, type Result } from "#base";
import { field, fieldAt, type Json, type JsonObject, type KubeObject } from "#kube";
import type { Call } from "./core.ts";
import { asJsonObject, asObject } from "./managed-kinds.ts";
import { finalizersOf, withMetadata } from "./object-meta.ts";
import { forbidden, type Failure } from "./status.ts";

type Plugin = (call: Call, object: KubeObject, isNew: boolean) => Result<KubeObject, Failure>;

const PLUGINS: ReadonlyMap<string, Plugin> = new Map<string, Plugin>([
  ["/pods", admitPod],
  ["/persistentvolumes", protectedBy("kubernetes.io/pv-protection")],
  ["/persistentvolumeclaims", admitClaim],
]);

export function admit(call: Call, next: KubeObject, previous: KubeObject | undefined): Result<KubeObject, Failure> {
  const { type, subresource } = call.target;
  const plugin = subresource === undefined ? PLUGINS.get(type.collection) : undefined;
  return plugin === undefined ? ok(next) : plugin(call, next, previous === undefined);
}

/** Somebody may still use it when it is deleted. */
function protectedBy(finalizer: string): Plugin {
  return (_, object, isNew) => {
    const finalizers = finalizersOf(object);
    return ok(isNew && !finalizers.includes(finalizer) ? withMetadata(object, { finalizers: [...finalizers, finalizer] }) : object);
  };
}

function admitClaim(call: Call, object: KubeObject, isNew: boolean): Result<KubeObject, Failure> {
  const kept = protectedBy("kubernetes.io/pvc-protection")(call, object, isNew);
  if (!kept.ok || !isNew || fieldAt(object, "spec", "storageClassName") !== undefined) return kept;
  const name = defaultClass(call);
  return name === undefined ? kept : ok(withSpec(kept.value, { storageClassName: name }));
}

const IS_DEFAULT = "storageclass.kubernetes.io/is-default-class";

/** The newest of those that say they are it. */
function defaultClass({ core }: Call): string | undefined {
  const listed = core.store.list("storage.k8s.io/storageclasses");
  const marked = listed.ok ? listed.value.items.filter(({ object }) => object.metadata.annotations?.[IS_DEFAULT] === "true") : [];
  const newest = marked.toSorted((a, b) =>
    (a.object.metadata.creationTimestamp ?? "") < (b.object.metadata.creationTimestamp ?? "") ? 1 : -1,
  )[0];
  return newest?.object.metadata.name;
}

function withSpec(object: KubeObject, changes: JsonObject): KubeObject {
  const json = asJsonObject(object);
  return asObject({ ...json, spec: { ...(json["spec"] as JsonObject | undefined), ...changes } });
}

const WAIT_SECONDS = 300;
const TAINTS = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] as const;

function admitPod(call: Call, pod: KubeObject, isNew: boolean): Result<KubeObject, Failure> {
  const tolerant = withSpec(pod, tolerationsOf(pod));
  return isNew ? withPriority(call, tolerant) : ok(tolerant);
}

/** A node that is gone for a moment does not cost a pod its place. */
function tolerationsOf(pod: KubeObject): JsonObject {
  const given = fieldAt(pod, "spec", "tolerations");
  const tolerations = Array.isArray(given) ? given : [];
  const missing = TAINTS.filter((key) => !tolerations.some((one) => tolerates(one, key)));
  if (missing.length === 0) return {};
  const added = missing.map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: WAIT_SECONDS }));
  return { tolerations: [...tolerations, ...added] };
}

function tolerates(toleration: Json, key: string): boolean {
  const own = field(toleration, "key") ?? "";
  const effect = field(toleration, "effect") ?? "";
  return (own === key || own === "") && (effect === "NoExecute" || effect === "");
}

const SYSTEM_PRIORITIES: ReadonlyMap<string, number> = new Map([
  ["system-cluster-critical", 2_000_000_000],
  ["system-node-critical", 2_000_001_000],
]);

function withPriority(call: Call, pod: KubeObject): Result<KubeObject, Failure> {
  const name = fieldAt(pod, "spec", "priorityClassName");
  const named = typeof name === "string" && name !== "" ? name : undefined;
  const found = priorityClass(call, named);
  if (found === undefined) {
    const { resource } = call.target.type;
    return forbidden({ resource, name: pod.metadata.name ?? "" }, `no PriorityClass with name ${named ?? ""} was found`);
  }
  const own = fieldAt(pod, "spec", "preemptionPolicy");
  const preemptionPolicy = own ?? found.preemptionPolicy;
  const className = found.name === "" ? {} : { priorityClassName: found.name };
  return ok(withSpec(pod, { ...className, priority: found.value, preemptionPolicy }));
}

type Priority = { readonly name: string; readonly value: number; readonly preemptionPolicy: Json };

function priorityClass({ core }: Call, name: string | undefined): Priority | undefined {
  const listed = core.store.list("scheduling.k8s.io/priorityclasses");
  const classes = listed.ok ? listed.value.items.map(({ object }) => object) : [];
  const chosen = classes.find((one) => (name === undefined ? fieldAt(one, "globalDefault") === true : one.metadata.name === name));
  if (chosen !== undefined) {
    const value = fieldAt(chosen, "value");
    return {
      name: chosen.metadata.name,
      value: typeof value === "number" ? value : 0,
      preemptionPolicy: fieldAt(chosen, "preemptionPolicy") ?? "PreemptLowerPriority",
    };
  }
  const value = name === undefined ? 0 : SYSTEM_PRIORITIES.get(name);
  return value === undefined ? undefined : { name: name ?? "", value, preemptionPolicy: "PreemptLowerPriority" };
}
