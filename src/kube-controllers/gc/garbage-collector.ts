/**
 * Deletes objects whose owners are deleted, by the three propagation policies: background (dependents are deleted afterwards),
 * foreground (dependents first) and orphan (dependents stay, without the owner reference).
 */
import type { KubeObject, OwnerReference } from "#kube";
import type { KubeController, KubeControllerContext } from "../context.ts";
import { Collector } from "./collector.ts";
import { describeIdentity, identityOfOwner } from "./identity.ts";
import { LiveObjects } from "./live-objects.ts";
import { OwnerGraph, type GraphNode } from "./owner-graph.ts";

const CONCURRENCY = 20;

export const garbageCollector: KubeController = { name: "garbage-collector-controller", start };

function start(context: KubeControllerContext): void {
  const everyKind = context.everyKind();
  const graph = new OwnerGraph({
    worthDeleting: ({ uid }) => deletes.add(uid),
    worthOrphaning: ({ uid }) => orphans.add(uid),
    crossesNamespaces: (dependent, owner) => context.record(crossing(dependent, owner)),
  });
  const collector = new Collector(graph, new LiveObjects(context.client, everyKind));
  const ready = everyKind.ready();
  const deletes = context.work({
    name: "garbage-collector-deletes",
    concurrency: CONCURRENCY,
    pass: async (uid, signal) => {
      await ready; // before every kind is listed, an existing owner may look absent
      return collector.deletePass(uid, signal);
    },
  });
  const orphans = context.work({
    name: "garbage-collector-orphans",
    concurrency: CONCURRENCY,
    pass: async (uid, signal) => {
      await ready;
      return collector.orphanPass(uid, signal);
    },
  });
  everyKind.subscribe({
    changed: (resource, change) => graph.changed(resource, change),
    forgotten: (resource, object) => graph.forgotten(resource, object),
  });
}

function crossing({ identity }: GraphNode, owner: OwnerReference) {
  const { apiVersion, kind, namespace, name, uid } = identity;
  const regarding: KubeObject = { apiVersion, kind, metadata: { name, uid, ...(namespace === "" ? {} : { namespace }) } };
  const meant = describeIdentity(identityOfOwner(owner, namespace));
  const note = `ownerRef ${meant} does not exist in namespace ${JSON.stringify(namespace)}`;
  return { regarding, type: "Warning" as const, reason: "OwnerRefInvalidNamespace", note };
}
