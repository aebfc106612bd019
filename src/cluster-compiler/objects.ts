/**
 * The head of each object. There are no owner references: `clusterctl move` moves only what a Cluster owns, and an owner that is not in the
 * target would make the garbage collector there delete the object.
 */
import { apiVersionOf, type Json, type JsonObject, type KubeObject, type Resource } from "#kube";
import { CLUSTER_NAME_LABEL } from "./names.ts";
import type { ClusterContext } from "./input.ts";

type Body = {
  readonly name: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: JsonObject;
};

export function clusterObject(resource: Resource, { name: cluster, namespace }: ClusterContext, body: Body): KubeObject {
  const { name, annotations, spec } = body;
  const object = {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: {
      name,
      ...(resource.namespaced ? { namespace } : {}),
      labels: { "app.kubernetes.io/managed-by": "lattice", [CLUSTER_NAME_LABEL]: cluster },
      ...(annotations === undefined ? {} : { annotations }),
    },
    ...(spec === undefined ? {} : { spec }),
  };
  return object;
}

/** A reference as v1beta2 writes it: without version and namespace. */
export function referenceTo({ group, kind }: Pick<Resource, "group" | "kind">, name: string): JsonObject {
  return { apiGroup: group, kind, name };
}

/** Arguments of a component in the form of v1beta2, in the order of their names. */
export function extraArgs(args: Readonly<Record<string, string>>): readonly Json[] {
  return Object.entries(args)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => ({ name, value }));
}
