/**
 * Versions of one kind share a collection; one of them is stored, and the others are converted to it and back.
 *
 * Discovery lists two pairs that differ in more than their name: HorizontalPodAutoscaler v1/v2, and Events of the two groups.
 */
import { apiVersionOf, type KubeObject, type Resource } from "#kube";
import type { ResourceType } from "../../resource-type.ts";
import { autoscalerFromV2, autoscalerToV2 } from "./autoscaler.ts";
import { eventFromCore, eventToCore } from "./event.ts";

type Conversion = Pick<ResourceType, "collection" | "fromStorage" | "toStorage">;
type Convert = (object: KubeObject) => KubeObject;

const CONVERSIONS: ReadonlyMap<string, Conversion> = new Map<string, Conversion>([
  [
    "autoscaling/v1/horizontalpodautoscalers",
    { collection: "autoscaling/horizontalpodautoscalers", fromStorage: autoscalerFromV2, toStorage: autoscalerToV2 },
  ],
  ["events.k8s.io/v1/events", { collection: "/events", fromStorage: eventFromCore, toStorage: eventToCore }],
]);

export function conversionOf(resource: Resource): Conversion {
  const apiVersion = apiVersionOf(resource);
  const known = CONVERSIONS.get(`${apiVersion}/${resource.plural}`);
  if (known !== undefined) return known;
  const rename: Convert = (object) => (object.apiVersion === apiVersion ? object : { ...object, apiVersion });
  return { collection: `${resource.group}/${resource.plural}`, fromStorage: rename, toStorage: rename };
}
