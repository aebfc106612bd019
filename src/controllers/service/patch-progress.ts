/** What the patch of a service still waits for, as a condition. Pure. */
import { field, fieldAt, type NewCondition } from "#kube";
import { pathText, type FieldConflict, type SkippedField } from "#workload-patch";
import type { ServiceReason } from "./conditions.ts";
import { describeLeft } from "./owned-objects.ts";
import type { PatchState } from "./patch-state.ts";

export type PatchProgress = {
  /** The Deployment is as the service declares it. */
  readonly done: boolean;
  /** A user must act. */
  readonly stuck: boolean;
  readonly reason: ServiceReason;
  readonly message: string;
};

/** Requests without effect before it is reported: the webhook may not have received the patch yet. */
const SILENT_REQUESTS = 3;

export function patchProgress(state: PatchState): PatchProgress {
  const { target, deployment, applied, rejection, request } = state;
  const name = `Deployment ${target.namespace}/${target.name}`;
  const refused = rejection === "unknown" ? undefined : rejection?.message;
  if (deployment === undefined && refused !== undefined)
    return stuck(
      "PatchRejected",
      `${name} does not exist, and the API server would refuse its creation with this patch, so that it is not patched then: ${refused}`,
    );
  if (deployment === undefined || applied === undefined)
    return pending("WorkloadNotFound", `${name} does not exist; it is patched when it is created`);
  if (!applied.ok) return stuck("PatchRejected", `${name} is not patched: ${applied.error.message}`);
  if (refused !== undefined)
    return stuck("PatchRejected", `the API server refuses ${name} with this patch, so it is not patched: ${refused}`);
  const { changed, missingContainers, conflicts, skipped } = applied.value;
  if (changed) {
    const count = request?.count ?? 0;
    if (count < SILENT_REQUESTS) return pending("PatchRequested", `${name} is about to be patched`);
    return pending("WebhookDidNotAct", `${name} was written ${count} times and the admission webhook did not patch it; ${WEBHOOK_HELP}`);
  }
  const [first] = conflicts;
  if (first !== undefined) return stuck("PatchConflict", `${name}: ${conflicts.map(describeConflict).slice(0, MAX_CONFLICTS).join("; ")}`);
  if (missingContainers.length > 0) return stuck("ContainerMissing", describeMissing(name, missingContainers, deployment));
  if (skipped.length > 0) return stuck("FieldsNotPatched", `${name} has the patch, except: ${describeSkipped(skipped)}`);
  return { done: true, stuck: false, reason: "Patched", message: `${name} has the patch` };
}

const WEBHOOK_HELP =
  "check that MutatingWebhookConfiguration lattice-workload-patches exists and that the API server reaches its Service or url, and that no other admission plugin removes label lattice.dev/patched; it is tried again at least every 30 s";
const MAX_CONFLICTS = 3;
const MAX_SKIPPED = 3;

function describeSkipped(skipped: readonly SkippedField[]): string {
  const more = skipped.length > MAX_SKIPPED ? `; and ${skipped.length - MAX_SKIPPED} more` : "";
  const fields = skipped.slice(0, MAX_SKIPPED).map(({ path, reason }) => `${pathText(path)}: ${reason}`);
  return `${fields.join("; ")}${more}`;
}

/** Names of fields only: values may be sensitive. */
function describeConflict({ path, manager = "another client", until }: FieldConflict): string {
  const field = pathText(path);
  return `${field} is set to another value again and again by ${manager}, which keeps it until ${until}; remove ${field} from what ${manager} applies (the values or the template of its chart), or from this service`;
}

function describeMissing(name: string, missing: readonly string[], deployment: { readonly [field: string]: unknown }): string {
  const which = missing.length === 1 ? `container ${missing[0]}` : `containers ${namesText(missing)}`;
  return `${name} has no ${which}, and containers are never added; it has ${namesText(containersOf(deployment))}; correct spec.containers`;
}

/** A message is cut at 1,024 bytes, and a name has 63. */
const MAX_NAMES = 5;

function namesText(names: readonly string[]): string {
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : "";
  return `${names.slice(0, MAX_NAMES).join(", ")}${more}`;
}

function containersOf(deployment: unknown): readonly string[] {
  const pod = fieldAt(deployment, "spec", "template", "spec");
  return ["initContainers", "containers"].flatMap((list) => {
    const containers = field(pod, list);
    const names = Array.isArray(containers) ? containers.map((container) => field(container, "name")) : [];
    return names.filter((name) => typeof name === "string");
  });
}

function pending(reason: ServiceReason, message: string): PatchProgress {
  return { done: false, stuck: false, reason, message };
}

function stuck(reason: ServiceReason, message: string): PatchProgress {
  return { done: false, stuck: true, reason, message };
}

/** Objects of ownership mode that are still there run until the Deployment is patched and available. */
export function workloadPatched(
  progress: PatchProgress,
  { left, target }: Pick<PatchState, "left" | "target">,
  available: boolean,
): NewCondition {
  const until = `kept until Deployment ${target.namespace}/${target.name} is patched and available, and deleted then`;
  const kept =
    left.length === 0 || (progress.done && available) ? "" : `; made for this service in ownership mode, ${until}: ${describeLeft(left)}`;
  const { done, reason, message } = progress;
  return { type: "WorkloadPatched", status: done ? "True" : "False", reason, message: `${message}${kept}` };
}

/** Fields that have no effect in patch mode are never ignored silently. */
export function fieldsUsed(ignored: readonly string[], known: boolean): readonly NewCondition[] {
  const type = "FieldsUsed";
  if (ignored.length === 0) return known ? [{ type, status: "True", reason: "AllFieldsUsed", message: "every field has an effect" }] : [];
  const message = `in patch mode ${ignored.join(", ")} has no effect: the owner of the Deployment decides it; remove it here`;
  return [{ type, status: "False", reason: "FieldsIgnored", message }];
}
