/**
 * LimitRanger: the defaults of a namespace for containers without resources, and the smallest and largest values that they may have.
 *
 * An update of a pod is not checked: its containers' resources can change only through `resize`.
 */
import { ok } from "#base";
import type { KubeObject } from "#kube";
import { metaText } from "../../protocol/object-meta.ts";
import { forbid } from "../forbid.ts";
import type { AdmissionContext, AdmissionPlugin, Attributes } from "../../protocol/admission-port.ts";
import { claimProblems, podProblems } from "./constraints.ts";
import { withDefaults } from "./defaults.ts";

const LIMIT_RANGES = "/limitranges";

export function limitRanger({ store }: AdmissionContext): AdmissionPlugin {
  const rangesFor = (attributes: Attributes): readonly KubeObject[] => {
    if (store.count(LIMIT_RANGES) === 0 || !concerns(attributes)) return [];
    const listed = store.list(LIMIT_RANGES, { namespace: attributes.namespace });
    return listed.ok ? listed.value.items.map(({ object }) => object) : [];
  };
  return {
    name: "LimitRanger",
    mutate: (attributes) => {
      const { object } = attributes;
      if (object === undefined || attributes.kind.kind !== "Pod") return ok(object);
      return ok(rangesFor(attributes).reduce(withDefaults, object));
    },
    validate: (attributes) => {
      const { object } = attributes;
      if (object === undefined) return ok(undefined);
      const problemsOf = attributes.kind.kind === "Pod" ? podProblems : claimProblems;
      for (const range of rangesFor(attributes)) {
        const problems = problemsOf(range, object);
        if (problems !== undefined) return forbid(attributes, problems);
      }
      return ok(undefined);
    },
  };
}

function concerns({ operation, kind, subresource, old }: Attributes): boolean {
  if (kind.group !== "" || metaText(old, "deletionTimestamp") !== "") return false;
  if (kind.kind === "Pod") return subresource === undefined ? operation === "CREATE" : subresource === "resize" && operation === "UPDATE";
  return kind.kind === "PersistentVolumeClaim" && subresource === undefined && (operation === "CREATE" || operation === "UPDATE");
}
