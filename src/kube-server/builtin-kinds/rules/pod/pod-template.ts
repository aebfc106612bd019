/** The template of what makes Pods, and the selector that must fit it. */
import type { JsonObject, KubeObject } from "#kube";
import { at, objectAt, objectsAt, textAt } from "../../draft.ts";
import { forbidden, goMap, invalid, joined, notSupported, required, type Causes } from "../causes.ts";
import { validateAnnotations, validateLabels } from "../object-meta.ts";
import { isEmptySelector, selects, validateLabelSelector } from "../shared.ts";
import { validatePodSpec } from "./pod-spec.ts";

export function validatePodTemplate(template: JsonObject, path: string): Causes {
  const spec = objectAt(template, "spec") ?? {};
  const ephemeral = objectsAt(spec, "ephemeralContainers").length > 0;
  return joined(
    validateLabels(at(template, "metadata", "labels"), `${path}.labels`),
    validateAnnotations(at(template, "metadata", "annotations"), `${path}.annotations`),
    validatePodSpec(spec, `${path}.spec`, { isPod: false }),
    ephemeral ? [forbidden(`${path}.spec.ephemeralContainers`, "ephemeral containers not allowed in pod template")] : [],
  );
}

/** Required, well formed and not empty. `kind` is the noun in the message. */
export function validateSelector(object: KubeObject, kind: string): Causes {
  const selector = objectAt(object, "spec", "selector");
  if (selector === undefined) return [required("spec.selector")];
  const empty = isEmptySelector(selector) ? [invalid("spec.selector", selector, `empty selector is invalid for ${kind}`)] : [];
  return joined(validateLabelSelector(selector, "spec.selector"), empty);
}

/** A selector that cannot be read. For most kinds it is the last error: their template is not validated. */
export function unreadableSelector(object: KubeObject, detail = "invalid label selector"): Causes {
  const selector = objectAt(object, "spec", "selector");
  const wrong = selector !== undefined && validateLabelSelector(selector, "").length > 0;
  return wrong ? [invalid("spec.selector", selector, detail)] : [];
}

/** A missing selector selects nothing; an empty one is refused elsewhere. */
export function selectorFitsTemplate(object: KubeObject): Causes {
  const selector = objectAt(object, "spec", "selector");
  const labels = objectAt(object, "spec", "template", "metadata", "labels");
  if (unreadableSelector(object).length > 0) return [];
  const fits = selector !== undefined && (isEmptySelector(selector) || selects(selector, labels));
  return fits ? [] : [invalid("spec.template.metadata.labels", goMap(labels), "`selector` does not match template `labels`")];
}

export function alwaysRestarts(object: KubeObject, kind: string): Causes {
  const path = "spec.template.spec";
  const policy = textAt(object, "spec", "template", "spec", "restartPolicy");
  const deadline = at(object, "spec", "template", "spec", "activeDeadlineSeconds");
  return joined(
    policy === "Always" ? [] : [notSupported(`${path}.restartPolicy`, policy, ["Always"])],
    deadline === undefined ? [] : [forbidden(`${path}.activeDeadlineSeconds`, `activeDeadlineSeconds in ${kind} is not Supported`)],
  );
}

export function templateOf(object: KubeObject): JsonObject {
  return objectAt(object, "spec", "template") ?? {};
}
