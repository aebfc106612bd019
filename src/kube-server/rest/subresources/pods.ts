/** Subresources of pods that act on them: binding to a node, eviction, and the ones that would need a kubelet. */
import { ok, timestamp, whenOk, type Result } from "#base";
import { field, fieldAt, isJsonObject, matches, requirementsOf, type JsonObject, type KubeObject } from "#kube";
import { attributesOf } from "../attributes.ts";
import { inVersion, readStored, type Call } from "../core.ts";
import { decodeBody } from "../decode-body.ts";
import { deleteUnasked } from "../delete-object.ts";
import { checkedOptions } from "../delete-options.ts";
import { plainText } from "../go-format.ts";
import { asJsonObject, asObject } from "../managed-kinds.ts";
import { inItsNamespace } from "../namespaces.ts";
import { metaText, withMetadata } from "../object-meta.ts";
import { textAnswer } from "../request.ts";
import { answer, type Answered, type Answering } from "../respond.ts";
import { badRequest, conflict, notFound, refuse, success, unexplained, type Failure } from "../status.ts";
import { changeStored, updateObject } from "../update-object.ts";
import { writeOptions, type WriteOptions } from "../write-options.ts";
import type { Stored } from "../../store/port.ts";
import { hiddenGvk, speaking } from "./hidden-kinds.ts";

function podOf(call: Call): Result<Stored, Failure> {
  const { type, name = "" } = call.target;
  const stored = readStored(call, name);
  return stored === undefined ? notFound({ resource: type.resource, name }) : ok(stored);
}

type Said = { readonly body: KubeObject; readonly options: WriteOptions };

/** The body says what to do with a pod that is there; admission is asked about the body. */
function actOnPod(call: Call, kind: "Binding" | "Eviction", act: (said: Said) => Answering): Answering {
  const options = writeOptions(call.request, "CreateOptions");
  if (!options.ok) return options;
  const decoded = decodeBody(speaking(call, kind), options.value.fieldValidation);
  if (!decoded.ok) return decoded;
  const placed = inItsNamespace(call, decoded.value);
  if (!placed.ok) return placed;
  const object = placed.value;
  const { name = "" } = call.target;
  if (metaText(object, "name") !== name) return badRequest(`name in URL does not match name in ${kind} object`);
  const said = { body: object, options: options.value };
  const gvk = hiddenGvk(kind);
  const attributes = attributesOf(call, { operation: "CREATE", name, kind: gvk, dryRun: options.value.dryRun, object, old: undefined });
  const { admission } = call.core;
  return whenOk(admission.mutate(attributes), () => whenOk(admission.validate(attributes), () => act(said)));
}

export function bindPod(call: Call): Answering {
  return actOnPod(call, "Binding", (said) => changeStored(call, () => assign(call, said)));
}

function assign(call: Call, { body, options }: Said): Answering {
  const pod = podOf(call);
  if (!pod.ok) return pod;
  const [node, kind] = ["name", "kind"].map((part) => plainText(fieldAt(body, "target", part) ?? "")) as [string, string];
  if (kind !== "" && kind !== "Node") {
    return unexplained(`target.kind: Unsupported value: ${JSON.stringify(kind)}: supported values: "Node", "<empty>"`);
  }
  if (node === "") return unexplained("target.name: Required value");
  const { name = "", type } = call.target;
  const assigned = fieldAt(pod.value.object, "spec", "nodeName");
  if (assigned !== undefined && assigned !== "") {
    const resource = { ...type.resource, plural: "pods/binding" };
    return conflict({ resource, name }, `pod ${name} is already assigned to node "${plainText(assigned)}"`);
  }
  const next = bound(inVersion(type, pod.value.object), node, timestamp(call.core.clock));
  const prepare = (object: KubeObject) => object;
  const written = updateObject(call, { previous: pod.value, next, options, tracked: true, prepare, trusted: true });
  return whenOk(written, () => ok(answer(call, 201, success(undefined, 201))));
}

function bound(pod: KubeObject, nodeName: string, now: string): KubeObject {
  const object = asJsonObject(pod);
  const known = fieldAt(object, "status", "conditions");
  const others = Array.isArray(known) ? known.filter((condition) => field(condition, "type") !== "PodScheduled") : [];
  const condition = { type: "PodScheduled", status: "True", lastProbeTime: null, lastTransitionTime: now };
  return asObject({
    ...object,
    spec: { ...objectAt(object, "spec"), nodeName },
    status: { ...objectAt(object, "status"), conditions: [...others, condition] },
  });
}

function objectAt(object: JsonObject, name: string): JsonObject {
  const value = field(object, name);
  return isJsonObject(value) ? value : {};
}

/** Eviction is a delete that asks the disruption budgets first. */
export function evictPod(call: Call): Answering {
  return actOnPod(call, "Eviction", (said) => evict(call, said));
}

function evict(call: Call, { body, options }: Said): Answering {
  const pod = podOf(call);
  if (!pod.ok) return pod;
  const asked = checkedOptions(fieldAt(body, "deleteOptions") ?? {});
  if (!asked.ok) return asked;
  const allowed = askBudgets(call, pod.value.object);
  if (!allowed.ok) return allowed;
  const dryRun = options.dryRun || asked.value.dryRun;
  const deleting = { ...call, target: { ...call.target, subresource: undefined } };
  const deleted = deleteUnasked(deleting, pod.value, { ...asked.value, dryRun });
  return whenOk(deleted, () => ok(answer(call, 201, success(undefined, 201))));
}

const BUDGETS = { group: "policy", version: "v1", plural: "poddisruptionbudgets" } as const;

/** Pods that are over or not yet running need no budget. */
function askBudgets({ core, target }: Call, pod: KubeObject): Result<void, Failure> {
  const phase = fieldAt(pod, "status", "phase");
  const type = core.types.find(BUDGETS.group, BUDGETS.version, BUDGETS.plural);
  if (type === undefined || phase === "Succeeded" || phase === "Failed" || phase === "Pending") return ok(undefined);
  const listed = core.store.list(type.collection, { namespace: target.namespace });
  const budgets = listed.ok ? listed.value.items.filter(({ object }) => selects(object, pod)) : [];
  const [budget, second] = budgets;
  if (budget === undefined) return ok(undefined);
  if (second !== undefined)
    return unexplained("This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
  const left = fieldAt(budget.object, "status", "disruptionsAllowed");
  if (typeof left !== "number" || left <= 0) return refuse(overBudget(budget.object));
  const next = asObject({
    ...asJsonObject(budget.object),
    status: { ...objectAt(asJsonObject(budget.object), "status"), disruptionsAllowed: left - 1 },
  });
  const object = (revision: number) => withMetadata(next, { resourceVersion: String(revision) });
  core.store.write({ collection: type.collection, key: budget.key, expected: budget.revision, object });
  return ok(undefined);
}

function selects(budget: KubeObject, pod: KubeObject): boolean {
  const selector = fieldAt(budget, "spec", "selector");
  return isJsonObject(selector) && matches(requirementsOf(selector), pod.metadata.labels);
}

function overBudget(budget: KubeObject) {
  const { name } = budget.metadata;
  const healthy = fieldAt(budget, "status", "desiredHealthy") ?? 0;
  const now = fieldAt(budget, "status", "currentHealthy") ?? 0;
  const message = `The disruption budget ${name} needs ${plainText(healthy)} healthy pods and has ${plainText(now)} currently`;
  return {
    code: 429,
    reason: "TooManyRequests",
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    details: { causes: [{ reason: "DisruptionBudget", message }] },
  };
}

/** There is no kubelet here, and it is said as the real server says it: a pod without a node has no log yet, and cannot be entered. */
export function podLog(call: Call): Answered {
  const pod = podOf(call);
  if (!pod.ok) return pod;
  const node = fieldAt(pod.value.object, "spec", "nodeName");
  return node === undefined || node === "" ? ok(textAnswer(200, "")) : noKubelet(call, plainText(node));
}

export function enterPod(call: Call): Answered {
  const pod = podOf(call);
  if (!pod.ok) return pod;
  const node = fieldAt(pod.value.object, "spec", "nodeName");
  if (node === undefined || node === "") return badRequest(`pod ${call.target.name ?? ""} does not have a host assigned`);
  return noKubelet(call, plainText(node));
}

function noKubelet({ core }: Call, node: string): Answered {
  const nodes = core.types.find("", "v1", "nodes");
  if (nodes !== undefined && core.store.get(nodes.collection, node) === undefined)
    return notFound({ resource: nodes.resource, name: node });
  return unexplained(`error dialing backend: node ${node} has no kubelet: this is an embedded API server`);
}
