/** PersistentVolume, PersistentVolumeClaim, StorageClass and the other kinds of storage.k8s.io. */
import { jsonEqual, type Json, type JsonObject, type KubeObject } from "#kube";
import { persistentVolumeCells, persistentVolumeClaimCells } from "../cells/core.ts";
import { csiDriverCells, storageClassCells, valuesThenAge, volumeAttachmentCells } from "../cells/others.ts";
import { at, childOf, entriesAt, listAt, objectAt, textAt } from "../draft.ts";
import type { KindRules, RulesByKind } from "../kind-rules.ts";
import { forbidden, immutable, invalid, invalidEach, notSupported, required, type Causes } from "../rules/causes.ts";
import { dnsSubdomain, qualifiedName } from "../rules/formats.ts";
import { quantityOf } from "../rules/pod/resources.ts";
import { validateAccessModes, validateClaimSpec, VOLUME_MODES } from "../rules/claim.ts";
import { ifSetOneOf, noBacksteps, requiredText, textIfSet } from "../rules/shared.ts";

const SPEC_FROZEN = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";

const claim: KindRules = {
  onUpdate: "meta-and-spec-first",
  prepareCreate: (draft) => {
    const spec = childOf(draft, "spec");
    const source = objectAt(spec, "dataSource");
    if (source !== undefined && objectAt(spec, "dataSourceRef") === undefined) spec["dataSourceRef"] = source;
    draft["status"] = { phase: "Pending" };
  },
  validate: (object) => validateClaimSpec(objectAt(object, "spec") ?? {}, "spec"),
  validateUpdate: validateClaimUpdate,
  deletion: { answersObject: true },
  cells: persistentVolumeClaimCells,
};

function validateClaimUpdate(next: KubeObject, previous: KubeObject): Causes {
  const bound = textAt(previous, "status", "phase") === "Bound";
  const ignored = ["volumeAttributesClassName", ...(textAt(previous, "spec", "volumeName") === "" ? ["volumeName"] : [])];
  const fixed = (object: KubeObject): Json => {
    const entries = Object.entries(objectAt(object, "spec") ?? {}).filter(
      ([name]) => !ignored.includes(name) && !(bound && name === "resources"),
    );
    return Object.fromEntries(entries);
  };
  if (!jsonEqual(fixed(next), fixed(previous))) return [forbidden("spec", SPEC_FROZEN)];
  const [now, before] = [next, previous].map((object) => quantityOf(textAt(object, "spec", "resources", "requests", "storage")) ?? 0n) as [
    bigint,
    bigint,
  ];
  const smaller = bound && now < before && now < (quantityOf(textAt(previous, "status", "capacity", "storage")) ?? 0n);
  return smaller ? [forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")] : [];
}

const volume: KindRules = {
  onUpdate: "meta-and-spec-first",
  prepareCreate: (draft) => {
    draft["status"] = { phase: "Pending", lastPhaseTransitionTime: at(draft, "metadata", "creationTimestamp") };
  },
  validate: validateVolume,
  validateUpdate: (next, previous) => {
    const sources = (object: KubeObject): Json => Object.fromEntries(SOURCES.map((name) => [name, at(object, "spec", name) ?? null]));
    const frozen = jsonEqual(sources(next), sources(previous))
      ? []
      : [forbidden("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation")];
    const mode = jsonEqual(at(next, "spec", "volumeMode"), at(previous, "spec", "volumeMode"))
      ? []
      : [immutable("spec.volumeMode", at(next, "spec", "volumeMode") ?? null)];
    return [...validateVolume(next), ...frozen, ...mode];
  },
  deletion: { answersObject: true },
  cells: persistentVolumeCells,
};

function validateVolume(object: KubeObject): Causes {
  const spec = objectAt(object, "spec") ?? {};
  return [
    ...validateAccessModes(spec, "spec", ""),
    ...validateCapacity(spec),
    ...ifSetOneOf("spec.persistentVolumeReclaimPolicy", spec["persistentVolumeReclaimPolicy"], ["Delete", "Recycle", "Retain"]),
    ...validateSource(spec),
    ...textIfSet("spec.storageClassName", textAt(spec, "storageClassName"), dnsSubdomain),
    ...ifSetOneOf("spec.volumeMode", spec["volumeMode"], VOLUME_MODES),
  ];
}

function validateCapacity(spec: JsonObject): Causes {
  const capacity = entriesAt(spec, "capacity");
  const shown = capacity.length === 0 ? null : Object.fromEntries(capacity);
  const onlyStorage = capacity.length === 1 && capacity[0]?.[0] === "storage";
  return [
    ...(capacity.length === 0 ? [required("spec.capacity")] : []),
    ...(onlyStorage ? [] : [notSupported("spec.capacity", shown, ["storage"])]),
    ...capacity.flatMap(([name, amount]) =>
      (quantityOf(amount) ?? 0n) > 0n ? [] : [invalid(`spec.capacity[${name}]`, amount, "must be greater than zero")],
    ),
  ];
}

const SOURCES = [
  "hostPath",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "glusterfs",
  "flocker",
  "nfs",
  "rbd",
  "quobyte",
  "cephfs",
  "iscsi",
  "cinder",
  "fc",
  "flexVolume",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "scaleIO",
  "local",
  "storageos",
  "csi",
];

function validateSource(spec: JsonObject): Causes {
  const [first, ...others] = SOURCES.filter((name) => objectAt(spec, name) !== undefined);
  if (first === undefined) return [required("spec", "must specify a volume type")];
  const own =
    first === "hostPath"
      ? [
          ...requiredText("spec.hostPath.path", textAt(spec, first, "path")),
          ...noBacksteps("spec.hostPath.path", textAt(spec, first, "path")),
        ]
      : [];
  const csi =
    first === "csi"
      ? [
          ...requiredText("spec.csi.driver", textAt(spec, first, "driver"), dnsSubdomain),
          ...requiredText("spec.csi.volumeHandle", textAt(spec, first, "volumeHandle")),
        ]
      : [];
  return [...own, ...csi, ...others.map((name) => forbidden(`spec.${name}`, "may not specify more than 1 volume type"))];
}

const storageClass: KindRules = {
  validate: (object) => {
    const provisioner = textAt(object, "provisioner");
    return [
      ...(provisioner === ""
        ? [required("provisioner")]
        : invalidEach("provisioner", provisioner.toLowerCase(), qualifiedName(provisioner.toLowerCase()))),
      ...ifSetOneOf("reclaimPolicy", at(object, "reclaimPolicy"), ["Delete", "Retain"]),
      ...ifSetOneOf("volumeBindingMode", at(object, "volumeBindingMode"), ["Immediate", "WaitForFirstConsumer"]),
    ];
  },
  onUpdate: "meta-and-spec-first",
  validateUpdate: (next, previous) => {
    const fixed = (name: string) => (jsonEqual(at(next, name), at(previous, name)) ? [] : [immutable(name, at(next, name) ?? null)]);
    return (["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"] as const).flatMap(fixed);
  },
  deletion: { answersObject: true },
  cells: storageClassCells,
};

export const volumeKinds: RulesByKind = { PersistentVolume: volume, PersistentVolumeClaim: claim };

export const storageKinds: RulesByKind = {
  StorageClass: storageClass,
  CSIDriver: { needsVersionOnUpdate: true, deletion: { answersObject: true }, cells: csiDriverCells },
  CSINode: {
    needsVersionOnUpdate: true,
    deletion: { answersObject: true },
    cells: valuesThenAge((object) => listAt(object, "spec", "drivers").length),
  },
  CSIStorageCapacity: { needsVersionOnUpdate: true },
  VolumeAttachment: { needsVersionOnUpdate: true, deletion: { answersObject: true }, cells: volumeAttachmentCells },
  VolumeAttributesClass: { deletion: { answersObject: true }, cells: valuesThenAge((object) => textAt(object, "driverName")) },
};
