/**
 * What a workload patch would change in a Deployment, field by field, and who owns each field now.
 *
 * The patch holds references only. Values of the owner are shown as they are in the Deployment, except those of variables, labels and annotations
 * whose name looks like a secret: they are in the Deployment in clear text, and need not be in a terminal as well.
 */
import { map, type Result } from "#base";
import { field, isJsonObject, type Json, type KubeObject } from "#kube";
import { applyWorkloadPatch } from "./apply.ts";
import { ownerOfField } from "./field-owner.ts";
import type { FieldPreview, PatchPreview, PatchProblem } from "./outcomes.ts";
import { recordOf, type PatchedField } from "./patch-record.ts";
import { pathText } from "./patched-path.ts";
import { revertWorkloadPatch } from "./revert.ts";
import type { WorkloadPatch } from "./workload-patch.ts";

/** The text in place of a value that is not shown. */
const HIDDEN_VALUE = "(hidden)";

/** Parts of names of variables. */
const SECRET_NAMES = /pass(word|wd|phrase)?|secret|token|credential|private|api_?-?key|access_?-?key|auth|dsn|cookie/i;

/** `at`: RFC 3339. Fields of a patch that is on the Deployment already are part of the preview. */
export function previewWorkloadPatch(deployment: KubeObject, patch: WorkloadPatch, at: string): Result<PatchPreview, PatchProblem> {
  const managedFields = deployment.metadata.managedFields ?? [];
  const fresh = applyWorkloadPatch(revertWorkloadPatch(deployment).deployment, patch, { at });
  const again = applyWorkloadPatch(deployment, patch, { at });
  return map(fresh, (applied) => {
    const record = recordOf(applied.deployment);
    const fields = record.ok ? (record.value?.fields ?? []) : [];
    return {
      fields: fields.filter(({ created }) => created !== true).map((entry) => fieldPreview(entry, managedFields)),
      missingContainers: applied.missingContainers,
      isApplied: again.ok && !again.value.changed,
      conflicts: again.ok ? again.value.conflicts : [],
      skipped: applied.skipped,
    };
  });
}

function fieldPreview({ path, before, after }: PatchedField, managedFields: readonly unknown[]): FieldPreview {
  const owner = ownerOfField(managedFields, path);
  const name = nameOf(path);
  return {
    path: pathText(path),
    ...(before === undefined ? {} : { before: shown(name, before) }),
    ...(after === undefined ? {} : { after }),
    ...(owner === undefined ? {} : { owner }),
  };
}

/** The name of a variable, label or annotation. */
function nameOf(path: PatchedField["path"]): string {
  const step = path.at(-1);
  if (typeof step === "string") return step;
  const name = step !== undefined && "key" in step ? field(step.key, "name") : undefined;
  return typeof name === "string" ? name : "";
}

function shown(name: string, value: Json): Json {
  if (!SECRET_NAMES.test(name)) return value;
  if (!isJsonObject(value)) return HIDDEN_VALUE;
  return field(value, "value") === undefined ? value : { ...value, value: HIDDEN_VALUE };
}
