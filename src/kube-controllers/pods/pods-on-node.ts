/** The Pods of a node, by an index that all controllers share: with a thousand nodes, a search through all Pods for each would be too slow. */
import { pods as podResource, type Pod } from "#kube";
import type { SharedInformers } from "../shared-informers.ts";

const BY_NODE = "node";

/** Requests the informer of Pods; call it in `start`. */
export function podsOnNode(informers: SharedInformers): (node: string) => readonly Pod[] {
  const pods = informers.of(podResource);
  if (!pods.hasIndex(BY_NODE))
    pods.addIndex(BY_NODE, ({ spec }) => (spec?.nodeName === undefined || spec.nodeName === "" ? [] : [spec.nodeName]));
  return (node) => pods.byIndex(BY_NODE, node);
}
