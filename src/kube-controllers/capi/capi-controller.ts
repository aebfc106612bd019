/**
 * The simulator of Cluster API as one controller: one queue per kind, and the rules by which a change of one object enqueues others.
 *
 * It acts only where the definitions and the Provider objects of Cluster API are. Without them it has empty informers and no work.
 */
import { keyOf, keyText, parseKey, type KubeObject, type ObjectKey } from "#kube";
import type { WorkQueue } from "#controller-runtime";
import type { KubeController, KubeControllerContext } from "../context.ts";
import { follow } from "../shared-informers.ts";
import { controllerOf, ownedBy } from "../workloads/pods/owners.ts";
import { kubeadmConfigPass } from "./bootstrap/kubeadm-config-controller.ts";
import { CapiCaches, type CapiKind } from "./caches.ts";
import { runCapiPass, type CapiPassOptions, type CapiWork } from "./capi-work.ts";
import { Children } from "./children.ts";
import { clusterPass } from "./cluster/cluster-controller.ts";
import { controlPlanePass } from "./control-plane/control-plane-controller.ts";
import { healthCheckPass } from "./health-check/health-check-controller.ts";
import { devMachinePass } from "./infrastructure/dev-machine.ts";
import { infrastructureClusterPass } from "./infrastructure/infrastructure-cluster.ts";
import { localMachinePass } from "./infrastructure/local-machine.ts";
import type { LocalMachineHost } from "./local-machine-host.ts";
import type { OpenChild } from "./open-child.ts";
import { machineDeploymentPass } from "./machine-deployment/machine-deployment-controller.ts";
import { machineSetPass } from "./machine-set/machine-set-controller.ts";
import { machinePass } from "./machine/machine-controller.ts";
import { CLUSTER_LABEL } from "./names.ts";
import { clusterKeyOf, fieldChanges, providerIdOf, refAt, type CapiObject } from "./objects.ts";
import { resourceSetPass } from "./resource-set/resource-set-controller.ts";

export type CapiControllerOptions = {
  readonly localMachines?: LocalMachineHost | undefined;
  /** Absent: over HTTP, as the kubeconfig describes. */
  readonly openChild?: OpenChild | undefined;
};

const provider = (type: string, name: string) => (caches: CapiCaches) => caches.hasProvider(type, name);
const core = provider("CoreProvider", "cluster-api");
const docker = provider("InfrastructureProvider", "docker");
const local = provider("InfrastructureProvider", "local");

const PASSES: readonly CapiPassOptions[] = [
  { kind: "clusters", isInstalled: core, pass: clusterPass },
  { kind: "machines", isInstalled: core, pass: machinePass },
  { kind: "machineSets", isInstalled: core, pass: machineSetPass },
  { kind: "machineDeployments", isInstalled: core, pass: machineDeploymentPass },
  { kind: "healthChecks", isInstalled: core, pass: healthCheckPass },
  { kind: "resourceSets", isInstalled: core, pass: resourceSetPass },
  { kind: "controlPlanes", isInstalled: provider("ControlPlaneProvider", "kubeadm"), pass: controlPlanePass },
  { kind: "configs", isInstalled: provider("BootstrapProvider", "kubeadm"), pass: kubeadmConfigPass },
  {
    kind: "devClusters",
    isInstalled: docker,
    pass: infrastructureClusterPass("devClusters", "dockercluster.infrastructure.cluster.x-k8s.io"),
  },
  { kind: "devMachines", isInstalled: docker, pass: devMachinePass },
  {
    kind: "localClusters",
    isInstalled: local,
    pass: infrastructureClusterPass("localClusters", "localcluster.infrastructure.lattice.dev"),
  },
  { kind: "localMachines", isInstalled: local, pass: localMachinePass },
];

export function capiController(options: CapiControllerOptions = {}): KubeController {
  return { name: "cluster-api", start: (context) => new CapiController(context, options).start() };
}

class CapiController {
  readonly #context: KubeControllerContext;
  readonly #caches: CapiCaches;
  readonly #host: LocalMachineHost | undefined;
  readonly #queues = new Map<CapiKind, WorkQueue>();
  readonly #connections: WorkQueue;

  constructor(context: KubeControllerContext, { localMachines: host, openChild }: CapiControllerOptions) {
    this.#context = context;
    this.#caches = new CapiCaches(context.informers);
    this.#host = host;
    const events = {
      onState: (cluster: ObjectKey) => this.#enqueueCluster(cluster),
      onNode: (cluster: ObjectKey, node: KubeObject) => this.#enqueueNode(cluster, node),
    };
    const children = new Children(context, this.#caches, events, openChild);
    const { client, clock, random, record, logger } = context;
    const work: CapiWork = { client, clock, random, record, logger, caches: this.#caches, children, host };
    this.#connections = context.work({ name: "capi-connections", pass: (key, signal) => children.refresh(key, signal) });
    for (const options of PASSES) {
      const name = `capi-${options.kind}`;
      this.#queues.set(options.kind, context.work({ name, pass: (key) => runCapiPass(work, options, parseKey(key)) }));
    }
  }

  start(): void {
    for (const { kind } of PASSES) {
      follow(this.#caches.of(kind), ({ before, after }) => {
        const object = after ?? before;
        if (object !== undefined) this.#changed(kind, object, before);
      });
    }
    for (const kind of ["devMachineTemplates", "localMachineTemplates", "configTemplates"] as const) {
      follow(this.#caches.of(kind), ({ key }) => this.#enqueueUsers(key.namespace));
    }
    follow(this.#caches.of("providers"), () => this.#enqueueAll());
    follow(this.#caches.secrets, ({ key, after, before }) => this.#secretChanged(key, after ?? before));
    this.#followHost();
  }

  #followHost(): void {
    const end = this.#host?.subscribe((id) => {
      const machine = this.#caches
        .of("localMachines")
        .list()
        .find(({ metadata }) => metadata.uid === id);
      if (machine !== undefined) this.#enqueue("localMachines", keyOf(machine));
    });
    if (end !== undefined) this.#context.signal.addEventListener("abort", end, { once: true });
  }

  #enqueue(kind: CapiKind, key: ObjectKey): void {
    this.#queues.get(kind)?.add(keyText(key));
  }

  #enqueueObjects(kind: CapiKind, objects: readonly KubeObject[]): void {
    for (const object of objects) this.#enqueue(kind, keyOf(object));
  }

  #changed(kind: CapiKind, object: CapiObject, before: CapiObject | undefined): void {
    this.#enqueue(kind, keyOf(object));
    const cluster = clusterKeyOf(object);
    if (cluster === undefined) return;
    if (kind === "clusters") return this.#clusterChanged(object, before);
    this.#enqueue("clusters", cluster);
    this.#enqueueOwner(object);
    if (kind === "machines") return this.#machineChanged(object, cluster);
    // templates and versions decide which machines are up to date, and when workers may be created
    if (kind === "machineDeployments" || kind === "controlPlanes" || kind === "machineSets") this.#ownerChanged(kind, object, before);
  }

  #enqueueOwner(object: CapiObject): void {
    const owner = controllerOf(object);
    const kind = owner === undefined ? undefined : OWNER_KINDS.get(owner.kind);
    if (owner !== undefined && kind !== undefined) this.#enqueue(kind, { namespace: object.metadata.namespace, name: owner.name });
  }

  #machineChanged(machine: CapiObject, cluster: ObjectKey): void {
    for (const ref of [refAt(machine, "spec", "bootstrap", "configRef"), refAt(machine, "spec", "infrastructureRef")]) {
      const kind = ref === undefined ? undefined : this.#caches.kindOf(ref);
      if (ref !== undefined && kind !== undefined) this.#enqueue(kind, { namespace: machine.metadata.namespace, name: ref.name });
    }
    this.#enqueueObjects("healthChecks", this.#caches.inCluster("healthChecks", cluster));
    if (machine.metadata.deletionTimestamp !== undefined)
      this.#enqueueObjects("controlPlanes", this.#caches.inCluster("controlPlanes", cluster));
  }

  #ownerChanged(kind: CapiKind, object: CapiObject, before: CapiObject | undefined): void {
    const cluster = clusterKeyOf(object);
    const isNew =
      before === undefined ||
      fieldChanges(before, object, "spec") ||
      before.metadata.deletionTimestamp !== object.metadata.deletionTimestamp;
    if (kind === "machineDeployments") this.#enqueueObjects("machineSets", ownedBy(this.#caches.of("machineSets"), object));
    if (cluster === undefined || (!isNew && kind !== "controlPlanes")) return;
    if (kind === "controlPlanes") this.#enqueueObjects("machineSets", this.#caches.inCluster("machineSets", cluster));
    if (isNew) this.#enqueueObjects("machines", this.#caches.inCluster("machines", cluster));
  }

  /** Everything in a cluster depends on whether it is paused, deleted, provisioned, initialized and where its endpoint is. */
  #clusterChanged(cluster: CapiObject, before: CapiObject | undefined): void {
    const key = keyOf(cluster);
    this.#connections.add(keyText(key));
    const isSame =
      before !== undefined &&
      !fieldChanges(before, cluster, "spec") &&
      !fieldChanges(before, cluster, "status", "initialization") &&
      before.metadata.deletionTimestamp === cluster.metadata.deletionTimestamp &&
      before.metadata.labels === cluster.metadata.labels;
    for (const field of ["infrastructureRef", "controlPlaneRef"]) {
      const ref = refAt(cluster, "spec", field);
      const kind = ref === undefined ? undefined : this.#caches.kindOf(ref);
      if (ref !== undefined && kind !== undefined) this.#enqueue(kind, { namespace: key.namespace, name: ref.name });
    }
    if (!isSame) this.#enqueueCluster(key);
  }

  #enqueueCluster(cluster: ObjectKey): void {
    for (const { kind } of PASSES) this.#enqueueObjects(kind, this.#caches.inCluster(kind, cluster));
    this.#enqueueObjects("resourceSets", this.#caches.of("resourceSets").list(cluster.namespace));
  }

  #enqueueNode(cluster: ObjectKey, node: KubeObject): void {
    const id = providerIdOf(node);
    const concerned = this.#caches
      .inCluster("machines", cluster)
      .filter((machine) => providerIdOf(machine) === id || machine.metadata.name === node.metadata.name);
    this.#enqueueObjects("machines", concerned);
    this.#enqueueObjects("controlPlanes", this.#caches.inCluster("controlPlanes", cluster));
    this.#enqueueObjects("healthChecks", this.#caches.inCluster("healthChecks", cluster));
  }

  #enqueueUsers(namespace: string | undefined): void {
    for (const kind of ["machineSets", "controlPlanes"] as const) this.#enqueueObjects(kind, this.#caches.of(kind).list(namespace));
  }

  #enqueueAll(): void {
    for (const { kind } of PASSES) this.#enqueueObjects(kind, this.#caches.of(kind).list());
  }

  #secretChanged(key: ObjectKey, secret: KubeObject | undefined): void {
    const name =
      secret?.metadata.labels?.[CLUSTER_LABEL] ?? (key.name.endsWith("-kubeconfig") ? key.name.slice(0, -"-kubeconfig".length) : undefined);
    if (name === undefined) return;
    const cluster = { namespace: key.namespace, name };
    if (this.#caches.get("clusters", cluster) === undefined) return;
    if (key.name === `${name}-kubeconfig`) this.#connections.add(keyText(cluster));
    this.#enqueueObjects("controlPlanes", this.#caches.inCluster("controlPlanes", cluster));
    this.#enqueueObjects("configs", this.#caches.inCluster("configs", cluster));
  }
}

const OWNER_KINDS: ReadonlyMap<string, CapiKind> = new Map([
  ["Machine", "machines"],
  ["MachineSet", "machineSets"],
  ["MachineDeployment", "machineDeployments"],
  ["KubeadmControlPlane", "controlPlanes"],
]);
