/**
 * The doors of a Pod that change one part of a running one: debug containers and resources. Whatever else comes in through them is dropped
 * without a word, as the server does.
 */
import { jsonEqual, type JsonObject, type KubeObject } from "#kube";
import { asJson, carryField, childOf, copyOf, draftsAt, entriesAt, objectAt, objectsAt, textAt, type Draft } from "../draft.ts";
import type { SubresourceView } from "../kind-rules.ts";
import { forbidden, type Causes } from "../rules/causes.ts";
import { internalStruct } from "../rules/internal-template.ts";
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
    for (const list of LISTS) {
      for (const [index, container] of draftsAt(spec, list).entries()) takeResources(container, objectsAt(asked, list)[index] ?? {});
    }
    keepRest(draft, previous);
  },
  validate: (next, previous) => [
    ...LISTS.flatMap((list) => validateOrder(next, previous, list)),
    ...LISTS.flatMap((list) => validateKept(next, previous, list)),
  ],
};

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
    ["requests", "limits"].flatMap((kind) => {
      const left = new Set(entriesAt(now[index], "resources", kind).map(([name]) => name));
      const lost = entriesAt(old, "resources", kind).some(([name]) => !left.has(name));
      return lost ? [forbidden(`spec.${list}[${index}].resources.${kind}`, `resource ${kind} cannot be removed`)] : [];
    }),
  );
}

const KEPT = ["labels", "annotations", "finalizers", "ownerReferences", "deletionTimestamp"];

function keepRest(draft: Draft, previous: KubeObject): void {
  carryField(draft, asJson(previous), "status");
  const meta = childOf(draft, "metadata");
  for (const name of KEPT) carryField(meta, objectAt(previous, "metadata"), name);
}
