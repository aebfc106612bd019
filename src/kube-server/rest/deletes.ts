/** DELETE of one object and of a collection. */
import { ok } from "#base";
import { readStored, type Call } from "./core.ts";
import { deleteObject } from "./delete-object.ts";
import { deleteOptions, type DeleteOptions } from "./delete-options.ts";
import { listOptions } from "./list-options.ts";
import { answer, answerList, answerObject, type Answered } from "./respond.ts";
import { readPage } from "./reads.ts";
import { detailsOf, notFound, success } from "./status.ts";

const WARNINGS: ReadonlyMap<string, string> = new Map([
  [
    "batch/jobs",
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
  ],
]);

export function deleteOne(call: Call): Answered {
  const options = deleteOptions(call);
  if (!options.ok) return options;
  const { type, name = "" } = call.target;
  const stored = readStored(call, name);
  if (stored === undefined) return notFound({ resource: type.resource, name });
  warnAboutDefaults(call, options.value);
  const deleted = deleteObject(call, stored, options.value);
  if (!deleted.ok) return deleted;
  const { object, gone } = deleted.value;
  const status = !gone && options.value.orphanDependents === false ? 202 : 200;
  if (!gone || type.deletion.answersObject) return answerObject(call, status, object);
  const { uid } = object.metadata;
  const details = { ...detailsOf({ resource: type.resource, name }), ...(uid === undefined ? {} : { uid }) };
  return ok(answer(call, status, success(details)));
}

function warnAboutDefaults(call: Call, { propagationPolicy, orphanDependents }: DeleteOptions): void {
  const warning = WARNINGS.get(call.target.type.collection);
  if (warning !== undefined && propagationPolicy === undefined && orphanDependents === undefined) call.warnings.add(warning);
}

/** Not one step: what was listed is deleted one by one, and what is gone by then is nobody's mistake. */
export function deleteCollection(call: Call): Answered {
  const selection = listOptions(call.request, call.target.type, false);
  if (!selection.ok) return selection;
  const options = deleteOptions(call);
  if (!options.ok) return options;
  const page = readPage(call, selection.value);
  if (!page.ok) return page;
  for (const { metadata } of page.value.objects) {
    const target = { ...call.target, name: metadata.name };
    const one = { ...call, target };
    const stored = readStored(one, metadata.name);
    if (stored === undefined) continue;
    const deleted = deleteObject(one, stored, options.value);
    if (!deleted.ok) return deleted;
  }
  return answerList(call, page.value.objects, page.value.metadata);
}
