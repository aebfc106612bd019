/** Rows of Namespaces, Nodes, ConfigMaps, Secrets, Events, volumes and quotas. */
import type { Json, JsonObject, KubeObject } from "#kube";
import { at, entriesAt, isTrueAt, numberAt, objectAt, objectsAt, textAt, textsAt } from "../draft.ts";
import { accessModesText, ageOf, orNone, sinceText, UNKNOWN, UNSET } from "./text.ts";
import type { Cells } from "./workloads.ts";

const sizeAt = (object: unknown, name: string) => Object.keys(objectAt(object, name) ?? {}).length;

export const namespaceCells: Cells = (object, now) => [object.metadata.name, textAt(object, "status", "phase"), ageOf(object, now)];
export const configMapCells: Cells = (object, now) => [
  object.metadata.name,
  sizeAt(object, "data") + sizeAt(object, "binaryData"),
  ageOf(object, now),
];
export const secretCells: Cells = (object, now) => [
  object.metadata.name,
  textAt(object, "type"),
  sizeAt(object, "data"),
  ageOf(object, now),
];

export const nodeCells: Cells = (object, now) => {
  const info = objectAt(object, "status", "nodeInfo");
  const architecture = textAt(info, "architecture");
  return [
    object.metadata.name,
    nodeStatus(object),
    orNone(nodeRoles(object).join(",")),
    ageOf(object, now),
    textAt(info, "kubeletVersion"),
    nodeAddress(object, "InternalIP"),
    nodeAddress(object, "ExternalIP"),
    orNone(textAt(info, "osImage"), UNKNOWN),
    `${orNone(textAt(info, "kernelVersion"), UNKNOWN)}${architecture === "" ? "" : ` (${architecture})`}`,
    orNone(textAt(info, "containerRuntimeVersion"), UNKNOWN),
  ];
};

function nodeStatus(node: KubeObject): string {
  const ready = objectsAt(node, "status", "conditions").findLast(({ type }) => type === "Ready");
  const status = ready === undefined ? "Unknown" : ready["status"] === "True" ? "Ready" : "NotReady";
  return isTrueAt(node, "spec", "unschedulable") ? `${status},SchedulingDisabled` : status;
}

function nodeRoles(node: KubeObject): readonly string[] {
  const prefix = "node-role.kubernetes.io/";
  const roles = entriesAt(node, "metadata", "labels").map(([key, value]) => {
    if (key.startsWith(prefix)) return key.slice(prefix.length);
    return key === "kubernetes.io/role" ? value : "";
  });
  return [...new Set(roles.filter((role) => role !== ""))].toSorted();
}

function nodeAddress(node: KubeObject, type: string): string {
  return orNone(
    textAt(
      objectsAt(node, "status", "addresses").find((address) => address["type"] === type),
      "address",
    ),
  );
}

function phaseOf(object: KubeObject): string {
  return object.metadata.deletionTimestamp === undefined ? textAt(object, "status", "phase") : "Terminating";
}

const amount = (object: unknown, ...path: readonly string[]) => orNone(textAt(at(object, ...path), "storage"), "0");
const CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class";
const className = (object: KubeObject) =>
  textAt(object, "metadata", "annotations", CLASS_ANNOTATION) || textAt(object, "spec", "storageClassName");

export const persistentVolumeCells: Cells = (object, now) => {
  const claim = objectAt(object, "spec", "claimRef");
  return [
    object.metadata.name,
    amount(object, "spec", "capacity"),
    accessModesText(textsAt(object, "spec", "accessModes")),
    textAt(object, "spec", "persistentVolumeReclaimPolicy"),
    phaseOf(object),
    claim === undefined ? "" : `${textAt(claim, "namespace")}/${textAt(claim, "name")}`,
    className(object),
    orNone(textAt(object, "spec", "volumeAttributesClassName"), UNSET),
    textAt(object, "status", "reason"),
    ageOf(object, now),
    orNone(textAt(object, "spec", "volumeMode"), UNSET),
  ];
};

export const persistentVolumeClaimCells: Cells = (object, now) => {
  const bound = textAt(object, "spec", "volumeName") !== "";
  return [
    object.metadata.name,
    phaseOf(object),
    textAt(object, "spec", "volumeName"),
    bound ? amount(object, "status", "capacity") : "",
    bound ? accessModesText(textsAt(object, "status", "accessModes")) : "",
    className(object),
    orNone(textAt(object, "spec", "volumeAttributesClassName"), UNSET),
    ageOf(object, now),
    orNone(textAt(object, "spec", "volumeMode"), UNSET),
  ];
};

/** As core/v1; events.k8s.io is shown through its core form. */
export const eventCells: Cells = (object, now) => {
  const series = objectAt(object, "series");
  const first = sinceText(at(object, "firstTimestamp") ?? at(object, "eventTime"), now);
  const last = at(object, "lastTimestamp") === undefined ? first : sinceText(at(object, "lastTimestamp"), now);
  const count = series === undefined ? numberAt(object, "count") || 1 : (numberAt(series, "count") ?? 0);
  return [
    series === undefined ? last : sinceText(at(series, "lastObservedTime"), now),
    textAt(object, "type"),
    textAt(object, "reason"),
    eventTarget(objectAt(object, "involvedObject")),
    textAt(object, "involvedObject", "fieldPath"),
    eventSource(object),
    textAt(object, "message").trim(),
    first,
    count,
    object.metadata.name,
  ];
};

function eventTarget(target: JsonObject | undefined): string {
  const [kind, name] = [textAt(target, "kind").toLowerCase(), textAt(target, "name")];
  return name === "" ? kind : `${kind}/${name}`;
}

function eventSource(event: KubeObject): string {
  const component = textAt(event, "source", "component") || textAt(event, "reportingComponent");
  const instance = textAt(event, "source", "host") || textAt(event, "reportingInstance");
  return instance === "" ? component : `${component}, ${instance}`;
}

export const resourceQuotaCells: Cells = (object, now): readonly Json[] => {
  const hard = entriesAt(object, "status", "hard");
  const shown = (limits: boolean) =>
    hard
      .filter(([name]) => name.startsWith("limits.") === limits)
      .map(([name, value]) => `${name}: ${textAt(object, "status", "used", name) || "0"}/${value}`)
      .join(", ");
  return [object.metadata.name, shown(false), shown(true), ageOf(object, now)];
};
