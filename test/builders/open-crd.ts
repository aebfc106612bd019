/** CustomResourceDefinitions that accept any spec and status, for controllers of tests. */
import { latticeServiceKind } from "#crds";
import type { FixtureObject } from "#embedded-cluster";
import { groupResourceOf, type Resource } from "#kube";

const anyFields = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const schema = { openAPIV3Schema: { type: "object", properties: { spec: anyFields, status: anyFields } } };

export function openCrd(resource: Resource): FixtureObject {
  const { group, version, kind, plural, namespaced } = resource;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: groupResourceOf(resource) },
    spec: {
      group,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      scope: namespaced ? "Namespaced" : "Cluster",
      versions: [{ name: version, served: true, storage: true, schema, subresources: { status: {} } }],
    },
  };
}

/** The CRD of LatticeServices as an older release may have had it: only the operator's own parser rejects invalid specs. */
export function openServiceCrd(): FixtureObject {
  const crd = structuredClone(latticeServiceKind.crd()) as unknown as { spec: { versions: { schema: object }[] } };
  for (const version of crd.spec.versions) version.schema = schema;
  return crd as unknown as FixtureObject;
}
