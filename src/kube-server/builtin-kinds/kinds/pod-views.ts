/**
 * The subresources that change one part of a running Pod: debug containers and resources. All other changes are dropped
 * silently, as a real server does.
 */
import { jsonEqual, type Json, type JsonObject, type KubeObject } from "#kube";
import { asJson, at, carryField, childOf, copyOf, draftsAt, entriesAt, objectAt, objectsAt, textAt, type Draft } from "../draft.ts";
import type { SubresourceView } from "../kind-rules.ts";
import { forbidden, invalid, type Causes } from "../rules/causes.ts";
import { internalStruct } from "../rules/internal-template.ts";
import { qosClassOf } from "../rules/pod/qos-class.ts";
import { jsonDiff } from "../rules/unified-diff.ts";

const EPHEMERAL = "io.k8s.api.core.v1.EphemeralContainer";

export const ephemeralContainers: SubresourceView = {
  prepare: (draft, previous) => {
    const added = objectsAt(draft, "spec", "ephemeralContainers");
    const spec: Draft = { ...objectAt(previous, "spec") };
    delete spec["ephemeralContainers"];
    draft["spec"] = added.length === 0 ? spec : { ...spec, ephemeralContainers: copyOf([...added]) };
    keepRest(draft, previous);
  },
  validate: (next, previous) => {
    const path = "spec.ephemeralContainers";
    const now = new Map(objectsAt(next, "spec", "ephemeralContainers").map((container) => [textAt(container, "name"), container]));
    return objectsAt(previous, "spec", "ephemeralContainers").flatMap((old) => {
      const name = JSON.stringify(textAt(old, "name"));
      const kept = now.get(textAt(old, "name"));
      if (kept === undefined) return [forbidden(path, `existing ephemeral containers ${name} may not be removed\n`)];
      if (jsonEqual(kept, old)) return [];
      const difference = jsonDiff(internalStruct(EPHEMERAL, old), internalStruct(EPHEMERAL, kept));
      return [forbidden(path, `existing ephemeral containers ${name} may not be changed\n${difference}`)];
    });
  },
};

const LISTS = ["containers", "initContainers"] as const;

export const resize: SubresourceView = {
  prepare: (draft, previous) => {
    if (LISTS.some((list) => objectsAt(draft, "spec", list).length !== objectsAt(previous, "spec", list).length)) return;
    const asked = draft["spec"];
    draft["spec"] = copyOf(objectAt(previous, "spec"));
    const spec = childOf(draft, "spec");
    carryField(spec, objectAt({ asked }, "asked"), "resources");
    for (const list of LISTS) {
      for (const [index, container] of draftsAt(spec, list).entries()) takeResources(container, objectsAt(asked, list)[index] ?? {});
    }
    keepRest(draft, previous);
  },
  validate: (next, previous) => {
    const general = [...validateClass(next, previous), ...validatePodLevel(next, previous)];
    const order = LISTS.flatMap((list) => validateOrder(next, previous, list));
    if (order.length > 0) return [...general, ...order];
    return [
      ...general,
      ...LISTS.toReversed().flatMap((list) => validateKept(next, previous, list)),
      ...LISTS.flatMap((list) => validateMeasured(next, previous, list)),
    ];
  },
};

function validateClass(next: KubeObject, previous: KubeObject): Causes {
  const before = textAt(previous, "status", "qosClass") || qosClassOf(objectAt(previous, "spec") ?? {});
  if (before === qosClassOf(objectAt(next, "spec") ?? {})) return [];
  return [invalid("spec", textAt(next, "status", "qosClass"), "Pod QOS Class may not change as a result of resizing")];
}

function validatePodLevel(next: KubeObject, previous: KubeObject): Causes {
  const [now, before] = [objectAt(next, "spec", "resources"), objectAt(previous, "spec", "resources")];
  if (before !== undefined && now === undefined) return [forbidden("spec.resources", "pod-level resources cannot be removed")];
  const lost = AMOUNTS.filter((kind) => isLost(now, before, kind));
  return [
    ...lost.map((kind) => forbidden(`spec.resources.${kind}`, `pod-level resource ${kind} cannot be removed`)),
    ...(jsonEqual(unmeasured(now), unmeasured(before))
      ? []
      : [forbidden("spec", "only cpu and memory resources are mutable at pod-level")]),
  ];
}

/** What is left of resources that stays as it is. */
function unmeasured(resources: JsonObject | undefined): Json {
  return AMOUNTS.map((kind) => entriesAt(resources, kind).filter(([name]) => name !== "cpu" && name !== "memory"));
}

/** Of a container, cpu and memory change, and nothing else. */
function validateMeasured(next: KubeObject, previous: KubeObject, list: (typeof LISTS)[number]): Causes {
  const now = objectsAt(next, "spec", list);
  return objectsAt(previous, "spec", list).flatMap((old, index) => {
    const container = now[index] ?? {};
    const fixed = (one: JsonObject) => [unmeasured(objectAt(one, "resources")), at(one, "resizePolicy") ?? null];
    const isSidecar = container["restartPolicy"] === "Always";
    const restarts = objectsAt(container, "resizePolicy").filter((policy) => policy["restartPolicy"] === "RestartContainer");
    const moved = list === "initContainers" && !isSidecar && !jsonEqual(container, old);
    const [path, what] =
      list === "containers" ? ["spec", "resources"] : [`spec.${list}[${index}]`, "resources for init or sidecar containers"];
    return [
      ...(jsonEqual(fixed(container), fixed(old)) ? [] : [forbidden(path, `only cpu and memory ${what} are mutable`)]),
      ...(moved
        ? restarts.map(() => forbidden(path, "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"))
        : []),
    ];
  });
}

const AMOUNTS = ["requests", "limits"] as const;

function isLost(now: JsonObject | undefined, before: JsonObject | undefined, kind: string): boolean {
  const left = new Set(entriesAt(now, kind).map(([name]) => name));
  return entriesAt(before, kind).some(([name]) => !left.has(name));
}

function takeResources(container: Draft, asked: JsonObject): void {
  if (textAt(container, "name") !== textAt(asked, "name")) {
    container["name"] = textAt(asked, "name"); // validation says that containers stay in their places
    return;
  }
  for (const name of ["resources", "resizePolicy"]) carryField(container, asked, name);
}

function validateOrder(next: KubeObject, previous: KubeObject, list: string): Causes {
  const [now, before] = [objectsAt(next, "spec", list), objectsAt(previous, "spec", list)];
  if (now.length !== before.length) return [forbidden(`spec.${list}`, `${list} may not be added or removed on resize`)];
  return before.flatMap((old, index) =>
    textAt(old, "name") === textAt(now[index], "name")
      ? []
      : [forbidden(`spec.${list}[${index}].name`, `${list} may not be renamed or reordered on resize`)],
  );
}

function validateKept(next: KubeObject, previous: KubeObject, list: string): Causes {
  const now = objectsAt(next, "spec", list);
  return objectsAt(previous, "spec", list).flatMap((old, index) =>
    AMOUNTS.flatMap((kind) =>
      isLost(objectAt(now[index], "resources"), objectAt(old, "resources"), kind)
        ? [forbidden(`spec.${list}[${index}].resources.${kind}`, `resource ${kind} cannot be removed`)]
        : [],
    ),
  );
}

const KEPT = ["labels", "annotations", "finalizers", "ownerReferences", "deletionTimestamp"];

function keepRest(draft: Draft, previous: KubeObject): void {
  carryField(draft, asJson(previous), "status");
  const meta = childOf(draft, "metadata");
  for (const name of KEPT) carryField(meta, objectAt(previous, "metadata"), name);
}
