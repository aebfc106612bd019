/** Namespace, Node, Event, Endpoints, LimitRange, ResourceQuota. */
import type { Json, JsonObject, KubeObject } from "#kube";
import { eventCells, namespaceCells, nodeCells, resourceQuotaCells } from "../cells/core.ts";
import { endpointsCells } from "../cells/networking.ts";
import { at, childOf, entriesAt, isTrueAt, numberAt, objectsAt, textAt, textsAt } from "../draft.ts";
import type { KindRules, RulesByKind } from "../kind-rules.ts";
import { duplicate, forbidden, invalid, invalidEach, required, type Causes } from "../rules/causes.ts";
import { dnsLabel, dnsSubdomain, labelValue, portNumber, qualifiedName } from "../rules/formats.ts";
import { kubeFinalizer } from "../rules/object-meta.ts";
import { quantityOf, validateQuantity, validateResourceName } from "../rules/pod/resources.ts";
import { CIDR_MESSAGE, ipFamilyOf, isCidr, oneOf, validateIP } from "../rules/shared.ts";

const namespace: KindRules = {
  name: dnsLabel,
  onUpdate: "meta-and-spec-first",
  prepareCreate: (draft) => {
    const finalizers = textsAt(draft, "spec", "finalizers");
    if (!finalizers.includes("kubernetes")) childOf(draft, "spec")["finalizers"] = [...finalizers, "kubernetes"];
    draft["status"] = { phase: "Active" };
  },
  prepareUpdate: (draft, previous) => {
    const finalizers = at(previous, "spec", "finalizers");
    const spec = childOf(draft, "spec");
    if (finalizers === undefined) delete spec["finalizers"];
    else spec["finalizers"] = finalizers;
  },
  validate: (object) =>
    textsAt(object, "spec", "finalizers").flatMap((finalizer) => [
      ...invalidEach("spec.finalizers", finalizer, qualifiedName(finalizer)),
      ...kubeFinalizer(finalizer, "spec.finalizers"),
    ]),
  deletion: { answersObject: true },
  fieldSelectors: { "status.phase": (object) => textAt(object, "status", "phase"), name: (object) => object.metadata.name },
  cells: namespaceCells,
};

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

const node: KindRules = {
  keepsStatusOnCreate: true,
  validate: (object) => [...validateTaints(objectsAt(object, "spec", "taints")), ...validatePodCidrs(object)],
  fieldSelectors: { "spec.unschedulable": (object) => String(isTrueAt(object, "spec", "unschedulable")) },
  cells: nodeCells,
};

function validateTaints(taints: readonly JsonObject[]): Causes {
  const seen = new Set<string>();
  return taints.flatMap((taint, index) => {
    const path = `metadata.taints[${index}]`;
    const [key, value, effect] = [textAt(taint, "key"), textAt(taint, "value"), textAt(taint, "effect")];
    const id = `${key}:${effect}`;
    const again = seen.has(id);
    seen.add(id);
    const wrongValue = labelValue(value);
    return [
      ...invalidEach(`${path}.key`, key, qualifiedName(key)),
      ...(wrongValue.length === 0 ? [] : [invalid(`${path}.value`, value, wrongValue.join(";"))]),
      ...oneOf(`${path}.effect`, effect, EFFECTS),
      ...(again ? [repeatedTaint(path, taint)] : []),
    ];
  });
}

function repeatedTaint(path: string, taint: JsonObject): Causes[number] {
  const shown: Json = {
    Key: textAt(taint, "key"),
    Value: textAt(taint, "value"),
    Effect: textAt(taint, "effect"),
    TimeAdded: at(taint, "timeAdded") ?? null,
  };
  const cause = duplicate(path, shown);
  return { ...cause, detail: `${cause.detail}: taints must be unique by key and effect pair` };
}

function validatePodCidrs(object: KubeObject): Causes {
  return textsAt(object, "spec", "podCIDRs").flatMap((cidr, index) =>
    isCidr(cidr) ? [] : [invalid(`spec.podCIDRs[${index}]`, cidr, CIDR_MESSAGE)],
  );
}

const EVENT_FIELDS = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"] as const;

/** Events of either group; they are stored and selected as core/v1. */
const event: KindRules = {
  name: () => [],
  createOnUpdate: true,
  validate: (object) => {
    const [namespace, own] = [textAt(object, "involvedObject", "namespace"), object.metadata.namespace ?? ""];
    const expected = namespace === "" ? "default" : namespace;
    return textAt(object, "eventTime") === "" && own !== expected
      ? [invalid("involvedObject.namespace", namespace, "does not match event.namespace")]
      : [];
  },
  fieldSelectors: {
    ...Object.fromEntries(
      EVENT_FIELDS.map((name) => [`involvedObject.${name}`, (object: KubeObject) => textAt(object, "involvedObject", name)]),
    ),
    reason: (object) => textAt(object, "reason"),
    reportingComponent: (object) => textAt(object, "reportingComponent"),
    source: (object) => textAt(object, "source", "component") || textAt(object, "reportingComponent"),
    type: (object) => textAt(object, "type"),
  },
  cells: eventCells,
};

const newEvent: KindRules = {
  name: () => [],
  createOnUpdate: true,
  validate: validateNewEvent,
  fieldSelectors: {
    ...Object.fromEntries(EVENT_FIELDS.map((name) => [`regarding.${name}`, (object: KubeObject) => textAt(object, "regarding", name)])),
    reason: (object) => textAt(object, "reason"),
    reportingController: (object) => textAt(object, "reportingController"),
    type: (object) => textAt(object, "type"),
  },
};

function validateNewEvent(object: KubeObject, previous: KubeObject | undefined): Causes {
  if (previous !== undefined && textAt(previous, "eventTime") === "") return [];
  const missing = (name: string) => (textAt(object, name) === "" ? [required(name)] : []);
  const type = textAt(object, "type");
  return [
    ...missing("eventTime"),
    ...missing("reportingController"),
    ...invalidEach("reportingController", textAt(object, "reportingController"), qualifiedName(textAt(object, "reportingController"))),
    ...missing("reportingInstance"),
    ...missing("action"),
    ...missing("reason"),
    ...(["Normal", "Warning"].includes(type) ? [] : [invalid("type", "", `has invalid value: ${type}`)]),
  ];
}

const endpoints: KindRules = {
  createOnUpdate: true,
  onUpdate: "spec-between",
  validate: (object) => objectsAt(object, "subsets").flatMap((subset, index) => validateSubset(subset, `subsets[${index}]`)),
  cells: endpointsCells,
};

function validateSubset(subset: JsonObject, path: string): Causes {
  const lists = ["addresses", "notReadyAddresses"] as const;
  const empty = lists.every((list) => objectsAt(subset, list).length === 0);
  const ports = objectsAt(subset, "ports");
  return [
    ...(empty ? [required(path, "must specify `addresses` or `notReadyAddresses`")] : []),
    ...lists.flatMap((list) => objectsAt(subset, list).flatMap((address, index) => validateAddress(address, `${path}.${list}[${index}]`))),
    ...ports.flatMap((port, index) => validateEndpointPort(port, `${path}.ports[${index}]`, ports.length > 1)),
  ];
}

function validateAddress(address: JsonObject, path: string): Causes {
  const [ip, hostname, nodeName] = [textAt(address, "ip"), textAt(address, "hostname"), at(address, "nodeName")];
  return [
    ...validateIP(`${path}.ip`, ip),
    ...(hostname === "" ? [] : invalidEach(`${path}.hostname`, hostname, dnsLabel(hostname))),
    ...(typeof nodeName !== "string" ? [] : invalidEach(`${path}.nodeName`, nodeName, dnsSubdomain(nodeName))),
    ...(ipFamilyOf(ip) === undefined ? [invalid(`${path}.ip`, ip, "must be a valid IP address")] : specialAddress(`${path}.ip`, ip)),
  ];
}

/** Addresses that mean something else on every machine. */
function specialAddress(path: string, ip: string): Causes {
  if (ip === "0.0.0.0" || ip === "::") return [invalid(path, ip, "may not be unspecified (0.0.0.0 or ::)")];
  if (ip.startsWith("127.") || ip === "::1") return [invalid(path, ip, "may not be in the loopback range (127.0.0.0/8, ::1/128)")];
  if (ip.startsWith("169.254.")) return [invalid(path, ip, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")];
  return ip.startsWith("224.0.0.") ? [invalid(path, ip, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")] : [];
}

function validateEndpointPort(port: JsonObject, path: string, needsName: boolean): Causes {
  const [name, number] = [textAt(port, "name"), numberAt(port, "port") ?? 0];
  return [
    ...(needsName && name === "" ? [required(`${path}.name`)] : []),
    ...(name === "" ? [] : invalidEach(`${path}.name`, name, dnsLabel(name))),
    ...invalidEach(`${path}.port`, number, portNumber(number)),
    ...oneOf(`${path}.protocol`, textAt(port, "protocol"), ["SCTP", "TCP", "UDP"]),
  ];
}

const limitRange: KindRules = {
  createOnUpdate: true,
  onUpdate: "meta-and-spec-first",
  validate: (object) => objectsAt(object, "spec", "limits").flatMap((limit, index) => validateLimit(limit, `spec.limits[${index}]`)),
};

const LIMIT_MAPS = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] as const;

function validateLimit(limit: JsonObject, path: string): Causes {
  const type = textAt(limit, "type");
  const names = [...new Set(LIMIT_MAPS.flatMap((map) => entriesAt(limit, map).map(([name]) => name)))];
  const ofPod = type === "Pod" ? (["default", "defaultRequest"] as const).filter((map) => entriesAt(limit, map).length > 0) : [];
  return [
    ...oneOf(`${path}.type`, type, ["Container", "PersistentVolumeClaim", "Pod"]).filter(() => !type.includes("/")),
    ...ofPod.map((map) => forbidden(`${path}.${map}`, "may not be specified when `type` is 'Pod'")),
    ...names.flatMap((name) => validateOrder(limit, name, path)),
  ];
}

function validateOrder(limit: JsonObject, name: string, path: string): Causes {
  const [min, max, fallback, request] = (["min", "max", "default", "defaultRequest"] as const).map((map) => textAt(limit, map, name)) as [
    string,
    string,
    string,
    string,
  ];
  const above = (a: string, b: string) => a !== "" && b !== "" && (quantityOf(a) ?? 0n) > (quantityOf(b) ?? 0n);
  const order = (map: string, value: string, what: string, other: string, sign: string) =>
    invalid(`${path}.${map}[${name}]`, value, `${what} value ${value} is ${sign} ${other}`);
  return [
    ...(above(min, max) ? [order("min", min, "min", `max value ${max}`, "greater than")] : []),
    ...(above(min, request) ? [order("defaultRequest", request, "min", `default request value ${request}`, "greater than")] : []),
    ...(above(request, max) ? [order("defaultRequest", request, "default request", `max value ${max}`, "greater than")] : []),
    ...(above(request, fallback)
      ? [order("defaultRequest", request, "default request", `default limit value ${fallback}`, "greater than")]
      : []),
    ...(above(min, fallback) ? [order("default", min, "min", `default value ${fallback}`, "greater than")] : []),
    ...(above(fallback, max) ? [order("default", fallback, "default", `max value ${max}`, "greater than")] : []),
  ];
}

const resourceQuota: KindRules = {
  onUpdate: "spec-between",
  validate: (object) =>
    entriesAt(object, "spec", "hard").flatMap(([name, amount]) => {
      const path = `spec.hard[${name}]`;
      return [...validateQuotaName(name, path), ...validateQuantity(name, amount, path)];
    }),
  deletion: { answersObject: true },
  cells: resourceQuotaCells,
};

function validateQuotaName(name: string, path: string): Causes {
  const counted = name.startsWith("count/") || name.includes(".storageclass.storage.k8s.io/") || /^(requests|limits)\./.test(name);
  if (counted) return invalidEach(path, name, qualifiedName(name));
  return validateResourceName(name, path);
}

export const coreKinds: RulesByKind = {
  Namespace: namespace,
  Node: node,
  Event: event,
  Endpoints: endpoints,
  LimitRange: limitRange,
  ResourceQuota: resourceQuota,
};

export const eventKinds: RulesByKind = { Event: newEvent };
