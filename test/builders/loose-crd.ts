/** The CRD of LatticeServices as an older release might have had it: anything goes, so that the operator's own parser has to hold. */
import { latticeServiceKind } from "#crds";
import type { FixtureObject } from "#embedded-cluster";

export function looseServiceCrd(): FixtureObject {
  const crd = structuredClone(latticeServiceKind.crd()) as unknown as { spec: { versions: { schema: object }[] } };
  const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  for (const version of crd.spec.versions) {
    version.schema = { openAPIV3Schema: { type: "object", properties: { spec: anything, status: anything } } };
  }
  return crd as unknown as FixtureObject;
}
