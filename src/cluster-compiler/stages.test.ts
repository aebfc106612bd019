import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { parseLatticeCluster } from "#crds";
import { fieldAt, type KubeObject } from "#kube";
import { rawCluster } from "../../test/builders/valid-resources.ts";
import { compileCluster, type CompiledCluster } from "./index.ts";

const [OLD, NEW] = ["v1.35.3", "v1.36.3"];

type Spec = { readonly version: string; readonly label?: string; readonly image?: string; readonly pools?: readonly string[] };
function raw({ version, label = "a", image, pools = ["batch"] }: Spec) {
  const provider = { type: "docker", kubernetes: { version }, ...(image === undefined ? {} : { docker: { image } }) };
  const workerPools = Object.fromEntries(pools.map((pool) => [pool, { replicas: 2, labels: { "example.com/x": label } }]));
  return rawCluster({ provider, nodes: { controlPlane: 1, workers: 1, workerPools } });
}

const compiled = (spec: Spec, existing?: readonly KubeObject[]): CompiledCluster => {
  const controlPlane = existing?.find(({ kind }) => kind === "KubeadmControlPlane");
  const known = {
    pools: (existing ?? []).filter(({ kind }) => kind === "MachineDeployment"),
    machines: (existing ?? []).filter(({ kind }) => kind === "Machine"),
    ...(controlPlane === undefined ? {} : { controlPlane }),
  };
  return expectOk(compileCluster(expectOk(parseLatticeCluster(raw(spec))), existing === undefined ? {} : { existing: known }));
};

/** The objects after their controllers have done what their specs say. */
function settled({ objects }: CompiledCluster): readonly KubeObject[] {
  return objects.flatMap((object) => {
    const replicas = fieldAt(object, "spec", "replicas");
    const counts = { replicas, upToDateReplicas: replicas, availableReplicas: replicas, observedGeneration: 1 };
    const metadata = { ...object.metadata, generation: 1 };
    if (object.kind === "KubeadmControlPlane") {
      return [{ ...object, metadata, status: { ...counts, version: fieldAt(object, "spec", "version") } } as KubeObject];
    }
    if (object.kind !== "MachineDeployment") return [];
    const version = fieldAt(object, "spec", "template", "spec", "version");
    const labels = { "cluster.x-k8s.io/deployment-name": object.metadata.name };
    const machine = { apiVersion: object.apiVersion, kind: "Machine", metadata: { name: "m", labels }, spec: { version } };
    return [{ ...object, metadata, status: counts } as KubeObject, ...Array.from({ length: Number(replicas) }, () => machine)];
  });
}

function versions({ objects }: CompiledCluster): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    objects
      .filter(({ kind }) => kind === "KubeadmControlPlane" || kind === "MachineDeployment")
      .map((object) => [
        object.metadata.name,
        fieldAt(object, "spec", "version") ?? fieldAt(object, "spec", "template", "spec", "version"),
      ]),
  );
}

const configOf = ({ objects }: CompiledCluster, name: string) =>
  fieldAt(
    objects.find(({ kind, metadata }) => kind === "MachineDeployment" && metadata.name === name),
    "spec",
    "template",
    "spec",
    "bootstrap",
    "configRef",
    "name",
  );

describe("an upgrade of compiled objects", () => {
  test("goes from the control plane to one pool after the other, and then there is nothing to do", () => {
    const first = compiled({ version: OLD });
    expect(first).toMatchObject({ later: [] });
    const steps: object[] = [];
    let live = settled(first);
    for (let step = 0; step < 4; step += 1) {
      const next = compiled({ version: NEW }, live);
      steps.push({ ...versions(next), upgrade: next.upgrade });
      live = settled(next);
    }
    expect(steps).toEqual([
      {
        "row-control-plane": NEW,
        "row-default": OLD,
        "row-batch": OLD,
        upgrade: "the control plane is being upgraded to v1.36.3; pools batch, default next",
      },
      {
        "row-control-plane": NEW,
        "row-default": OLD,
        "row-batch": NEW,
        upgrade: "pool batch is being upgraded to v1.36.3; pool default next",
      },
      { "row-control-plane": NEW, "row-default": NEW, "row-batch": NEW, upgrade: "pool default is being upgraded to v1.36.3" },
      { "row-control-plane": NEW, "row-default": NEW, "row-batch": NEW, upgrade: undefined },
    ]);
  });

  test("a pool that waits keeps the templates that it uses, and they are not applied", () => {
    const before = compiled({ version: OLD });
    const during = compiled({ version: NEW, label: "b" }, settled(before));
    expect(configOf(during, "row-batch")).toBe(configOf(before, "row-batch"));
    expect(during.templates).not.toContain(configOf(before, "row-batch"));
    const later = compiled({ version: NEW, label: "b" }, settled(during));
    expect(configOf(later, "row-batch")).not.toBe(configOf(before, "row-batch"));
    expect(later.templates).toContain(configOf(later, "row-batch"));
  });

  test("a pool that waits is scaled all the same", () => {
    const live = settled(compiled({ version: OLD }));
    const during = compiled({ version: NEW }, live);
    const replicas = during.objects.filter(({ kind }) => kind === "MachineDeployment").map((object) => fieldAt(object, "spec", "replicas"));
    expect(replicas).toEqual([1, 2]);
  });

  test("a new pool is created after the control plane is upgraded, and until then it is named", () => {
    const live = settled(compiled({ version: OLD }));
    const during = compiled({ version: NEW, pools: ["batch", "gpu"] }, live);
    expect(during.later).toEqual(["row-gpu"]);
    expect(during.objects.filter(({ metadata }) => metadata.name.startsWith("row-gpu"))).toEqual([]);
    expect(versions(compiled({ version: NEW, pools: ["batch", "gpu"] }, settled(during)))).toMatchObject({ "row-gpu": NEW });
  });

  test("a pool that is not complete holds the next one", () => {
    const during = compiled({ version: NEW }, settled(compiled({ version: OLD })));
    const second = settled(compiled({ version: NEW }, settled(during)));
    const incomplete: readonly [string, (object: KubeObject) => KubeObject][] = [
      [
        "a machine of the old version",
        (object) => (object.kind === "Machine" ? ({ ...object, spec: { version: OLD } } as KubeObject) : object),
      ],
      ["a change that was not seen", (object) => ({ ...object, metadata: { ...object.metadata, generation: 2 } })],
      [
        "a machine that is not available",
        (object) => ({ ...object, status: { ...Object(fieldAt(object, "status")), availableReplicas: 1 } }) as KubeObject,
      ],
    ];
    for (const [name, change] of incomplete) {
      const isBatch = ({ metadata }: KubeObject) =>
        metadata.name === "row-batch" || metadata.labels?.["cluster.x-k8s.io/deployment-name"] === "row-batch";
      const held = compiled(
        { version: NEW },
        second.map((object) => (isBatch(object) ? change(object) : object)),
      );
      expect(versions(held), name).toMatchObject({ "row-batch": NEW, "row-default": OLD });
    }
  });

  test("workers that would be too old go to the version of the control plane first, with its node image", () => {
    const image = (version: string) => `kindest/node:${version}`;
    const before = compiled({ version: OLD, image: image(OLD) });
    const old = settled(compiled({ version: "v1.32.0", image: image("v1.32.0") }));
    const live = [
      ...settled(before).filter(({ kind }) => kind === "KubeadmControlPlane"),
      ...old.filter(({ kind }) => kind !== "KubeadmControlPlane"),
    ];
    const during = compiled({ version: NEW, image: image(NEW) }, live);
    expect(versions(during)).toEqual({ "row-control-plane": OLD, "row-batch": OLD, "row-default": "v1.32.0" });
    const [controlPlane, , batch] = during.objects.filter(({ kind }) => kind === "KubeadmControlPlane" || kind === "MachineDeployment");
    const used = fieldAt(
      before.objects.find(({ kind }) => kind === "KubeadmControlPlane"),
      "spec",
      "machineTemplate",
      "spec",
      "infrastructureRef",
    );
    expect(fieldAt(controlPlane, "spec", "machineTemplate", "spec", "infrastructureRef")).toEqual(used);
    expect(fieldAt(batch, "spec", "template", "spec", "infrastructureRef")).toEqual(used);
  });

  test("objects without versions are left to the spec", () => {
    const bare = settled(compiled({ version: OLD })).map((object) => ({ ...object, spec: {} }) as KubeObject);
    expect(versions(compiled({ version: NEW }, bare))).toEqual({ "row-control-plane": NEW, "row-default": NEW, "row-batch": NEW });
  });
});
