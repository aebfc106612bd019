/** POST and PUT of whole objects. */
import { ok, whenOk } from "#base";
import type { KubeObject } from "#kube";
import { checkObjectSize } from "./body-parts.ts";
import { createObject, withoutSystemFields, withoutVersion } from "./create-object.ts";
import { inVersion, nextStep, readStored, type RequestContext } from "../protocol/core.ts";
import { decodeBody } from "../protocol/decode-body.ts";
import { matchNamespace, matchNameAndNamespace } from "../protocol/namespaces.ts";
import { objectResponse, type PendingResponse } from "../protocol/respond.ts";
import { notFound } from "../protocol/status.ts";
import { changeStored, checkUid, updateObject } from "./update-object.ts";
import { writeOptions, type WriteOptions } from "../protocol/write-options.ts";
import type { Stored } from "../store/index.ts";

export function create(call: RequestContext): PendingResponse {
  const options = writeOptions(call.request, "CreateOptions");
  if (!options.ok) return options;
  const decoded = decodeBody(call, options.value.fieldValidation);
  return decoded.ok ? nextStep(call, () => createDecoded(call, decoded.value, options.value)) : decoded;
}

function createDecoded(call: RequestContext, decoded: KubeObject, options: WriteOptions): PendingResponse {
  const { type, name } = call.target;
  // the parts of protobuf and block YAML are not counted before decoding
  const fits = call.large ? checkObjectSize(decoded, type.collection) : ok(undefined);
  if (!fits.ok) return fits;
  const object = type.applyDefaults(withoutSystemFields(decoded));
  // the name in the path was authorized; a real server ignores it for custom resources
  const placed = name === undefined ? matchNamespace(call, object) : matchNameAndNamespace(call, object);
  if (!placed.ok) return placed;
  const created = createObject(call, { object: placed.value, options, tracked: false });
  return whenOk(created, (object) => objectResponse(call, 201, object));
}

export function update(call: RequestContext): PendingResponse {
  const options = writeOptions(call.request, "UpdateOptions");
  if (!options.ok) return options;
  const stored = readStored(call, call.target.name ?? "");
  const like = stored === undefined ? undefined : inVersion(call.target.type, stored.object);
  const decoded = decodeBody(call, options.value.fieldValidation, like);
  if (!decoded.ok) return decoded;
  const placed = matchNameAndNamespace(call, call.target.type.applyDefaults(decoded.value, like));
  if (!placed.ok) return placed;
  const { dryRun } = options.value;
  const change = (previous: Stored | undefined) => put(call, previous, { object: placed.value, options: options.value });
  return nextStep(call, () => changeStored(call, change, { dryRun }));
}

type Put = { readonly object: KubeObject; readonly options: WriteOptions };

function put(call: RequestContext, previous: Stored | undefined, { object, options }: Put): PendingResponse {
  const { type, name = "" } = call.target;
  const creates = previous === undefined && type.createOnUpdate && call.target.subresource === undefined;
  if (previous === undefined && !creates) return notFound({ resource: type.resource, name });
  const meant = checkUid(call, object, previous?.object);
  if (!meant.ok) return meant;
  if (previous === undefined) {
    const created = createObject(call, { object: withoutVersion(withoutSystemFields(object)), options, tracked: false });
    return whenOk(created, (stored) => objectResponse(call, 201, stored));
  }
  const updated = updateObject(call, { previous, next: object, options, tracked: false });
  return whenOk(updated, (stored) => objectResponse(call, 200, stored));
}
