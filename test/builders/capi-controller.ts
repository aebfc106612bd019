/**
 * A controller for tests in the manner of Cluster API: a Widget becomes a Cluster, a control plane and two templates, without owner references. Its teardown
 * deletes the Cluster first and the Namespace last. Any part of it can be replaced.
 */
import { ok } from "#base";
import { bindController, defineController, failed, settled, type BoundController, type Controller } from "#controller-runtime";
import { defineResource, namespaces, type KubeObject } from "#kube";
import { startCluster } from "./api-world.ts";
import { configMap, configMaps, ControllerWorld, widgets, type Widget } from "./controller-world.ts";

export type CapiObject = KubeObject & { readonly spec?: Readonly<Record<string, unknown>> };

export const clusters = defineResource<CapiObject>({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "Cluster",
  plural: "clusters",
  namespaced: true,
});
export const controlPlanes = defineResource<CapiObject>({
  group: "controlplane.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "KubeadmControlPlane",
  plural: "kubeadmcontrolplanes",
  namespaced: true,
});
export const machineTemplates = defineResource<CapiObject>({
  group: "infrastructure.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "DockerMachineTemplate",
  plural: "dockermachinetemplates",
  namespaced: true,
});
export const capiKinds = [clusters, controlPlanes, machineTemplates];
export const CLUSTER_FINALIZER = "cluster.cluster.x-k8s.io";

export function capiObject(kind: (typeof capiKinds)[number], name: string, metadata: Partial<KubeObject["metadata"]> = {}): CapiObject {
  return { apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind, metadata: { name, namespace: "shop", ...metadata } };
}

export type CapiController = Controller<Widget, undefined, string>;

export function defineCapiController(more: Partial<CapiController> = {}): CapiController {
  return defineController<Widget, undefined, string>({
    name: "capi",
    reconciles: widgets,
    owns: [...capiKinds, configMaps],
    ownerReferences: "none",
    observe: () => Promise.resolve(ok(undefined)),
    plan: ({ metadata: { name } }) => ok({ apply: objectsOf(name), commands: [] }),
    perform: async (namespace, { client, signal }) => {
      const deleted = await client.delete(namespaces, { name: namespace }, { signal });
      return deleted.ok ? settled : failed(deleted.error);
    },
    teardown: { order: [["Cluster"]], commands: ({ metadata: { name } }) => [`${name}-place`] },
    permissions: [{ resource: namespaces, verbs: ["delete"] }],
    ...more,
  });
}

export function capiController(more: Partial<CapiController> = {}): BoundController {
  return bindController(defineCapiController(more), {});
}

export function objectsOf(name: string): readonly KubeObject[] {
  return [
    capiObject(machineTemplates, `${name}-control-plane`),
    capiObject(machineTemplates, `${name}-workers`),
    capiObject(controlPlanes, name),
    { ...capiObject(clusters, name), spec: { controlPlaneRef: { name } } },
    configMap(`${name}-addons`, { cni: "cilium" }),
  ];
}

/** A world with the kinds of Cluster API, and a Namespace `a-place` that the teardown of Widget `a` deletes. */
export async function capiWorld(options: { readonly controllers?: boolean } = {}): Promise<ControllerWorld> {
  const places = ["shop", "other", "lattice-system", "a-place"];
  return new ControllerWorld(await startCluster({ namespaces: places, resources: [widgets, ...capiKinds], ...options }));
}

/** What the controllers of Cluster API do: they set a finalizer on a Cluster. */
export async function holdCluster(world: ControllerWorld, name: string): Promise<void> {
  const patch = { metadata: { finalizers: [CLUSTER_FINALIZER] } };
  await world.cluster.client.patch(clusters, { namespace: "shop", name }, { type: "merge", patch }, { fieldManager: "capi" });
}

/** … and remove it once the machines are gone. */
export async function freeCluster(world: ControllerWorld, name: string): Promise<void> {
  await world.cluster.client.patch(clusters, { namespace: "shop", name }, { type: "merge", patch: { metadata: { finalizers: [] } } });
}

/** The objects of the kinds that the controller applies. */
export async function capiObjects(world: ControllerWorld): Promise<readonly KubeObject[]> {
  const lists = await Promise.all([...capiKinds, configMaps].map((kind) => world.objects<KubeObject>(kind)));
  return lists.flat().filter(({ metadata }) => metadata.name !== "kube-root-ca.crt");
}

/** "Cluster a": those that exist, sorted. */
export async function remaining(world: ControllerWorld): Promise<readonly string[]> {
  return (await capiObjects(world)).map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted();
}
