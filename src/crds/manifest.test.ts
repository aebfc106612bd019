import { describe, expect, it } from "vitest";
import { defineResource, type KubeObject } from "#kube";
import { latticeKinds } from "./kinds.ts";
import { toManifest } from "./manifest.ts";

describe("the CRDs", () => {
  it("have the documented names, scopes and short names", () => {
    expect(
      latticeKinds.map(({ crd }) => crd().spec).map(({ scope, names }) => [names.kind, scope, ...names.shortNames, ...names.categories]),
    ).toEqual([
      ["LatticeCluster", "Cluster", "lc", "lattice"],
      ["LatticeEnvironment", "Cluster", "lenv", "lattice"],
      ["LatticeService", "Namespaced", "ls", "lattice"],
      ["LatticeExternalService", "Namespaced", "les", "lattice"],
      ["LatticeServiceRegistration", "Namespaced", "lsr", "lattice"],
      ["LatticeServiceConfig", "Namespaced", "lsc", "lattice"],
      ["LatticeSecretBindings", "Namespaced", "lsb", "lattice"],
      ["LatticeImageRegistry", "Cluster", "lir", "lattice"],
    ]);
  });

  it("are named after the plural and the group", () => {
    for (const { crd, plural } of latticeKinds) expect(crd().metadata.name).toBe(`${plural}.lattice.dev`);
  });

  it("have a status subresource, and show phase, readiness and age", () => {
    for (const { crd, kind } of latticeKinds) {
      const [version] = crd().spec.versions;
      expect(version?.subresources.status, kind).toEqual({});
      expect(
        version?.additionalPrinterColumns.map(({ name }) => name),
        kind,
      ).toEqual(expect.arrayContaining(["Phase", "Ready", "Age"]));
    }
  });

  it("have the same four status fields", () => {
    for (const { crd, kind } of latticeKinds) {
      const status = crd().spec.versions[0]?.schema.openAPIV3Schema.properties?.["status"]?.properties ?? {};
      expect(Object.keys(status), kind).toEqual(expect.arrayContaining(["phase", "conditions", "observedGeneration", "message"]));
      expect(status["conditions"], kind).toMatchObject({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] });
    }
  });

  it("restrict only the name in metadata, because a cluster rejects other restrictions", () => {
    for (const { crd } of latticeKinds) {
      const metadata = crd().spec.versions[0]?.schema.openAPIV3Schema.properties?.["metadata"] ?? {};
      expect(Object.keys(metadata.properties ?? {}).filter((name) => name !== "name")).toEqual([]);
    }
  });

  it("are created once", () => {
    for (const { crd, jsonSchema, fields } of latticeKinds) {
      expect(crd()).toBe(crd());
      expect(jsonSchema()).toBe(jsonSchema());
      expect(fields()).toBe(fields());
    }
  });
});

it("a transition on an unknown field throws", () => {
  const resource = defineResource<KubeObject>({ group: "a", version: "v1", kind: "A", plural: "as", namespaced: true });
  const transitions = [{ on: "spec.gone", cel: "true", message: "m", holds: () => true }];
  const root = { properties: { spec: { type: "object" } } } as const;
  expect(() => toManifest({ shortName: "a", columns: [], transitions }, resource, { root, name: undefined })).toThrow(
    'a rule stands on spec.gone, and the schema has no "gone" there',
  );
});
