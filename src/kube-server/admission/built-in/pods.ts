/** Defaults of every pod: tolerations for nodes that are not ready or unreachable for a short time, and the priority of its class. */
import { ok, type Result } from "#base";
import { field, fieldAt, type Json, type JsonObject, type KubeObject } from "#kube";
import { plainText } from "../../protocol/go-format.ts";
import { forbidden, type Failure } from "../../protocol/status.ts";
import type { AdmissionContext, AdmissionPlugin, Attributes } from "../../protocol/admission-port.ts";
import { withSpec, written } from "./change.ts";

function podOf(attributes: Attributes): KubeObject | undefined {
  return attributes.type.collection === "/pods" ? written(attributes) : undefined;
}

export const defaultTolerations: AdmissionPlugin = {
  name: "DefaultTolerationSeconds",
  mutate: (attributes) => {
    const pod = podOf(attributes);
    return ok(pod === undefined ? attributes.object : withTolerations(pod));
  },
};

const WAIT_SECONDS = 300;
const TAINTS = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] as const;

/** A pod stays on a node that is not ready or unreachable for a short time. */
function withTolerations(pod: KubeObject): KubeObject {
  const given = fieldAt(pod, "spec", "tolerations");
  const tolerations = Array.isArray(given) ? given : [];
  const missing = TAINTS.filter((key) => !tolerations.some((one) => tolerates(one, key)));
  if (missing.length === 0) return pod;
  const added: JsonObject[] = missing.map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: WAIT_SECONDS }));
  return withSpec(pod, { tolerations: [...tolerations, ...added] });
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

export function podPriority(context: AdmissionContext): AdmissionPlugin {
  return {
    name: "Priority",
    mutate: (attributes) => {
      const pod = podOf(attributes);
      if (pod === undefined) return ok(attributes.object);
      if (attributes.operation === "CREATE") return withPriority(context, attributes, pod);
      return ok(attributes.operation === "UPDATE" ? withOldPriority(attributes.old, pod) : attributes.object);
    },
  };
}

function withPriority(context: AdmissionContext, { type }: Attributes, pod: KubeObject): Result<KubeObject, Failure> {
  const name = fieldAt(pod, "spec", "priorityClassName");
  const named = typeof name === "string" && name !== "" ? name : undefined;
  const found = priorityClass(context, named);
  if (found === undefined) {
    return forbidden({ resource: type.resource, name: pod.metadata.name ?? "" }, `no PriorityClass with name ${named ?? ""} was found`);
  }
  const refused = contradiction(pod, found);
  if (refused !== undefined) return forbidden({ resource: type.resource, name: pod.metadata.name ?? "" }, refused);
  const { preemptionPolicy } = found;
  const className = found.name === "" ? {} : { priorityClassName: found.name };
  return ok(withSpec(pod, { ...className, priority: found.value, preemptionPolicy }));
}

const COMPUTED = "must not be provided in pod spec; priority admission controller computed";

/** A Pod may set the values of its class, and no others. */
function contradiction(pod: KubeObject, { value, preemptionPolicy }: Priority): string | undefined {
  const [priority, policy] = [fieldAt(pod, "spec", "priority"), fieldAt(pod, "spec", "preemptionPolicy")];
  const from = "from the given PriorityClass name";
  if (typeof priority === "number" && priority !== value) return `the integer value of priority (${priority}) ${COMPUTED} ${value} ${from}`;
  if (typeof policy !== "string" || policy === preemptionPolicy) return undefined;
  return `the string value of PreemptionPolicy (${policy}) ${COMPUTED} ${plainText(preemptionPolicy)} ${from}`;
}

/** Clients that replace an object send it without the fields that were added to it. */
function withOldPriority(old: KubeObject | undefined, pod: KubeObject): KubeObject {
  const missing = ["priority", "preemptionPolicy"].filter(
    (name) => fieldAt(pod, "spec", name) === undefined && fieldAt(old, "spec", name) !== undefined,
  );
  return missing.length === 0 ? pod : withSpec(pod, Object.fromEntries(missing.map((name) => [name, fieldAt(old, "spec", name)])));
}

type Priority = { readonly name: string; readonly value: number; readonly preemptionPolicy: Json };

function priorityClass({ store }: AdmissionContext, name: string | undefined): Priority | undefined {
  const listed = store.list("scheduling.k8s.io/priorityclasses");
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
