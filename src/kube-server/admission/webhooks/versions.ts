/**
 * The objects of one request in the version that a hook's rule names. Mostly that is the version of the request, and nothing is converted; the
 * result is a promise only for custom resources with a conversion webhook.
 */
import { map, ok, whenThere, type Later, type Result } from "#base";
import type { KubeObject } from "#kube";
import type { ResourceType } from "../../resource-type.ts";
import { convertBetween } from "../../protocol/convert-objects.ts";

export type ObjectPair = { readonly object: KubeObject | undefined; readonly old: KubeObject | undefined };

export function pairIn(pair: ObjectPair, from: ResourceType, to: ResourceType): Later<Result<ObjectPair, string>> {
  if (from === to) return ok({ object: pair.object, old: pair.old });
  const given = [pair.object, pair.old].flatMap((one) => (one === undefined ? [] : [one]));
  return whenThere(convertBetween(given, from, to), (converted) =>
    map(converted, (objects) => ({
      object: pair.object === undefined ? undefined : objects[0],
      old: pair.old === undefined ? undefined : objects.at(-1),
    })),
  );
}
