/**
 * Objects from one version to another: what is in storage for a request, and back. Kinds that convert by themselves do it at once. Custom
 * resources with a conversion webhook make the request wait: `readable` asks for what a handler will read, all in one call, and from then on
 * `inVersion` has the answer.
 */
import { map, ok, whenOk, whenThere, type Later, type Result } from "#base";
import { apiVersionOf, type KubeObject } from "#kube";
import type { ResourceType } from "../resource-type.ts";
import { inVersion } from "./core.ts";
import { withMetadata } from "./object-meta.ts";
import { unexplained, type Failure } from "./status.ts";

const READY = ok(undefined);

export function readable(type: ResourceType, stored: readonly (KubeObject | undefined)[], anew = false): Later<Result<undefined, Failure>> {
  const { conversion } = type;
  if (conversion === undefined) return READY;
  const given = stored.flatMap((object) => (object === undefined ? [] : [object]));
  return whenThere(conversion.into(given, apiVersionOf(type.resource), { anew, storage: true }), (result) =>
    result.ok ? READY : unexplained(result.error),
  );
}

/** `anew`: not what a webhook said before, but what it says now. */
export function oneFromStorage(type: ResourceType, stored: KubeObject, anew = false): Later<Result<KubeObject, Failure>> {
  if (type.conversion === undefined) return ok(inVersion(type, stored));
  return whenOk(readable(type, [stored], anew), () => ok(inVersion(type, stored)));
}

export function oneToStorage(type: ResourceType, object: KubeObject): Later<Result<KubeObject, Failure>> {
  const { conversion } = type;
  if (conversion === undefined) return ok(type.toStorage(object));
  return whenThere(conversion.into([object], conversion.storageVersion, { storage: true }), (result): Result<KubeObject, Failure> =>
    result.ok ? map(result, ([stored = object]) => stored) : unexplained(result.error),
  );
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
