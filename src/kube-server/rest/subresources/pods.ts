/** Subresources of pods that act on them: binding to a node, and connections, which would need a kubelet. */
import { ok, timestamp, whenOk, type Result } from "#base";
import { field, fieldAt, isJsonObject, type JsonObject, type KubeObject } from "#kube";
import { attributesOf } from "../attributes.ts";
import { inVersion, readStored, type RequestContext } from "../../protocol/core.ts";
import { decodeBody } from "../../protocol/decode-body.ts";
import { plainText } from "../../protocol/go-format.ts";
import { asJsonObject, asObject } from "../../protocol/managed-kinds.ts";
import { matchNamespace } from "../../protocol/namespaces.ts";
import { metaText } from "../../protocol/object-meta.ts";
import { valueResponse, type ResponseResult, type PendingResponse } from "../../protocol/respond.ts";
import { badRequest, conflict, notFound, success, errorWithoutReason, type Failure } from "../../protocol/status.ts";
import { changeStored, updateObject } from "../update-object.ts";
import { writeOptions, type WriteOptions } from "../../protocol/write-options.ts";
import type { ResourceType } from "../../resource-type.ts";
import { hiddenGvk, withBodyKind } from "./hidden-kinds.ts";
import type { Stored } from "../../store/index.ts";

export function podOf(call: RequestContext): Result<Stored, Failure> {
  const { type, name = "" } = call.target;
  const stored = readStored(call, name);
  return stored === undefined ? notFound({ resource: type.resource, name }) : ok(stored);
}

export type PodAction = { readonly body: KubeObject; readonly options: WriteOptions };

/** Runs an action on an existing pod; admission reviews the body, not the pod. */
export function actOnPod(call: RequestContext, kind: "Binding" | "Eviction", act: (action: PodAction) => PendingResponse): PendingResponse {
  const options = writeOptions(call.request, "CreateOptions");
  if (!options.ok) return options;
  const decoded = decodeBody(withBodyKind(call, kind), options.value.fieldValidation);
  if (!decoded.ok) return decoded;
  const placed = matchNamespace(call, decoded.value);
  if (!placed.ok) return placed;
  const object = placed.value;
  const { name = "" } = call.target;
  if (metaText(object, "name") !== name) return badRequest(`name in URL does not match name in ${kind} object`);
  const action = { body: object, options: options.value };
  const gvk = hiddenGvk(kind);
  const attributes = attributesOf(call, { operation: "CREATE", name, kind: gvk, dryRun: options.value.dryRun, object, old: undefined });
  const { admission } = call.core;
  return whenOk(admission.mutate(attributes), () => whenOk(admission.validate(attributes), () => act(action)));
}

export function bindPod(call: RequestContext): PendingResponse {
  return actOnPod(call, "Binding", (action) => changeStored(call, () => assign(call, action), action.options));
}

function assign(call: RequestContext, { body, options }: PodAction): PendingResponse {
  const pod = podOf(call);
  if (!pod.ok) return pod;
  const [node, kind] = ["name", "kind"].map((part) => plainText(fieldAt(body, "target", part) ?? "")) as [string, string];
  const wrong = [
    ...(kind === "" || kind === "Node"
      ? []
      : [`target.kind: Unsupported value: ${JSON.stringify(kind)}: supported values: "Node", "<empty>"`]),
    ...(node === "" ? ["target.name: Required value"] : []),
  ];
  if (wrong.length > 0) return errorWithoutReason(wrong.length === 1 ? wrong.join("") : `[${wrong.join(", ")}]`);
  const { name = "", type } = call.target;
  const resource = { ...type.resource, plural: "pods/binding" };
  const uid = metaText(body, "uid");
  if (uid !== "" && uid !== metaText(pod.value.object, "uid"))
    return conflict({ resource: type.resource, name }, preconditionError(call, "UID", [uid, metaText(pod.value.object, "uid")]));
  const [version, current] = [metaText(body, "resourceVersion"), metaText(pod.value.object, "resourceVersion")];
  if (version !== "" && version !== current)
    return conflict({ resource: type.resource, name }, preconditionError(call, "ResourceVersion", [version, current]));
  if (metaText(pod.value.object, "deletionTimestamp") !== "")
    return conflict({ resource, name }, `pod ${name} is being deleted, cannot be assigned to a host`);
  const assigned = fieldAt(pod.value.object, "spec", "nodeName");
  if (assigned !== undefined && assigned !== "") {
    return conflict({ resource, name }, `pod ${name} is already assigned to node "${plainText(assigned)}"`);
  }
  if (isGated(pod.value.object)) return conflict({ resource, name }, `pod ${name} has non-empty .spec.schedulingGates`);
  const next = bound(inVersion(type, pod.value.object), body, { node, now: timestamp(call.core.clock) });
  const prepare = (object: KubeObject) => object;
  const written = updateObject(call, { previous: pod.value, next, options, tracked: true, prepare, trusted: true });
  return whenOk(written, () => ok(valueResponse(call, 201, success(undefined, 201))));
}

function isGated(pod: KubeObject): boolean {
  const gates = fieldAt(pod, "spec", "schedulingGates");
  return Array.isArray(gates) && gates.length > 0;
}

/** An error of a real server's storage, with its key. */
function preconditionError({ target }: RequestContext, what: string, [meant, found]: readonly [string, string]): string {
  const place = `/registry/pods/${target.namespace ?? ""}/${target.name ?? ""}`;
  const problem = `Precondition failed: ${what} in precondition: ${meant}, ${what} in object meta: ${found}`;
  return `StorageError: invalid object, Code: 4, Key: ${place}, ResourceVersion: 0, AdditionalErrorMsg: ${problem}`;
}

/** A Binding may also add labels and annotations to the Pod. */
function bound(pod: KubeObject, binding: KubeObject, { node, now }: { readonly node: string; readonly now: string }): KubeObject {
  const object = asJsonObject(pod);
  const [labels, annotations] = (["labels", "annotations"] as const).map((name) => ({ ...pod.metadata[name], ...binding.metadata[name] }));
  const known = fieldAt(object, "status", "conditions");
  const others = Array.isArray(known) ? known.filter((condition) => field(condition, "type") !== "PodScheduled") : [];
  const condition = { type: "PodScheduled", status: "True", lastProbeTime: null, lastTransitionTime: now };
  return asObject({
    ...object,
    metadata: {
      ...objectIn(object, "metadata"),
      ...(Object.keys(labels ?? {}).length === 0 ? {} : { labels: labels ?? {} }),
      ...(Object.keys(annotations ?? {}).length === 0 ? {} : { annotations: annotations ?? {} }),
    },
    spec: { ...objectIn(object, "spec"), nodeName: node },
    status: { ...objectIn(object, "status"), conditions: [...others, condition] },
  });
}

export function objectIn(object: JsonObject, name: string): JsonObject {
  const value = field(object, name);
  return isJsonObject(value) ? value : {};
}

const LISTS = ["initContainers", "containers", "ephemeralContainers"] as const;

/** Without a name: the only container. */
export function chosenContainer({ request, target }: RequestContext, pod: KubeObject): Result<string, Failure> {
  const names = (list: string) => {
    const containers = fieldAt(pod, "spec", list);
    return Array.isArray(containers) ? containers.map((container) => plainText(field(container, "name") ?? "")) : [];
  };
  const asked = request.query.get("container") ?? "";
  const own = names("containers");
  const { name = "" } = target;
  if (asked === "" && own.length > 1) {
    const init = names("initContainers");
    const others = init.length > 0 ? ` or one of the init containers: [${init.join(" ")}]` : "";
    return badRequest(`a container name must be specified for pod ${name}, choose one of: [${own.join(" ")}]${others}`);
  }
  if (asked === "" || LISTS.some((list) => names(list).includes(asked))) return ok(asked === "" ? (own[0] ?? "") : asked);
  return badRequest(`container ${asked} is not valid for pod ${name}`);
}

export function connectToPod(call: RequestContext): ResponseResult {
  const pod = podOf(call);
  if (!pod.ok) return pod;
  const container = chosenContainer(call, pod.value.object);
  if (!container.ok && call.target.subresource !== "portforward") return container;
  const node = plainText(fieldAt(pod.value.object, "spec", "nodeName") ?? "");
  if (node === "") return badRequest(`pod ${call.target.name ?? ""} does not have a host assigned`);
  return noKubelet(call, node, undefined);
}

/** The error for a missing node has the resource of the caller. */
export function noKubelet({ core }: RequestContext, node: string, caller: ResourceType | undefined): ResponseResult {
  const nodes = core.types.find("", "v1", "nodes");
  if (nodes !== undefined && core.store.get(nodes.collection, node) === undefined)
    return notFound({ resource: (caller ?? nodes).resource, name: node });
  return errorWithoutReason(`error dialing backend: node ${node} has no kubelet: this is an embedded API server`);
}
