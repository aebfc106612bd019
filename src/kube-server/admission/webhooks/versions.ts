/**
 * The objects of one request in the version that a hook asks for. Most ask for the version of the request, and then nothing is converted; the
 * answer comes later only for custom resources that a webhook converts.
 */
import { map, ok, whenThere, type Later, type Result } from "#base";
import type { KubeObject } from "#kube";
import type { ResourceType } from "../../resource-type.ts";
import { convertBetween } from "../../protocol/convert-objects.ts";

export type Pair = { readonly object: KubeObject | undefined; readonly old: KubeObject | undefined };

export function pairIn(pair: Pair, from: ResourceType, to: ResourceType): Later<Result<Pair, string>> {
  if (from === to) return ok({ object: pair.object, old: pair.old });
  const given = [pair.object, pair.old].flatMap((one) => (one === undefined ? [] : [one]));
  return whenThere(convertBetween(given, from, to), (converted) =>
    map(converted, (objects) => ({
      object: pair.object === undefined ? undefined : objects[0],
      old: pair.old === undefined ? undefined : objects.at(-1),
    })),
  );
}
