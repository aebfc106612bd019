import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { parseLatticeCluster, type LatticeCluster } from "#crds";
import { fieldAt, parseDnsLabel, type KubeObject } from "#kube";
import { rawAws, rawAzure, rawClusterOn, rawGcp, rawCluster } from "../../test/builders/valid-resources.ts";
import { compileCluster, templatesToPrune, type ClusterSettingsInput, type CompiledCluster } from "./index.ts";

const parsed = (raw: unknown): LatticeCluster => expectOk(parseLatticeCluster(raw));
const compiled = (raw: unknown, settings?: ClusterSettingsInput): CompiledCluster => expectOk(compileCluster(parsed(raw), settings));
const ofKind = ({ objects }: CompiledCluster, kind: string) => objects.filter((object) => object.kind === kind);
const cell = { name: "mgmt", host: "mgmt.example.com", bootstrapPort: 8_443, proxyPort: 8_444, caBundle: "PEM" };

describe("bootstrap-only fields", () => {
  const kubeadm = (cluster: CompiledCluster) => fieldAt(ofKind(cluster, "KubeadmControlPlane")[0], "spec", "kubeadmConfigSpec");

  test("are absent without a parent", () => {
    const cluster = compiled(rawCluster());
    expect(kubeadm(cluster)).not.toHaveProperty("files");
    expect(cluster.once).toEqual([]);
  });

  test("are named, so that a client can tell them from the others", () => {
    const paths = [
      ["spec", "kubeadmConfigSpec", "files"],
      ["spec", "kubeadmConfigSpec", "postKubeadmCommands"],
    ];
    expect(compiled(rawCluster(), { cell }).once).toEqual([{ kind: "KubeadmControlPlane", name: "row-control-plane", paths }]);
  });

  test("stay as they are on an existing control plane, whatever the parent is now", () => {
    const [controlPlane] = ofKind(compiled(rawCluster(), { cell }), "KubeadmControlPlane");
    if (controlPlane === undefined) throw new Error("no control plane");
    const existing = { controlPlane };
    const moved = { ...cell, host: "elsewhere.example.com", caBundle: "OTHER" };
    expect(ofKind(compiled(rawCluster(), { cell: moved, existing }), "KubeadmControlPlane")).toEqual([controlPlane]);
    expect(ofKind(compiled(rawCluster(), { existing }), "KubeadmControlPlane")).toEqual([controlPlane]);
  });

  test("are not added to an existing control plane that has none", () => {
    const controlPlane: KubeObject = {
      apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
      kind: "KubeadmControlPlane",
      metadata: { name: "x" },
    };
    expect(kubeadm(compiled(rawCluster(), { cell, existing: { controlPlane } }))).not.toHaveProperty("files");
  });
});

describe("the names in the certificate of the API servers", () => {
  const named = (host?: string, certSANs: readonly string[] = []) => {
    const endpoints = host === undefined ? {} : { endpoints: { host } };
    return rawCluster({ provider: { type: "local", kubernetes: { version: "1.36.3", certSANs } }, ...endpoints });
  };
  const planeOf = (cluster: CompiledCluster): KubeObject => {
    const [plane] = ofKind(cluster, "KubeadmControlPlane");
    if (plane === undefined) throw new Error("no control plane");
    return plane;
  };
  const namesOf = (plane: KubeObject) => fieldAt(plane, "spec", "kubeadmConfigSpec", "clusterConfiguration", "apiServer", "certSANs");
  const made = (host?: string, certSANs?: readonly string[]) => planeOf(compiled(named(host, certSANs)));
  const changed = (controlPlane: KubeObject, host?: string, certSANs?: readonly string[]) =>
    planeOf(compiled(named(host, certSANs), { existing: { controlPlane } }));

  test("are those of spec.endpoints and certSANs when the cluster is made", () => {
    expect(namesOf(made("Cell.example.com", ["api.example.com"]))).toEqual([
      "cell.example.com",
      "api.example.com",
      "127.0.0.1",
      "localhost",
    ]);
  });

  test.each([
    { name: "becomes a cell", from: undefined, to: "cell.example.com" },
    { name: "gets another address for its children", from: "cell.example.com", to: "other.example.com" },
    { name: "is no cell any more", from: "cell.example.com", to: undefined },
  ])("do not change when a cluster $name: its control plane would be replaced", ({ from, to }) => {
    const before = made(from, ["api.example.com"]);
    expect(changed(before, to, ["api.example.com"])).toEqual(before);
    expect(changed(changed(before, to, ["api.example.com"]), from, ["api.example.com"])).toEqual(before);
  });

  test("follow certSANs, which have no other purpose", () => {
    const before = made("cell.example.com", ["a.example.com", "b.example.com"]);
    const added = changed(before, undefined, ["a.example.com", "b.example.com", "c.example.com"]);
    expect(namesOf(added)).toEqual(["cell.example.com", "a.example.com", "b.example.com", "c.example.com", "127.0.0.1", "localhost"]);
    expect(namesOf(changed(before, "cell.example.com", ["a.example.com"]))).toEqual([
      "cell.example.com",
      "a.example.com",
      "127.0.0.1",
      "localhost",
    ]);
    expect(changed(before, undefined, ["b.example.com", "cell.example.com", "a.example.com"])).toEqual(before);
  });

  test("stay on a control plane that an earlier release has made, which has no annotation", () => {
    const { annotations: _annotations, ...metadata } = made("cell.example.com").metadata;
    const before = { ...made("cell.example.com"), metadata };
    expect(namesOf(changed(before, "cell.example.com"))).toEqual(namesOf(before));
  });
});

describe("pools", () => {
  const batch = { min: 1, max: 5, labels: { "example.com/work": "batch" }, taints: [{ key: "batch", value: "yes", effect: "NoSchedule" }] };
  const withPool = (pool: object) => rawCluster({ nodes: { controlPlane: 1, workers: 2, workerPools: { batch: pool } } });

  test("replicas of a pool with bounds are apart, and the others are not", () => {
    const { wanted, once } = compiled(withPool(batch));
    const deployments = wanted.filter(({ object }) => object.kind === "MachineDeployment");
    expect(deployments.map(({ object, once: apart }) => [object.metadata.name, fieldAt(object, "spec", "replicas"), apart])).toEqual([
      ["row-default", 2, undefined],
      ["row-batch", undefined, { spec: { replicas: 1 } }],
    ]);
    expect(once).toEqual([{ kind: "MachineDeployment", name: "row-batch", paths: [["spec", "replicas"]] }]);
  });

  test.each([
    { name: "min, max and replicas", given: { min: 2, max: 5, replicas: 3 }, want: ["2", "5", 3] },
    { name: "only max", given: { max: 5 }, want: ["1", "5", 1] },
    { name: "max, and no replicas at first", given: { max: 5, replicas: 0 }, want: ["0", "5", 0] },
    { name: "only replicas", given: { replicas: 4 }, want: [undefined, undefined, 4] },
    { name: "nothing", given: {}, want: [undefined, undefined, 1] },
  ])("$name", ({ given, want }) => {
    const pool = ofKind(compiled(withPool(given)), "MachineDeployment")[1];
    const size = (which: string) => pool?.metadata.annotations?.[`cluster.x-k8s.io/cluster-api-autoscaler-node-group-${which}-size`];
    expect([size("min"), size("max"), fieldAt(pool, "spec", "replicas")]).toEqual(want);
  });

  test("a change of labels makes another kubeadm config, and keeps the machine template", () => {
    const [before, after] = [compiled(withPool(batch)), compiled(withPool({ ...batch, labels: {} }))];
    const names = (cluster: CompiledCluster, kind: string) => ofKind(cluster, kind).map(({ metadata }) => metadata.name);
    expect(names(after, "DevMachineTemplate")).toEqual(names(before, "DevMachineTemplate"));
    expect(names(after, "KubeadmConfigTemplate")).not.toEqual(names(before, "KubeadmConfigTemplate"));
  });
});

describe("an upgrade", () => {
  const running = (version: string) => ({
    existing: { controlPlane: { apiVersion: "v", kind: "K", metadata: { name: "x" }, spec: { version } } as KubeObject },
  });

  test("to the next minor version compiles", () => {
    const cluster = compiled(rawClusterOn({ kubernetes: { version: "1.36.0" } }), running("v1.35.9"));
    expect(fieldAt(ofKind(cluster, "KubeadmControlPlane")[0], "spec", "version")).toBe("v1.36.0");
  });

  test("while machines of the version before the last remain is an error", () => {
    const { existing } = running("v1.36.0");
    const controlPlane = { ...existing.controlPlane, status: { version: "v1.35.9" } };
    const result = compileCluster(parsed(rawClusterOn({ kubernetes: { version: "1.37.0" } })), { existing: { controlPlane } });
    expect(result.ok ? [] : result.error.map(({ reason }) => reason)).toEqual(["VersionSkipped"]);
  });

  test.each([
    { name: "back", from: "v1.36.3", want: "VersionDowngrade" },
    { name: "over a minor version", from: "v1.33.1", want: "VersionSkipped" },
  ])("$name is an error", ({ from, want }) => {
    const result = compileCluster(parsed(rawClusterOn({ kubernetes: { version: "1.35.2" } })), running(from));
    expect(result.ok ? [] : result.error.map(({ reason }) => reason)).toEqual([want]);
  });
});

describe("templatesToPrune", () => {
  const template = (kind: string, name: string, namespace = "capi-a"): KubeObject => ({
    apiVersion: "v",
    kind,
    metadata: { name, namespace },
  });

  test("templates of the compiled cluster stay", () => {
    const cluster = compiled(rawCluster());
    const existing = cluster.objects.filter(({ metadata }) => cluster.templates.includes(metadata.name));
    expect(existing).toHaveLength(3);
    expect(templatesToPrune(existing, cluster.objects)).toEqual([]);
  });

  test("a template stays while a MachineSet of an earlier revision uses it", () => {
    const [old, unused] = [template("DevMachineTemplate", "old"), template("DevMachineTemplate", "unused")];
    const set = {
      ...template("MachineSet", "a-default-x"),
      spec: {
        template: {
          spec: {
            infrastructureRef: { kind: "DevMachineTemplate", name: "old" },
            bootstrap: { configRef: { kind: "KubeadmConfigTemplate", name: "c" } },
          },
        },
      },
    };
    expect(templatesToPrune([old, unused, template("KubeadmConfigTemplate", "c")], [set])).toEqual([unused]);
  });

  test("a referrer of another namespace or kind of template does not count", () => {
    const given = [template("DevMachineTemplate", "a"), template("KubeadmConfigTemplate", "a")];
    const plane = {
      ...template("KubeadmControlPlane", "p", "capi-b"),
      spec: { machineTemplate: { spec: { infrastructureRef: { kind: "DevMachineTemplate", name: "a" } } } },
    };
    expect(templatesToPrune(given, [plane])).toEqual(given);
  });
});

describe("any valid cluster", () => {
  const label = fc.stringMatching(/^[a-z]([-a-z0-9]{0,40}[a-z0-9])?$/);
  const poolLabel = fc.stringMatching(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/).filter((name) => name !== "default" && name !== "control-plane");
  const pool = fc.record(
    { replicas: fc.integer({ min: 1, max: 4 }), max: fc.integer({ min: 4, max: 8 }), diskGiB: fc.integer({ min: 10, max: 100 }) },
    { requiredKeys: [] },
  );
  const credentialsRef = { name: "credentials", namespace: "capa-system" };
  const provider = fc.constantFrom<Record<string, unknown>>(
    { type: "docker" },
    { type: "local" },
    { type: "aws", aws: rawAws, credentialsRef },
    { type: "gcp", gcp: rawGcp, credentialsRef },
    { type: "azure", azure: rawAzure, credentialsRef },
  );
  const nodes = fc.record({
    controlPlane: fc.constantFrom(1, 3, 5),
    workers: fc.integer({ min: 0, max: 9 }),
    workerPools: fc.dictionary(poolLabel, pool, { maxKeys: 4 }),
  });
  const clusters = fc
    .record({ name: label.filter((name) => name.length > 1), provider, nodes, minor: fc.integer({ min: 31, max: 37 }) })
    .map(({ name, provider: fields, nodes: given, minor }) => {
      const raw = rawClusterOn({ ...fields, kubernetes: { version: `1.${minor}.0` } });
      return parsed({ ...raw, metadata: { name }, spec: { ...raw["spec"], nodes: given } });
    });
  const settings = fc.constantFrom<ClusterSettingsInput>({}, { cell: { ...cell, name: "zz-cell" } });

  test("compiles to the same objects each time, with valid names, labels, and references that exist", () => {
    fc.assert(
      fc.property(clusters, settings, (cluster, given) => {
        const result = expectOk(compileCluster(cluster, given));
        expect(expectOk(compileCluster(structuredClone(cluster), given))).toEqual(result);
        const known = new Set(result.objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`));
        expect(known.size).toBe(result.objects.length);
        for (const object of result.objects) {
          expect(expectOk(parseDnsLabel(object.metadata.name))).toBe(object.metadata.name);
          expect(object.metadata.labels?.["cluster.x-k8s.io/cluster-name"]).toBe(cluster.metadata.name);
          expect(object.metadata).not.toHaveProperty("ownerReferences");
          for (const reference of referencesIn(object)) expect(known).toContain(reference);
        }
      }),
      { numRuns: 150 },
    );
  });
});

/** `Kind/name` of each reference to another object of the cluster. */
function referencesIn(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  const nested = Object.entries(value).flatMap(([key, item]) =>
    /^(infrastructureRef|controlPlaneRef|configRef)$/.test(key)
      ? [`${fieldAt(item, "kind") as string}/${fieldAt(item, "name") as string}`]
      : referencesIn(item),
  );
  return nested;
}
