/**
 * Converts objects between versions: from storage to the requested version, and back. Kinds without a conversion webhook are converted at once.
 *
 * Custom resources with a conversion webhook make the request wait. `fillConversionCache` fills the cache for lists and watches, from which
 * `inVersion` reads. The other functions call the webhook each time, where the storage of a real server encodes or decodes an object.
 */
import { map, ok, whenOk, whenThere, type Later, type Result } from "#base";
import { apiVersionOf, type KubeObject } from "#kube";
import type { ResourceType } from "../resource-type.ts";
import { inVersion } from "./core.ts";
import { withMetadata } from "./object-meta.ts";
import { errorWithoutReason, type Failure } from "./status.ts";

const READY = ok(undefined);

export function fillConversionCache(type: ResourceType, stored: readonly (KubeObject | undefined)[]): Later<Result<undefined, Failure>> {
  const { conversion } = type;
  if (conversion === undefined) return READY;
  const given = stored.flatMap((object) => (object === undefined ? [] : [object]));
  return whenThere(conversion.into(given, apiVersionOf(type.resource), { storage: true }), (result) =>
    result.ok ? READY : errorWithoutReason(result.error),
  );
}

/** Uses the cache, and fills it if the object is missing. */
export function oneFromCache(type: ResourceType, stored: KubeObject): Later<Result<KubeObject, Failure>> {
  return whenOk(fillConversionCache(type, [stored]), () => ok(inVersion(type, stored)));
}

/** `dryRun`: the object was not stored, and keeps its resourceVersion. */
export function oneFromStorage(type: ResourceType, stored: KubeObject, dryRun = false): Later<Result<KubeObject, Failure>> {
  const { conversion } = type;
  const apiVersion = apiVersionOf(type.resource);
  if (conversion === undefined || stored.apiVersion === apiVersion) return ok(inVersion(type, stored));
  return whenThere(conversion.ask([stored], apiVersion, { storage: !dryRun }), (result) => only(result, stored));
}

export function oneToStorage(type: ResourceType, object: KubeObject, dryRun = false): Later<Result<KubeObject, Failure>> {
  const { conversion } = type;
  if (conversion === undefined) return ok(type.toStorage(object));
  return whenThere(conversion.ask([object], conversion.storageVersion, { storage: !dryRun }), (result) => only(result, object));
}

function only(result: Result<readonly KubeObject[], string>, given: KubeObject): Result<KubeObject, Failure> {
  return result.ok ? map(result, ([object = given]) => object) : errorWithoutReason(result.error);
}

/**
 * Called before an object is changed. A real server reads the object from its watch cache and encodes it, to compare the result with it. It
 * reads from storage if the object is not cached, for a dry run, and after a conflict (`fresh`). Afterwards `inVersion` finds the object.
 */
export function beginChange(type: ResourceType, stored: KubeObject, fresh: boolean): Later<Result<undefined, Failure>> {
  const { conversion } = type;
  const apiVersion = apiVersionOf(type.resource);
  if (conversion === undefined || stored.apiVersion === apiVersion) return READY;
  if (!fresh && conversion.isCached(stored, apiVersion))
    return whenOk(oneFromCache(type, stored), (object) => whenOk(oneToStorage(type, object), () => READY));
  return whenOk(oneFromStorage(type, stored), (object) => {
    conversion.remember(stored, object);
    return READY;
  });
}

/** Between two served versions. Objects of another kind than the resource's own (a Scale) have one version only, and are not converted. */
export function convertBetween(
  objects: readonly KubeObject[],
  from: ResourceType,
  to: ResourceType,
): Later<Result<readonly KubeObject[], string>> {
  if (from === to || objects.some((object) => object.kind !== from.resource.kind)) return ok(objects);
  if (to.conversion !== undefined) return to.conversion.into(objects, apiVersionOf(to.resource));
  return ok(objects.map((object) => to.fromStorage(from.toStorage(object))));
}

/** A change of metadata only needs no conversion. */
export function withMetadataOf(type: ResourceType, after: KubeObject, before: KubeObject): KubeObject {
  if (type.conversion === undefined || after.apiVersion === apiVersionOf(type.resource)) return inVersion(type, after);
  const converted = inVersion(type, before);
  const { labels, annotations } = converted.metadata;
  const shown = withMetadata({ ...converted, metadata: after.metadata }, { labels, annotations });
  type.conversion.remember(after, shown);
  return shown;
}
