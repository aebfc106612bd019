/** Takes a workload patch off a Deployment, from the record on it alone. */
import type { KubeObject } from "#kube";
import type { RevertedPatch } from "./outcomes.ts";
import { jsonOf } from "./owner-object.ts";
import { recordOf, REQUEST_ANNOTATION, withAnnotations, withoutRecord } from "./patch-record.ts";
import { restoreFields, type RestoredField } from "./restore.ts";

/**
 * Every field that has the patched value gets its value before. The result has no record; when the record cannot be read, all else stays, because
 * nothing shows what the owner wrote.
 */
export function revertWorkloadPatch(deployment: KubeObject): RevertedPatch {
  const record = recordOf(deployment);
  const plain = withAnnotations(withoutRecord(deployment), { [REQUEST_ANNOTATION]: undefined });
  if (!record.ok) return { deployment: plain, restored: [], kept: [], recordProblem: record.error };
  const { object, fields } = restoreFields(jsonOf(plain), record.value?.fields ?? []);
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
