/** The event about a Deployment whose patch was taken off. Pure. Fields by name only: their values may be sensitive. */
import type { EventNote } from "#controller-runtime";
import { SERVICE_LABEL } from "#service-compiler";
import { pathText, type RevertedPatch } from "#workload-patch";

/** Reasons of events about Deployments, with when each occurs. */
export const DETACH_REASONS = {
  PatchReverted: "event only: the changes of a service were taken off a Deployment; every field has the value of before",
  PatchPartlyReverted:
    "event only: the changes of a service were taken off a Deployment, except fields that another client changed since; the message names them",
} as const satisfies Record<string, string>;

const MAX_FIELDS = 10;
const WITHOUT_RECORD = `apply it again with the tool of its owner, and remove label ${SERVICE_LABEL} from it and its pod template if the owner did not set it`;

type Detached = { readonly service: string; readonly withoutWebhook: boolean };

export function describeReverted(
  { restored, kept, recordProblem }: Omit<RevertedPatch, "deployment">,
  { service, withoutWebhook }: Detached,
): Pick<EventNote, "type" | "reason" | "note"> {
  const reason: keyof typeof DETACH_REASONS = kept.length === 0 && recordProblem === undefined ? "PatchReverted" : "PatchPartlyReverted";
  const names = kept.slice(0, MAX_FIELDS).map(({ path }) => pathText(path));
  const more = kept.length > MAX_FIELDS ? ` and ${kept.length - MAX_FIELDS} more` : "";
  const changed = kept.length === 0 ? "" : `; not restored, because they were changed since: ${names.join(", ")}${more}`;
  const unread =
    recordProblem === undefined ? "" : `; its record cannot be read, so that nothing was restored: ${recordProblem}; ${WITHOUT_RECORD}`;
  const how = withoutWebhook ? "; the admission webhook did not act, so the operator wrote the Deployment itself" : "";
  const note = `the changes of LatticeService ${service} were taken off, ${restored.length} fields${changed}${unread}${how}`;
  return { type: reason === "PatchReverted" ? "Normal" : "Warning", reason, note };
}
