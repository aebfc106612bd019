/** Pod, PodTemplate, ReplicationController. */
import { jsonEqual, type JsonObject, type KubeObject } from "#kube";
import { podCells, podRowConditions } from "../cells/pod.ts";
import { podTemplateCells, replicationControllerCells } from "../cells/workloads.ts";
import {
  asJson,
  at,
  carryField,
  childOf,
  draftsAt,
  entriesAt,
  isTrueAt,
  numberAt,
  objectAt,
  objectsAt,
  textAt,
  type Draft,
} from "../draft.ts";
import type { KindRules, RulesByKind } from "../kind-rules.ts";
import { forbidden, goMap, invalid, invalidEach, required, type Causes } from "../rules/causes.ts";
import { internalPodSpec } from "../rules/internal-template.ts";
import { alwaysRestarts, validatePodTemplate } from "../rules/pod/pod-template.ts";
import { validatePodSpec } from "../rules/pod/pod-spec.ts";
import { qosClassOf } from "../rules/pod/qos-class.ts";
import { ipFamilyOf, requiredText, selects, validateIP } from "../rules/shared.ts";
import { dnsNameWarnings, podWarnings, templateWarnings } from "../rules/warnings.ts";
import { counts, replicaStatus } from "../rules/workloads.ts";
import { dnsSubdomain, longName, qualifiedName } from "../rules/formats.ts";
import { jsonDiff } from "../rules/unified-diff.ts";
import { ephemeralContainers, resize } from "./pod-views.ts";

const pod: KindRules = {
  generation: (object) => at(object, "spec"),
  onUpdate: "meta-then-all",
  prepareCreate: startPod,
  prepareStatus: (draft, previous) => {
    const status = childOf(draft, "status");
    if (textAt(status, "qosClass") === "") status["qosClass"] = at(previous, "status", "qosClass");
    const observed = at(previous, "status", "observedGeneration");
    if ((numberAt(status, "observedGeneration") ?? 0) === 0 && observed !== undefined) status["observedGeneration"] = observed;
    const owners = at(previous, "metadata", "ownerReferences");
    if (owners === undefined) delete childOf(draft, "metadata")["ownerReferences"];
    else childOf(draft, "metadata")["ownerReferences"] = owners;
  },
  validate: (object, previous) => [
    ...validatePodSpec(objectAt(object, "spec") ?? {}, "spec", { isPod: true }),
    ...validateTokens(object),
    ...(previous === undefined ? validateNewPod(object) : []),
  ],
  validateUpdate: validatePodUpdate,
  validateStatus: validatePodStatus,
  views: { ephemeralcontainers: ephemeralContainers, resize },
  warnings: (next, previous) => [
    ...(previous === undefined ? dnsNameWarnings(next, "this is used in the Pod's hostname") : []),
    ...(previous === undefined || !jsonEqual(at(next, "spec"), at(previous, "spec")) ? podWarnings(asJson(next), "") : []),
  ],
  deletion: { answersObject: true, gracePeriodSeconds: graceOf },
  fieldSelectors: {
    "spec.nodeName": (object) => textAt(object, "spec", "nodeName"),
    "spec.restartPolicy": (object) => textAt(object, "spec", "restartPolicy"),
    "spec.schedulerName": (object) => textAt(object, "spec", "schedulerName"),
    "spec.serviceAccountName": (object) => textAt(object, "spec", "serviceAccountName"),
    "spec.hostNetwork": (object) => String(isTrueAt(object, "spec", "hostNetwork")),
    "status.phase": (object) => textAt(object, "status", "phase"),
    "status.podIPs": () => "", // a known field that no Pod has
    "status.podIP": (object) => textAt(objectsAt(object, "status", "podIPs")[0], "ip"),
    "status.nominatedNodeName": (object) => textAt(object, "status", "nominatedNodeName"),
  },
  cells: podCells,
  rowConditions: podRowConditions,
};

function startPod(draft: Draft): void {
  const spec = childOf(draft, "spec");
  const status: Draft = { phase: "Pending", qosClass: qosClassOf(spec) };
  if (objectsAt(spec, "schedulingGates").length > 0) {
    status["conditions"] = [
      {
        type: "PodScheduled",
        status: "False",
        lastProbeTime: null,
        lastTransitionTime: at(draft, "metadata", "creationTimestamp") ?? null,
        reason: "SchedulingGated",
        message: "Scheduling is blocked due to non-empty scheduling gates",
      },
    ];
  }
  draft["status"] = status;
  if ((numberAt(spec, "terminationGracePeriodSeconds") ?? 0) < 0) spec["terminationGracePeriodSeconds"] = 1;
}

function graceOf(object: KubeObject): number {
  const done = ["Failed", "Succeeded"].includes(textAt(object, "status", "phase"));
  if (textAt(object, "spec", "nodeName") === "" || done) return 0;
  const seconds = numberAt(object, "spec", "terminationGracePeriodSeconds") ?? 0;
  return seconds < 0 ? 1 : seconds;
}

/** Projected tokens need a serviceAccountName. */
function validateTokens(object: KubeObject): Causes {
  if (textAt(object, "spec", "serviceAccountName") !== "") return [];
  return objectsAt(object, "spec", "volumes").flatMap((volume, index) =>
    objectsAt(volume, "projected", "sources").flatMap((source, sourceIndex) => {
      const path = `spec.volumes[${index}].projected.sources[${sourceIndex}].serviceAccountToken`;
      const token = objectAt(source, "serviceAccountToken");
      return token === undefined ? [] : [forbidden(path, "must not be specified when serviceAccountName is not set")];
    }),
  );
}

function validateNewPod(object: KubeObject): Causes {
  const gated = textAt(object, "spec", "nodeName") !== "" && objectsAt(object, "spec", "schedulingGates").length > 0;
  return [
    ...(objectsAt(object, "spec", "ephemeralContainers").length > 0
      ? [forbidden("spec.ephemeralContainers", "cannot be set on create")]
      : []),
    ...(gated ? [forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")] : []),
  ];
}

const UPDATABLE = [
  "`spec.containers[*].image`",
  "`spec.initContainers[*].image`",
  "`spec.activeDeadlineSeconds`",
  "`spec.tolerations` (only additions to existing tolerations)",
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
].join(",");

function validatePodUpdate(next: KubeObject, previous: KubeObject): Causes {
  for (const list of ["containers", "initContainers"]) {
    if (objectsAt(next, "spec", list).length !== objectsAt(previous, "spec", list).length) {
      return [forbidden(`spec.${list}`, "pod updates may not add or remove containers")];
    }
  }
  const causes = [
    ...["containers", "initContainers"].flatMap((list) =>
      objectsAt(next, "spec", list).flatMap((container, index) => requiredText(`spec.${list}[${index}].image`, textAt(container, "image"))),
    ),
    ...validateDeadline(next, previous),
    ...validateGatesUpdate(next, previous),
    ...validateTolerationUpdate(next, previous),
  ];
  const [before, after] = [objectAt(previous, "spec") ?? {}, withOldParts(next, previous)];
  if (jsonEqual(after, before)) return causes;
  const difference = jsonDiff(internalPodSpec(before), internalPodSpec(after));
  return [...causes, forbidden("spec", `pod updates may not change fields other than ${UPDATABLE}\n${difference}`)];
}

function validateDeadline(next: KubeObject, previous: KubeObject): Causes {
  const path = "spec.activeDeadlineSeconds";
  const [now, before] = [numberAt(next, "spec", "activeDeadlineSeconds"), numberAt(previous, "spec", "activeDeadlineSeconds")];
  if (now === undefined) return before === undefined ? [] : [invalid(path, null, "must not update from a positive integer to nil value")];
  return before !== undefined && before < now ? [invalid(path, now, "must be less than or equal to previous value")] : [];
}

function validatePodStatus(next: KubeObject, previous: KubeObject): Causes {
  const [nominated, before] = [textAt(next, "status", "nominatedNodeName"), textAt(previous, "status", "nominatedNodeName")];
  const moved = nominated !== "" && nominated !== before;
  const bound = textAt(previous, "spec", "nodeName") !== "";
  const path = "status.nominatedNodeName";
  const sorted = textAt(next, "status", "qosClass");
  return [
    ...objectsAt(next, "status", "conditions").flatMap((condition, index) => {
      const type = textAt(condition, "type");
      return SYSTEM_CONDITIONS.has(type) ? [] : invalidEach(`status.conditions[${index}].Type`, type, qualifiedName(type));
    }),
    ...(moved ? invalidEach(path, nominated, dnsSubdomain(nominated)) : []),
    ...(moved && bound ? [forbidden(path, "may not be set on pods that are already bound to a node")] : []),
    ...((numberAt(next, "status", "observedGeneration") ?? 0) < 0
      ? [invalid("status.observedGeneration", numberAt(next, "status", "observedGeneration") ?? 0, "must be a non-negative integer")]
      : []),
    ...validatePodIPs(objectsAt(next, "status", "podIPs"), objectsAt(previous, "status", "podIPs")),
    ...(sorted === textAt(previous, "status", "qosClass") ? [] : [invalid("status.qosClass", sorted, "field is immutable")]),
  ];
}

/** At most one address of each family; existing values are not validated again. */
function validatePodIPs(next: readonly JsonObject[], previous: readonly JsonObject[]): Causes {
  const path = "status.podIPs";
  const addresses = next.map((item) => textAt(item, "ip"));
  const known = new Set(previous.map((item) => textAt(item, "ip")));
  const families = new Set(addresses.map(ipFamilyOf));
  const several = addresses.length > 1 && (addresses.length > 2 || families.size < 2 || families.has(undefined));
  return [
    ...addresses.flatMap((address, index) => (known.has(address) ? [] : validateIP(`${path}[${index}]`, address))),
    ...(several
      ? [
          invalid(
            path,
            addresses.map((IP) => ({ IP })),
            "may specify no more than one IP for each IP family",
          ),
        ]
      : []),
  ];
}

const SYSTEM_CONDITIONS = new Set(["PodScheduled", "Ready", "Initialized"]);

/** Scheduling gates can be removed, but not added. */
function validateGatesUpdate(next: KubeObject, previous: KubeObject): Causes {
  const known = new Set(objectsAt(previous, "spec", "schedulingGates").map((gate) => textAt(gate, "name")));
  return objectsAt(next, "spec", "schedulingGates").flatMap((gate, index) => {
    const name = textAt(gate, "name");
    const problem = `only deletion is allowed, but found new scheduling gate '${name}'`;
    return known.has(name) ? [] : [forbidden(`spec.schedulingGates[${index}].name`, problem)];
  });
}

function validateTolerationUpdate(next: KubeObject, previous: KubeObject): Causes {
  const kept = objectsAt(next, "spec", "tolerations");
  const lost = objectsAt(previous, "spec", "tolerations").some(
    (old) => !kept.some((toleration) => jsonEqual(withoutSeconds(toleration), withoutSeconds(old))),
  );
  return lost ? [forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")] : [];
}

const withoutSeconds = ({ tolerationSeconds: _seconds, ...toleration }: JsonObject): JsonObject => toleration;

/** The new spec with the old values of mutable fields. */
function withOldParts(next: KubeObject, previous: KubeObject): JsonObject {
  const spec: Draft = { ...objectAt(next, "spec") };
  for (const name of ["tolerations", "activeDeadlineSeconds", "schedulingGates"]) carryField(spec, objectAt(previous, "spec"), name);
  for (const list of ["containers", "initContainers"]) {
    const before = objectsAt(previous, "spec", list);
    for (const [index, container] of draftsAt(spec, list).entries()) carryField(container, before[index], "image");
  }
  const [now, then] = [next, previous].map((object) => numberAt(object, "spec", "terminationGracePeriodSeconds") ?? 0) as [number, number];
  if (then < 0 && now === 1) carryField(spec, objectAt(previous, "spec"), "terminationGracePeriodSeconds");
  return spec;
}

const podTemplate: KindRules = {
  generation: (object) => at(object, "template"),
  validate: (object) => validatePodTemplate(objectAt(object, "template") ?? {}, "template"),
  deletion: { answersObject: true },
  warnings: (next, previous) =>
    previous === undefined || !jsonEqual(at(next, "template"), at(previous, "template"))
      ? podWarnings(objectAt(next, "template") ?? {}, "template")
      : [],
  cells: podTemplateCells,
};

const replicationController: KindRules = {
  name: longName,
  anyGenerateName: true,
  generation: (object) => at(object, "spec"),
  validate: (object) => [
    ...counts(object, "spec", "minReadySeconds"),
    ...validateControllerSelector(object),
    ...counts(object, "spec", "replicas"),
    ...validateControllerTemplate(object),
  ],
  validateStatus: replicaStatus,
  deletion: { defaultPropagation: "Orphan" },
  warnings: (next, previous) => [
    ...(previous === undefined ? dnsNameWarnings(next) : []),
    ...templateWarnings(next, previous, "spec.template"),
  ],
  fieldSelectors: { "status.replicas": (object) => String(numberAt(object, "status", "replicas") ?? 0) },
  cells: replicationControllerCells,
};

function validateControllerSelector(object: KubeObject): Causes {
  return entriesAt(object, "spec", "selector").length === 0 ? [required("spec.selector")] : [];
}

function validateControllerTemplate(object: KubeObject): Causes {
  const template = objectAt(object, "spec", "template");
  if (template === undefined) return [required("spec.template")];
  const [selector, labels] = [objectAt(object, "spec", "selector") ?? {}, objectAt(template, "metadata", "labels")];
  const fits = Object.keys(selector).length === 0 || selects({ matchLabels: selector }, labels);
  return [
    ...(fits ? [] : [invalid("spec.template.metadata.labels", goMap(labels), "`selector` does not match template `labels`")]),
    ...validatePodTemplate(template, "spec.template"),
    ...alwaysRestarts(object, "ReplicationController"),
  ];
}

export const podKinds: RulesByKind = { Pod: pod, PodTemplate: podTemplate, ReplicationController: replicationController };
