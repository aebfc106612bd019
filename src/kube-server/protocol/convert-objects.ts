/**
 * Objects from one version to another: what is in storage for a request, and back. Kinds without a conversion webhook are converted at once.
 *
 * Custom resources with a conversion webhook make the request wait. `readable` fills the cache for lists and watches, so that `inVersion` has
 * the object. The other functions call the webhook each time, where the storage of a real server encodes or decodes an object.
 */
import { map, ok, whenOk, whenThere, type Later, type Result } from "#base";
import { apiVersionOf, type KubeObject } from "#kube";
import type { ResourceType } from "../resource-type.ts";
import { inVersion } from "./core.ts";
import { withMetadata } from "./object-meta.ts";
import { unexplained, type Failure } from "./status.ts";

const READY = ok(undefined);

export function readable(type: ResourceType, stored: readonly (KubeObject | undefined)[]): Later<Result<undefined, Failure>> {
  const { conversion } = type;
  if (conversion === undefined) return READY;
  const given = stored.flatMap((object) => (object === undefined ? [] : [object]));
  return whenThere(conversion.into(given, apiVersionOf(type.resource), { storage: true }), (result) =>
    result.ok ? READY : unexplained(result.error),
  );
}

/** From the cache, if it is there. */
export function oneFromCache(type: ResourceType, stored: KubeObject): Later<Result<KubeObject, Failure>> {
  return whenOk(readable(type, [stored]), () => ok(inVersion(type, stored)));
}

/** `dryRun`: of what a dry run would have stored, which keeps its resourceVersion. */
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
  return result.ok ? map(result, ([object = given]) => object) : unexplained(result.error);
}

/**
 * Before an object is changed. A real server takes it from its watch cache and encodes it, to compare the result with it; it reads an object
 * that is not cached, and for a dry run and after a conflict (`fresh`), from storage. `inVersion` has the object afterwards.
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

/** Between two served versions. Objects that are not of the resource's own kind (a Scale) have one version only, and stay as they are. */
export function convertBetween(
  objects: readonly KubeObject[],
  from: ResourceType,
  to: ResourceType,
): Later<Result<readonly KubeObject[], string>> {
  if (from === to || objects.some((object) => object.kind !== from.resource.kind)) return ok(objects);
  if (to.conversion !== undefined) return to.conversion.into(objects, apiVersionOf(to.resource));
  return ok(objects.map((object) => to.fromStorage(from.toStorage(object))));
}

/** A change of nothing but metadata needs no conversion of its own. */
export function withMetadataOf(type: ResourceType, after: KubeObject, before: KubeObject): KubeObject {
  if (type.conversion === undefined || after.apiVersion === apiVersionOf(type.resource)) return inVersion(type, after);
  const converted = inVersion(type, before);
  const { labels, annotations } = converted.metadata;
  const shown = withMetadata({ ...converted, metadata: after.metadata }, { labels, annotations });
  type.conversion.remember(after, shown);
  return shown;
}
