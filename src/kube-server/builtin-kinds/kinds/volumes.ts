/** PersistentVolume, PersistentVolumeClaim, StorageClass and the other kinds of storage.k8s.io. */
import { jsonEqual, type Json, type JsonObject, type KubeObject } from "#kube";
import { persistentVolumeCells, persistentVolumeClaimCells } from "../cells/core.ts";
import { storageClassCells, valuesThenAge, volumeAttachmentCells } from "../cells/others.ts";
import { at, carryField, childOf, entriesAt, objectAt, objectsAt, textAt, type Draft } from "../draft.ts";
import type { KindRules, RulesByKind } from "../kind-rules.ts";
import { forbidden, immutable, invalid, invalidEach, NOT_NEGATIVE, notSupported, required, type Causes } from "../rules/causes.ts";
import { dnsSubdomain, qualifiedName } from "../rules/formats.ts";
import { internalStruct } from "../rules/internal-template.ts";
import { jsonDiff } from "../rules/unified-diff.ts";
import { quantityOf } from "../rules/pod/resources.ts";
import { validateVolumeSource } from "../rules/pod/volumes.ts";
import { validateAccessModes, validateClaimSpec, VOLUME_MODES } from "../rules/claim.ts";
import { ifSetOneOf, noBacksteps, requiredText, textIfSet, validateLabelSelector } from "../rules/shared.ts";
import { csiDriver, csiNode, validateTopologies } from "./csi.ts";

const SPEC_FROZEN = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";

const claim: KindRules = {
  onUpdate: "meta-and-spec-first",
  prepareCreate: (draft) => {
    settleSources(childOf(draft, "spec"), undefined);
    draft["status"] = { phase: "Pending" };
  },
  prepareUpdate: (draft, previous) => settleSources(childOf(draft, "spec"), objectAt(previous, "spec")),
  validate: (object) => validateClaimSpec(objectAt(object, "spec") ?? {}, "spec"),
  validateUpdate: validateClaimUpdate,
  validateStatus: (next) =>
    entriesAt(next, "status", "capacity").flatMap(([name, amount]) =>
      (quantityOf(amount) ?? 0n) < 0n ? [invalid(`status.capacity[${name}]`, wholeUnits(amount), "must be a valid resource quantity")] : [],
    ),
  deletion: { answersObject: true },
  cells: persistentVolumeClaimCells,
};

/** Shown without unit, as a number. */
function wholeUnits(amount: string): number {
  return Math.ceil(Number(quantityOf(amount) ?? 0n) / 1e9);
}

/** Two names for one thing: `dataSource` is the older, and knows only claims and snapshots. Sources in other namespaces are not served. */
function settleSources(spec: Draft, old: JsonObject | undefined): void {
  const oldRef = objectAt(old, "dataSourceRef");
  if (textAt(spec, "dataSourceRef", "namespace") !== "" && oldRef === undefined) delete spec["dataSourceRef"];
  const [source, ref] = [objectAt(spec, "dataSource"), objectAt(spec, "dataSourceRef")];
  const isNew = objectAt(old, "dataSource") === undefined && oldRef === undefined;
  if (source !== undefined && ref === undefined) {
    if (isNew && !isClaimOrSnapshot(source)) delete spec["dataSource"];
    else spec["dataSourceRef"] = source;
  }
  if (source === undefined && ref !== undefined && textAt(ref, "namespace") === "") spec["dataSource"] = ref;
}

function isClaimOrSnapshot(source: JsonObject): boolean {
  const [kind, group] = [textAt(source, "kind"), textAt(source, "apiGroup")];
  return (kind === "PersistentVolumeClaim" && group === "") || (kind === "VolumeSnapshot" && group === "snapshot.storage.k8s.io");
}

const CLAIM_SPEC = "io.k8s.api.core.v1.PersistentVolumeClaimSpec";

function validateClaimUpdate(next: KubeObject, previous: KubeObject): Causes {
  const bound = textAt(previous, "status", "phase") === "Bound";
  const before: Draft = { ...objectAt(previous, "spec") };
  if (textAt(before, "volumeName") === "") carryField(before, objectAt(next, "spec"), "volumeName");
  const after: Draft = { ...objectAt(next, "spec") };
  if (bound) for (const name of ["volumeAttributesClassName", "resources"]) carryField(after, before, name);
  const frozen = jsonEqual(after, before) ? [] : [forbidden("spec", `${SPEC_FROZEN}\n${claimDiff(before, after)}`)];
  return [...frozen, ...validateShrinking(next, previous)];
}

function claimDiff(before: Draft, after: Draft): string {
  const [old, now] = [before, after].map((spec) => internalStruct(CLAIM_SPEC, spec)) as [Json, Json];
  return jsonDiff(old, now);
}

function validateShrinking(next: KubeObject, previous: KubeObject): Causes {
  const sizeOf = (object: KubeObject) => quantityOf(textAt(object, "spec", "resources", "requests", "storage")) ?? 0n;
  const [now, before] = [sizeOf(next), sizeOf(previous)];
  const smaller = now < before && now <= (quantityOf(textAt(previous, "status", "capacity", "storage")) ?? 0n);
  return smaller ? [forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")] : [];
}

const volume: KindRules = {
  onUpdate: "meta-and-spec-first",
  prepareCreate: (draft) => {
    draft["status"] = { phase: "Pending", lastPhaseTransitionTime: at(draft, "metadata", "creationTimestamp") };
  },
  prepareStatus: (draft, previous, now) => {
    const [status, old] = [childOf(draft, "status"), objectAt(previous, "status")];
    const moved = textAt(status, "phase") !== textAt(old, "phase");
    const given = at(status, "lastPhaseTransitionTime");
    if (moved && now !== undefined && (given === undefined || given === at(old, "lastPhaseTransitionTime")))
      status["lastPhaseTransitionTime"] = now;
    if (!moved && given === undefined) carryField(status, old, "lastPhaseTransitionTime");
  },
  validate: validateVolume,
  validateUpdate: (next, previous) => {
    const sources = (object: KubeObject): Json => Object.fromEntries(SOURCES.map((name) => [name, at(object, "spec", name) ?? null]));
    const frozen = jsonEqual(sources(next), sources(previous))
      ? []
      : [
          forbidden(
            "spec.persistentvolumesource",
            `spec.persistentvolumesource is immutable after creation\n${sourceDiff(next, previous)}`,
          ),
        ];
    const mode = jsonEqual(at(next, "spec", "volumeMode"), at(previous, "spec", "volumeMode"))
      ? []
      : [immutable("volumeMode", at(next, "spec", "volumeMode") ?? null)];
    return [...validateVolume(next), ...frozen, ...mode];
  },
  deletion: { answersObject: true },
  cells: persistentVolumeCells,
};

const VOLUME_SPEC = "io.k8s.api.core.v1.PersistentVolumeSpec";

/** Of the spec, what the sources are: a struct of their own in Go, in the order of its fields. */
function sourceDiff(next: KubeObject, previous: KubeObject): string {
  const shown = (object: KubeObject): Json => {
    const whole = internalStruct(VOLUME_SPEC, objectAt(object, "spec") ?? {});
    return Object.fromEntries(INTERNAL_SOURCES.map((name) => [name, at(whole, name) ?? null]));
  };
  return jsonDiff(shown(previous), shown(next));
}

function validateVolume(object: KubeObject): Causes {
  const spec = objectAt(object, "spec") ?? {};
  return [
    ...validateAccessModes(spec, "spec", ""),
    ...validateCapacity(spec),
    ...ifSetOneOf("spec.persistentVolumeReclaimPolicy", spec["persistentVolumeReclaimPolicy"], ["Delete", "Recycle", "Retain"]),
    ...validateSource(spec),
    ...(objectAt(spec, "local") !== undefined && objectAt(spec, "nodeAffinity", "required") === undefined
      ? [required("spec.nodeAffinity", "Local volume requires node affinity")]
      : []),
    ...(/^\/+$/.test(textAt(spec, "hostPath", "path")) && spec["persistentVolumeReclaimPolicy"] === "Recycle"
      ? [forbidden("spec.persistentVolumeReclaimPolicy", "may not be 'recycle' for a hostPath mount of '/'")]
      : []),
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

function validateAttachment(object: KubeObject): Causes {
  const [inline, named] = [
    objectAt(object, "spec", "source", "inlineVolumeSpec"),
    textAt(object, "spec", "source", "persistentVolumeName"),
  ];
  const path = "spec.source";
  return [
    ...requiredText("spec.attacher", textAt(object, "spec", "attacher"), dnsSubdomain),
    ...(inline === undefined && named === ""
      ? [required(path, "must specify exactly one of inlineVolumeSpec and persistentVolumeName")]
      : []),
    ...(inline !== undefined && named !== ""
      ? [forbidden(path, "must specify exactly one of inlineVolumeSpec and persistentVolumeName")]
      : []),
    ...invalidEach("spec.nodeName", textAt(object, "spec", "nodeName"), dnsSubdomain(textAt(object, "spec", "nodeName"))),
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

const INTERNAL_SOURCES =
  "GCEPersistentDisk AWSElasticBlockStore HostPath Glusterfs NFS RBD Quobyte ISCSI FlexVolume Cinder CephFS FC Flocker AzureFile VsphereVolume AzureDisk PhotonPersistentDisk PortworxVolume ScaleIO Local StorageOS CSI".split(
    " ",
  );

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
  const shared = first === "hostPath" || first === "csi" ? [] : validateVolumeSource(first, objectAt(spec, first) ?? {}, `spec.${first}`);
  const csi =
    first === "csi"
      ? [
          ...requiredText("spec.csi.driver", textAt(spec, first, "driver"), dnsSubdomain),
          ...requiredText("spec.csi.volumeHandle", textAt(spec, first, "volumeHandle")),
        ]
      : [];
  return [...own, ...shared, ...csi, ...others.map((name) => forbidden(`spec.${name}`, "may not specify more than 1 volume type"))];
}

function emptyParameter(object: KubeObject): Causes {
  return entriesAt(object, "parameters").some(([name]) => name === "") ? [invalid("parameters", "", "field can not be empty.")] : [];
}

const storageClass: KindRules = {
  validate: (object) => {
    const provisioner = textAt(object, "provisioner");
    return [
      ...(provisioner === ""
        ? [required("provisioner")]
        : invalidEach("provisioner", provisioner.toLowerCase(), qualifiedName(provisioner.toLowerCase()))),
      ...emptyParameter(object),
      ...ifSetOneOf("reclaimPolicy", at(object, "reclaimPolicy"), ["Delete", "Retain"]),
      ...ifSetOneOf("volumeBindingMode", at(object, "volumeBindingMode"), ["Immediate", "WaitForFirstConsumer"]),
      ...validateTopologies(objectsAt(object, "allowedTopologies"), "allowedTopologies"),
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

const ATTACHMENT_SPEC = "io.k8s.api.storage.v1.VolumeAttachmentSpec";

export const storageKinds: RulesByKind = {
  StorageClass: storageClass,
  CSIDriver: csiDriver,
  CSINode: csiNode,
  CSIStorageCapacity: {
    needsVersionOnUpdate: true,
    onUpdate: "meta-and-spec-first",
    validate: (object) => {
      const [name, capacity] = [textAt(object, "storageClassName"), textAt(object, "capacity")];
      return [
        ...validateLabelSelector(objectAt(object, "nodeTopology"), "nodeTopology"),
        ...invalidEach("storageClassName", name, dnsSubdomain(name)),
        ...((quantityOf(capacity) ?? 0n) < 0n ? [invalid("capacity", capacity, NOT_NEGATIVE)] : []),
      ];
    },
    validateUpdate: (next, previous) =>
      ["nodeTopology", "storageClassName"].flatMap((name) =>
        jsonEqual(at(next, name), at(previous, name)) ? [] : [invalid(name, at(next, name) ?? null, "field is immutable")],
      ),
  },
  VolumeAttachment: {
    needsVersionOnUpdate: true,
    statusKeepsMeta: true,
    validate: validateAttachment,
    validateUpdate: (next, previous) =>
      jsonEqual(at(next, "spec"), at(previous, "spec"))
        ? []
        : [immutable("spec", internalStruct(ATTACHMENT_SPEC, objectAt(next, "spec") ?? {}))],
    deletion: { answersObject: true },
    cells: volumeAttachmentCells,
  },
  VolumeAttributesClass: {
    onUpdate: "meta-and-spec-last",
    validate: validateAttributesClass,
    validateUpdate: (next, previous) =>
      ["driverName", "parameters"].flatMap((name) =>
        jsonEqual(at(next, name), at(previous, name)) ? [] : [forbidden(name, `updates to ${name} are forbidden.`)],
      ),
    deletion: { answersObject: true },
    cells: valuesThenAge((object) => textAt(object, "driverName")),
  },
};

function validateAttributesClass(object: KubeObject): Causes {
  const driver = textAt(object, "driverName").toLowerCase();
  return [
    ...requiredText("driverName", driver, qualifiedName),
    ...emptyParameter(object),
    ...(entriesAt(object, "parameters").length === 0 ? [required("parameters", "must contain at least one key/value pair")] : []),
  ];
}
