/** DELETE of one object and of a collection. */
import { ok, whenOk, type Later, type Result } from "#base";
import type { KubeObject } from "#kube";
import { readStored, type RequestContext } from "../protocol/core.ts";
import { deleteObject } from "./delete-object.ts";
import { deleteOptions, type DeleteRequestOptions } from "./delete-options.ts";
import { listOptions, type ListOptions } from "./list-options.ts";
import { valueResponse, listResponse, objectResponse, type PendingResponse } from "../protocol/respond.ts";
import { readPage } from "./reads.ts";
import { detailsOf, notFound, success, type Failure } from "../protocol/status.ts";

const WARNINGS: ReadonlyMap<string, string> = new Map([
  [
    "batch/jobs",
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
  ],
]);

export function deleteOne(call: RequestContext): PendingResponse {
  const options = deleteOptions(call);
  if (!options.ok) return options;
  const { type, name = "" } = call.target;
  warnAboutDefaults(call, options.value);
  const stored = readStored(call, name);
  if (stored === undefined) return notFound({ resource: type.resource, name });
  return whenOk(deleteObject(call, stored, options.value), ({ object, gone }) => {
    const status = !gone && options.value.orphanDependents === false ? 202 : 200;
    if (!gone || type.deletion.answersObject) return objectResponse(call, status, object);
    const { uid } = object.metadata;
    const details = { ...detailsOf({ resource: type.resource, name }), ...(uid === undefined ? {} : { uid }) };
    return ok(valueResponse(call, status, success(details)));
  });
}

function warnAboutDefaults(call: RequestContext, { propagationPolicy, orphanDependents }: DeleteRequestOptions): void {
  const warning = WARNINGS.get(call.target.type.collection);
  if (warning !== undefined && propagationPolicy === undefined && orphanDependents === undefined) call.warnings.add(warning);
}

/** Not atomic: the listed objects are deleted one by one; objects that are removed meanwhile are ignored. */
export function deleteCollection(call: RequestContext): PendingResponse {
  const selection = listOptions(call.request, call.target.type, false);
  if (!selection.ok) return selection;
  const options = deleteOptions(call);
  if (!options.ok) return options;
  warnAboutDefaults(call, options.value);
  return whenOk(readPage(call, inPages(selection.value)), ({ objects, metadata }) =>
    whenOk(deleteEach(call, objects.values(), options.value), () => listResponse(call, objects, metadata)),
  );
}

/** A real server lists in pages here, which makes a resourceVersion exact. */
function inPages(options: ListOptions): ListOptions {
  const exact = options.resourceVersionMatch === "" && !["", "0"].includes(options.resourceVersion);
  return exact ? { ...options, resourceVersionMatch: "Exact" } : options;
}

/** A loop as long as deletions are synchronous, a promise from there on: recursion for every object would overflow the stack. */
function deleteEach(
  call: RequestContext,
  objects: IterableIterator<KubeObject>,
  options: DeleteRequestOptions,
): Later<Result<undefined, Failure>> {
  for (const { metadata } of objects) {
    const pause = call.core.turns.pause();
    const one = { ...call, target: { ...call.target, name: metadata.name } };
    const deleted = pause === undefined ? deleteNamed(one, options) : pause.then(async () => deleteNamed(one, options));
    if (deleted instanceof Promise) return whenOk(deleted, () => deleteEach(call, objects, options));
    if (!deleted.ok) return deleted;
  }
  return ok(undefined);
}

/** A missing object is not an error. */
function deleteNamed(
  call: RequestContext & { readonly target: { readonly name: string } },
  options: DeleteRequestOptions,
): Later<Result<unknown, Failure>> {
  const stored = readStored(call, call.target.name);
  return stored === undefined ? ok(undefined) : deleteObject(call, stored, options, "");
}
