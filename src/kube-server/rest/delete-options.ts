/** DeleteOptions: from the body, or from the query when there is none. */
import { ok, type Result } from "#base";
import { field, isJsonObject, type Json } from "#kube";
import { readGoValue } from "../builtin-kinds/codec/go-json.ts";
import { goTypeOf } from "../builtin-kinds/codec/go-types.ts";
import { decodeProtobuf, isProtobuf } from "../protobuf/index.ts";
import type { FieldCause } from "../resource-type.ts";
import type { RequestContext } from "../protocol/core.ts";
import { goKind, TYPE_META } from "../protocol/decode-body.ts";
import { readYaml } from "../protocol/yaml-body.ts";
import { SCHEME } from "../protocol/legacy-kinds.ts";
import { integer } from "./list-options.ts";
import { inputForm } from "../protocol/media-types.ts";
import { bodyText, header } from "../protocol/request.ts";
import { isTrue } from "../protocol/request-info.ts";
import { badRequest, invalid, type Failure } from "../protocol/status.ts";
import { parseStrictJson } from "../protocol/strict-json.ts";
import { dryRunCauses } from "../protocol/write-options.ts";
import { plainText } from "../protocol/go-format.ts";

export type DeleteRequestOptions = {
  readonly dryRun: boolean;
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: string | undefined;
  readonly orphanDependents: boolean | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
};

const POLICIES = ["Foreground", "Background", "Orphan"];

export function deleteOptions(call: RequestContext): Result<DeleteRequestOptions, Failure> {
  const body = readOptions(call);
  if (!body.ok) return body;
  if (body.value !== undefined) {
    const problem = wrongType(body.value);
    return problem === undefined ? checkedOptions(body.value) : badRequest(problem);
  }
  const given = fromQuery(call.request.query);
  return given.ok ? checked(given.value) : given;
}

/** DeleteOptions as a value: part of an Eviction. */
export function checkedOptions(value: Json): Result<DeleteRequestOptions, Failure> {
  return checked(fromBody(value));
}

function checked({ dryRun, ...options }: Given): Result<DeleteRequestOptions, Failure> {
  const causes = [...policyCauses(options), ...dryRunCauses(dryRun)];
  if (causes.length > 0) return invalid({ group: "meta.k8s.io", kind: "DeleteOptions", name: "" }, causes);
  return ok({ ...options, dryRun: dryRun.length > 0 });
}

type Given = Omit<DeleteRequestOptions, "dryRun"> & { readonly dryRun: readonly string[] };

function readOptions(call: RequestContext): Result<Json | undefined, Failure> {
  const { body } = call.request;
  if (body !== undefined && typeof body === "object" && "value" in body) return ok(body.value);
  const text = bodyText(call.request);
  if (text === "") return ok(undefined);
  if (isProtobuf(header(call.request, "content-type")) && body instanceof Uint8Array) {
    const decoded = decodeProtobuf(body, { apiVersion: "v1", kind: "DeleteOptions" });
    return decoded.ok ? decoded : badRequest(decoded.error);
  }
  const form = inputForm(header(call.request, "content-type"));
  if (!form.ok) return form;
  const read = form.value === "json" ? parseStrictJson(text, false) : readYaml(text);
  if (!read.ok) return badRequest(`couldn't get version/kind; json parse error: ${read.error}`);
  const kind = field(read.value.value, "kind");
  const apiVersion = field(read.value.value, "apiVersion");
  if (kind !== undefined && kind !== "" && kind !== "DeleteOptions") {
    const version = typeof apiVersion === "string" ? apiVersion : "meta.k8s.io/v1";
    return badRequest(`no kind "${plainText(kind)}" is registered for version "${version}" in scheme "${SCHEME}"`);
  }
  return ok(read.value.value);
}

const GO_TYPE = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";

/** Decoded as strictly as an object: a malformed precondition must not be ignored. */
function wrongType(value: Json): string | undefined {
  if (!isJsonObject(value) && value !== null)
    return `couldn't get version/kind; json parse error: json: cannot unmarshal ${goKind(value)} into Go value of type ${TYPE_META}`;
  const read = readGoValue(goTypeOf(GO_TYPE), value);
  return read.ok ? undefined : read.error;
}

function fromBody(value: Json): Given {
  const preconditions = field(value, "preconditions");
  const dryRun = field(value, "dryRun");
  return {
    dryRun: Array.isArray(dryRun) ? dryRun.map(String) : [],
    gracePeriodSeconds: number(field(value, "gracePeriodSeconds")),
    propagationPolicy: text(field(value, "propagationPolicy")),
    orphanDependents: typeof field(value, "orphanDependents") === "boolean" ? field(value, "orphanDependents") === true : undefined,
    uid: isJsonObject(preconditions) ? text(field(preconditions, "uid")) : undefined,
    resourceVersion: isJsonObject(preconditions) ? text(field(preconditions, "resourceVersion")) : undefined,
  };
}

function fromQuery(query: URLSearchParams): Result<Given, Failure> {
  const grace = integer(query, "gracePeriodSeconds");
  if (!grace.ok) return grace;
  const orphan = query.get("orphanDependents");
  return ok({
    dryRun: query.getAll("dryRun"),
    gracePeriodSeconds: grace.value,
    propagationPolicy: query.get("propagationPolicy") ?? undefined,
    orphanDependents: orphan === null ? undefined : isTrue(orphan),
    uid: query.get("uid") || undefined,
    resourceVersion: query.get("resourceVersion") || undefined,
  });
}

function text(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function number(value: Json | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function policyCauses({ propagationPolicy, orphanDependents }: Omit<DeleteRequestOptions, "dryRun">): readonly FieldCause[] {
  if (propagationPolicy === undefined) return [];
  const quoted = JSON.stringify(propagationPolicy);
  if (orphanDependents !== undefined) {
    const detail = `Invalid value: ${quoted}: orphanDependents and deletionPropagation cannot be both set`;
    return [{ reason: "FieldValueInvalid", field: "propagationPolicy", detail }];
  }
  if (POLICIES.includes(propagationPolicy)) return [];
  const supported = [...POLICIES, "nil"].map((policy) => JSON.stringify(policy)).join(", ");
  const detail = `Unsupported value: ${quoted}: supported values: ${supported}`;
  return [{ reason: "FieldValueNotSupported", field: "propagationPolicy", detail }];
}
