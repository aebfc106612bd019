/** Takes a workload patch off a Deployment, from the record on it alone. */
import { isJsonObject, type JsonObject, type KubeObject } from "#kube";
import { SERVICE_LABEL } from "./merge-patch.ts";
import type { RevertedPatch } from "./outcomes.ts";
import { jsonOf, withoutLeftLabel } from "./owner-object.ts";
import { recordOf, REQUEST_ANNOTATION, withAnnotations, withoutRecord } from "./patch-record.ts";
import { withValueAt } from "./patched-path.ts";
import { restoreFields, type RestoredField } from "./restore.ts";

/** Every field that has the patched value gets its value before. The result has no record, also when the record cannot be read. */
export function revertWorkloadPatch(deployment: KubeObject): RevertedPatch {
  const record = recordOf(deployment);
  const plain = withAnnotations(withoutRecord(deployment), { [REQUEST_ANNOTATION]: undefined });
  if (!record.ok) return { deployment: withoutLabels(plain), restored: [], kept: [], recordProblem: record.error };
  const { object, fields } = restoreFields(withoutLeftLabel(jsonOf(plain), deployment), record.value?.fields ?? []);
  const unchanged = fields.filter(({ changed }) => !changed).map(({ field: { path } }) => path);
  return { deployment: object as KubeObject, restored: unchanged, kept: fields.filter(isKept).map(keptField) };
}

/** A field that the patch added and that is gone needs no attention. */
function isKept({ changed, now, field: patched }: RestoredField): boolean {
  return changed && !(now === undefined && patched.before === undefined);
}

function keptField({ field: { path, before, after }, now }: RestoredField) {
  return {
    path,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    ...(now === undefined ? {} : { now }),
  };
}

/** Without a record, the labels are all that is known to be of the patch. */
function withoutLabels(deployment: KubeObject): KubeObject {
  let object: JsonObject = jsonOf(deployment);
  for (const parent of [
    ["metadata", "labels"],
    ["spec", "template", "metadata", "labels"],
  ]) {
    const changed = withValueAt(object, [...parent, SERVICE_LABEL], undefined);
    if (isJsonObject(changed)) object = changed;
  }
  return object as KubeObject;
}
