/** GET of one object and of a collection. */
import { err, ok, whenOk, type Later, type Result } from "#base";
import { matches, type KubeObject } from "#kube";
import { decodeContinue, encodeContinue } from "./continue-token.ts";
import { oneFromCache, oneFromStorage, fillConversionCache } from "../protocol/convert-objects.ts";
import { inVersion, readStored, type RequestContext } from "../protocol/core.ts";
import { exactName, exactNamespace, fieldsMatch } from "../protocol/field-selector.ts";
import { listOptions, type ListOptions } from "./list-options.ts";
import { listResponse, objectResponse, type PendingResponse } from "../protocol/respond.ts";
import { parameter } from "../protocol/request.ts";
import { isTrue } from "../protocol/request-info.ts";
import { badRequest, expired, notFound, tooLargeResourceVersion, errorWithoutReason, type Failure } from "../protocol/status.ts";
import type { ListMeta } from "../protocol/table.ts";
import type { Listed, ListRequest, RevisionError, Stored } from "../store/index.ts";

export function getObject(call: RequestContext): PendingResponse {
  const { type, name = "" } = call.target;
  const exported = parameter(call.request, "export");
  if (!type.custom && exported !== null && isTrue(exported)) {
    return badRequest("the export parameter, deprecated since v1.14, is no longer supported");
  }
  const from = parameter(call.request, "resourceVersion");
  const asked = from ?? "";
  const version = parseVersion(asked);
  if (!version.ok) return errorWithoutReason(unparsableVersion(asked)); // a real server reports this error of its storage without a reason
  const { revision } = call.core.store;
  if (version.value > revision) return tooLargeResourceVersion(version.value, revision);
  const stored = readStored(call, name);
  if (stored === undefined) return notFound({ resource: type.resource, name });
  const read = from === null ? oneFromStorage : oneFromCache;
  return whenOk(read(type, stored.object), (object) => objectResponse(call, 200, object));
}

export function parseVersion(text: string): Result<number, Failure> {
  if (text === "") return ok(0);
  if (/^[0-9]{1,15}$/.test(text)) return ok(Number(text));
  return badRequest(`invalid resource version: ${unparsableVersion(text)}`);
}

export function unparsableVersion(text: string): string {
  return `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;
}

export function listObjects(call: RequestContext): PendingResponse {
  const options = listOptions(call.request, call.target.type, false);
  if (!options.ok) return options;
  return whenOk(readPage(call, options.value), ({ objects, metadata }) => listResponse(call, objects, metadata));
}

export type Page = { readonly objects: readonly KubeObject[]; readonly metadata: ListMeta };

export function readPage(call: RequestContext, options: ListOptions): Later<Result<Page, Failure>> {
  const from = pageStart(call, options);
  if (!from.ok) return from;
  const { revision, after } = from.value;
  // a real server serves resourceVersion=0 from its cache, which ignores the limit
  const limit = options.resourceVersion === "0" && options.continue === "" ? 0 : options.limit;
  const range = { revision, after, limit };
  return whenOk(convertForSelector(call, options, range), () => {
    const found = select(call, options, range);
    if (!found.ok) return err(asFailure(found.error, revision ?? 0, options));
    const objects = found.value.items.map(({ object }) => object);
    return whenOk(fillConversionCache(call.target.type, objects), () => ok(pageOf(call, options, found.value)));
  });
}

/** A field selector needs all objects in the requested version; without one, only the page is converted. */
function convertForSelector(call: RequestContext, options: ListOptions, range: Range): Later<Result<undefined, Failure>> {
  const { type } = call.target;
  if (type.conversion === undefined || options.fields.length === 0) return ok(undefined);
  const listed = call.core.store.list(type.collection, requestOf(call, options, range));
  return fillConversionCache(type, listed.ok ? listed.value.items.map(({ object }) => object) : []);
}

type Start = { readonly revision: number | undefined; readonly after: string | undefined };

function pageStart(call: RequestContext, options: ListOptions): Result<Start, Failure> {
  if (options.continue !== "") {
    const { resourceVersion } = options;
    if (resourceVersion !== "" && resourceVersion !== "0")
      return badRequest("specifying resource version is not allowed when using continue");
    const token = decodeContinue(options.continue);
    if (!token.ok) return badRequest(token.error);
    return ok({ revision: token.value.revision < 0 ? undefined : token.value.revision, after: token.value.after });
  }
  const version = parseVersion(options.resourceVersion);
  if (!version.ok) return version;
  const { revision } = call.core.store;
  if (version.value > revision) return tooLargeResourceVersion(version.value, revision);
  const exact = options.resourceVersionMatch === "Exact" || (version.value > 0 && options.limit > 0 && options.resourceVersionMatch === "");
  return ok({ revision: exact ? version.value : undefined, after: undefined });
}

type Selected = {
  readonly revision: number;
  readonly items: readonly Stored[];
  readonly last: string | undefined;
  readonly remaining: number;
};
type Range = { readonly revision: number | undefined; readonly after: string | undefined; readonly limit: number };

/** With a selector, a page is filled with matching objects up to the limit, as on a real server. */
function select(call: RequestContext, options: ListOptions, range: Range): Result<Selected, RevisionError> {
  const { store } = call.core;
  const { type } = call.target;
  const selecting = options.labels.length > 0 || options.fields.length > 0 || call.target.name !== undefined;
  const request = requestOf(call, options, range);
  if (!selecting) {
    const listed = store.list(type.collection, { ...request, ...(range.limit > 0 ? { limit: range.limit } : {}) });
    return listed.ok ? ok({ ...listed.value, last: listed.value.items.at(-1)?.key }) : listed;
  }
  const listed = store.list(type.collection, request);
  if (!listed.ok) return listed;
  const page = filtered(call, options, listed.value, range.limit);
  const full = range.limit > 0 && page.items.length === range.limit && page.remaining === 0;
  return ok(full && moreFollow(call, options, range, page.last) ? { ...page, remaining: 1 } : page);
}

/** A real server stops reading when the page is full: any following object, selected or not, leads to a continue token. */
function moreFollow(call: RequestContext, options: ListOptions, { revision }: Range, after: string | undefined): boolean {
  const { type, namespace } = call.target;
  const single = exactName(options.fields) !== undefined && (namespace !== undefined || !type.resource.namespaced);
  if (single || after === undefined) return false;
  const place = namespace === undefined ? {} : { namespace };
  const listed = call.core.store.list(type.collection, { ...place, ...(revision === undefined ? {} : { revision }), after, limit: 1 });
  return listed.ok && listed.value.items.length > 0;
}

/** The store has an index for one exact field; the name and the namespace are the most selective. */
function requestOf(call: RequestContext, options: ListOptions, { revision, after }: Range): ListRequest {
  const namespace = call.target.namespace ?? exactNamespace(options.fields);
  const name = exactName(options.fields);
  const label = options.labels.find((requirement) => requirement.operator === "in" && requirement.values.length === 1);
  const value = label?.operator === "in" ? label.values[0] : undefined;
  const where =
    name !== undefined
      ? { path: ["metadata", "name"], value: name }
      : label !== undefined && value !== undefined
        ? { path: ["metadata", "labels", label.key], value }
        : undefined;
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(revision === undefined ? {} : { revision }),
    ...(after === undefined ? {} : { after }),
    ...(where === undefined ? {} : { where }),
  };
}

function filtered(call: RequestContext, options: ListOptions, listed: Listed, limit: number): Selected {
  const items: Stored[] = [];
  for (const item of listed.items) {
    if (!isSelected(call, options, item.object)) continue;
    if (limit > 0 && items.length === limit) return { revision: listed.revision, items, last: items.at(-1)?.key, remaining: 1 };
    items.push(item);
  }
  return { revision: listed.revision, items, last: items.at(-1)?.key, remaining: 0 };
}

export function isSelected(
  call: Pick<RequestContext, "target">,
  options: Pick<ListOptions, "labels" | "fields">,
  stored: KubeObject,
): boolean {
  const { type, namespace, name } = call.target;
  if (namespace !== undefined && stored.metadata.namespace !== namespace) return false;
  if (name !== undefined && stored.metadata.name !== name) return false;
  if (!matches(options.labels, stored.metadata.labels)) return false;
  return options.fields.length === 0 || fieldsMatch(options.fields, type, inVersion(type, stored));
}

function pageOf(call: RequestContext, options: ListOptions, { revision, items, last, remaining }: Selected): Page {
  const objects = items.map(({ object }) => inVersion(call.target.type, object));
  if (remaining === 0 || last === undefined) return { objects, metadata: { resourceVersion: String(revision) } };
  const selecting = options.labels.length > 0 || options.fields.length > 0;
  return {
    objects,
    metadata: {
      resourceVersion: String(revision),
      continue: encodeContinue({ revision, after: last }),
      ...(selecting ? {} : { remainingItemCount: remaining }),
    },
  };
}

const EXPIRED_TOKEN =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";

function asFailure(error: RevisionError, asked: number, options: ListOptions): Failure {
  if (error.kind === "future") return tooLargeResourceVersion(asked, error.current).error;
  if (options.continue === "") return expired(`The resourceVersion for the provided list is too old.`);
  const token = decodeContinue(options.continue);
  const rest = token.ok ? encodeContinue({ revision: -1, after: token.value.after }) : "";
  return { ...expired(EXPIRED_TOKEN), metadata: { continue: rest } };
}
