/**
 * Reduced CustomResourceDefinitions for the kinds of Cilium, Istio, Gateway API, Flagger and External Secrets that Lattice writes, so that a cluster
 * without them can store these objects. They accept any spec, and no controller acts on the objects: no traffic is blocked.
 */
import { groupResourceOf, meshKinds, type KubeObject, type Resource } from "#kube";

const SHORT_NAMES: ReadonlyMap<string, readonly string[]> = new Map([
  ["CiliumNetworkPolicy", ["cnp"]],
  ["AuthorizationPolicy", ["ap"]],
  ["PeerAuthentication", ["pa"]],
  ["ServiceEntry", ["se"]],
  ["Gateway", ["gtw"]],
  ["ExternalSecret", ["es"]],
]);

export function reducedMeshCrds(): readonly KubeObject[] {
  return meshKinds.map(crdOf);
}

function crdOf(resource: Resource): KubeObject {
  const { group, version, kind, plural } = resource;
  const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const description = `${kind}, reduced by Lattice for clusters that do not have the real one: any spec is taken, and nothing acts on it.`;
  const schema = { openAPIV3Schema: { type: "object", description, properties: { spec: anything, status: anything } } };
  const names = { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List`, shortNames: SHORT_NAMES.get(kind) ?? [] };
  const approval = { "api-approved.kubernetes.io": "unapproved, reduced copy for local use" };
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: groupResourceOf(resource),
      labels: { "lattice.dev/reduced": "true" },
      // the API server requires an approval annotation on CRDs of *.k8s.io groups
      ...(group.endsWith(".k8s.io") ? { annotations: approval } : {}),
    },
    spec: {
      group,
      scope: "Namespaced",
      names,
      versions: [{ name: version, served: true, storage: true, subresources: { status: {} }, schema }],
    },
  };
  return definition;
}
