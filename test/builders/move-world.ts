/**
 * Two clusters with the reduced kinds of Cluster API, and at the source a provisioned cluster as its controllers leave it: owners, finalizers,
 * status, several field managers. No controller runs: only the move writes.
 */
import { expectOk } from "#base";
import { providerInventory, reducedCapiCrds } from "#bundle";
import { startEmbeddedCluster, type Action, type EmbeddedCluster } from "#embedded-cluster";
import {
  apiVersionOf,
  capiClusters,
  capiMachineDeployments,
  capiMachines,
  capiMachineSets,
  clusterResourceSetBindings,
  clusterResourceSets,
  configMaps,
  devClusters,
  devMachines,
  devMachineTemplates,
  fieldAt,
  isJsonObject,
  keyText,
  kubeadmConfigs,
  kubeadmConfigTemplates,
  kubeadmControlPlanes,
  namespaces,
  parseKey,
  secrets,
  type Json,
  type JsonObject,
  type KubeObject,
  type Resource,
} from "#kube";
import type { KubeClient } from "#kube-client";

export const MOVED_KINDS: readonly Resource[] = [
  capiClusters,
  capiMachineDeployments,
  capiMachineSets,
  capiMachines,
  kubeadmControlPlanes,
  kubeadmConfigs,
  kubeadmConfigTemplates,
  devClusters,
  devMachines,
  devMachineTemplates,
  clusterResourceSets,
  clusterResourceSetBindings,
  secrets,
  configMaps,
];

export type MoveWorld = {
  readonly source: EmbeddedCluster;
  readonly target: EmbeddedCluster;
  readonly close: () => Promise<void>;
};

/** A cluster that Cluster API is installed in. `logActions`: its requests are recorded. `dataDir`: it can be started again. */
export async function startManagementCluster(seed: number, logActions = false, dataDir?: string): Promise<EmbeddedCluster> {
  const cluster = await startEmbeddedCluster({ seed, logActions, ...(dataDir === undefined ? {} : { dataDir }) });
  await cluster.add(...reducedCapiCrds("docker"), ...providerInventory("docker"));
  return cluster;
}

/** `seed`: the clusters of another seed have other uids. */
export async function startMoveWorld(machines = 2, seed = 1): Promise<MoveWorld> {
  const [source, target] = [await startManagementCluster(seed), await startManagementCluster(seed + 1)];
  await makeProvisioned(source.client, "c1", machines);
  return {
    source,
    target,
    close: async () => {
      await source.close();
      await target.close();
    },
  };
}

type Owner = { readonly resource: Resource; readonly object: KubeObject };
type Parts = { readonly owner?: Owner; readonly spec?: JsonObject; readonly status?: JsonObject; readonly more?: JsonObject };

/** `fewest`: one machine of the control plane and no pool of workers, so that a move of it has fewer steps, and each kind of step at least twice. */
export type Workers = number | "fewest";

/** The objects of a cluster `name`, in a namespace of that name unless another one is given, with one control-plane machine and these workers. */
export async function makeProvisioned(client: KubeClient, name: string, workers: Workers, namespace = name): Promise<void> {
  await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const make = async (resource: Resource, objectName: string, { owner, spec, status, more }: Parts = {}): Promise<Owner> => {
    const ownerReferences = owner === undefined ? {} : { ownerReferences: [referenceTo(owner)] };
    const isCustom = resource.group !== "";
    const metadata = {
      name: objectName,
      namespace,
      labels: { "cluster.x-k8s.io/cluster-name": name },
      ...(isCustom ? { annotations: { "example.com/team": "a" }, finalizers: [`${resource.plural}.cluster.x-k8s.io`] } : {}),
      ...ownerReferences,
    };
    const object = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata, ...(spec === undefined ? {} : { spec }), ...more };
    let created = expectOk(await client.apply<KubeObject>(resource, object as KubeObject, { fieldManager: "capi-user" }));
    const key = { namespace, name: objectName };
    const label = { metadata: { labels: { "example.com/added": "1" } } };
    created = expectOk(await client.patch<KubeObject>(resource, key, { type: "merge", patch: label }, { fieldManager: "manager" }));
    if (status !== undefined) {
      const options = { fieldManager: "manager", subresource: "status" as const };
      created = expectOk(await client.patch<KubeObject>(resource, key, { type: "merge", patch: { status } }, options));
    }
    return { resource, object: created };
  };
  const reference = (resource: Resource, to: string) => ({ apiGroup: resource.group, kind: resource.kind, name: to });
  const cluster = await make(capiClusters, name, {
    spec: {
      clusterNetwork: { serviceDomain: "cluster.local" },
      infrastructureRef: reference(devClusters, name),
      controlPlaneRef: reference(kubeadmControlPlanes, `${name}-cp`),
    },
    status: {
      initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true },
      conditions: [condition("ControlPlaneInitialized"), condition("Available")],
      observedGeneration: 1,
    },
  });
  const ready = { status: { conditions: [condition("Ready")] } };
  await make(devClusters, name, { owner: cluster, spec: { backend: { inMemory: {} } }, ...ready });
  const template = (at: string) =>
    make(devMachineTemplates, at, { owner: cluster, spec: { template: { spec: { backend: { inMemory: {} } } } } });
  await template(`${name}-cp`);
  const kubeadm = { joinConfiguration: { nodeRegistration: { criSocket: "unix:///var/run/containerd/containerd.sock" } } };
  const files = [{ path: "/etc/token", contentFrom: { secret: { name: "bootstrap-token", key: "token" } } }];
  const plane = await make(kubeadmControlPlanes, `${name}-cp`, {
    owner: cluster,
    spec: {
      replicas: 1,
      version: "v1.36.3",
      machineTemplate: { spec: { infrastructureRef: reference(devMachineTemplates, `${name}-cp`) } },
      kubeadmConfigSpec: { files },
    },
    status: { replicas: 1, observedGeneration: 1, conditions: [condition("Available")] },
  });
  const data = (text: string): JsonObject => ({ type: "Opaque", data: { value: Buffer.from(text).toString("base64") } });
  await make(secrets, "bootstrap-token", { more: data("t") });
  const purposes = workers === "fewest" ? ["ca", "sa"] : ["ca", "etcd", "sa", "proxy"];
  for (const purpose of purposes) await make(secrets, `${name}-${purpose}`, { owner: plane, more: data(purpose) });
  await make(secrets, `${name}-kubeconfig`, { more: data("kubeconfig") });
  await make(secrets, "unrelated", { more: data("x") });
  const pool = async (machines: number): Promise<Owner> => {
    await template(`${name}-md`);
    await make(kubeadmConfigTemplates, `${name}-md`, { owner: cluster, spec: { template: { spec: kubeadm } } });
    const bootstrap = { configRef: reference(kubeadmConfigTemplates, `${name}-md`) };
    const workload = (clusterName: string) => ({
      clusterName,
      template: { spec: { clusterName, version: "v1.36.3", bootstrap, infrastructureRef: reference(devMachineTemplates, `${name}-md`) } },
    });
    const selector = { matchLabels: { a: "b" } };
    const deployment = await make(capiMachineDeployments, `${name}-md`, {
      owner: cluster,
      spec: { ...workload(name), replicas: machines, selector },
      status: { replicas: machines, observedGeneration: 1 },
    });
    return make(capiMachineSets, `${name}-md-1`, {
      owner: deployment,
      spec: { ...workload(name), replicas: machines, selector },
      status: { replicas: machines, observedGeneration: 1 },
    });
  };
  const machine = async (at: string, owner: Owner) => {
    const made = await make(capiMachines, at, {
      owner,
      spec: {
        clusterName: name,
        version: "v1.36.3",
        bootstrap: { configRef: reference(kubeadmConfigs, at), dataSecretName: at },
        infrastructureRef: reference(devMachines, at),
        providerID: `in-memory:////${at}`,
      },
      status: { phase: "Running", nodeRef: { name: at }, conditions: [condition("Ready")] },
    });
    await make(devMachines, at, { owner: made, spec: { backend: { inMemory: {} } }, ...ready });
    const config = await make(kubeadmConfigs, at, { owner: made, spec: kubeadm, ...ready });
    await make(secrets, at, { owner: config, more: data(`bootstrap ${at}`) });
  };
  await machine(`${name}-cp-1`, plane);
  if (workers !== "fewest") {
    const set = await pool(workers);
    for (let at = 1; at <= workers; at += 1) await machine(`${name}-md-1-${at}`, set);
  }
  const crs = await make(clusterResourceSets, `${name}-crs`, {
    spec: {
      clusterSelector: { matchLabels: { a: "b" } },
      resources: [{ kind: "ConfigMap", name: `${name}-addon` }],
      strategy: "ApplyOnce",
    },
  });
  await make(configMaps, `${name}-addon`, { owner: crs, more: { data: { key: "value" } } });
  await make(clusterResourceSetBindings, name, { spec: { clusterName: name, bindings: [] } });
}

function condition(type: string): JsonObject {
  return { type, status: "True", reason: "Test", message: "", lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1 };
}

function referenceTo({ resource, object: { metadata } }: Owner) {
  const { name, uid = "" } = metadata;
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** All objects of the kinds of a move, each with its kind. */
export async function movedObjects(client: KubeClient, namespace: string): Promise<readonly KubeObject[]> {
  const all: KubeObject[] = [];
  for (const resource of MOVED_KINDS) {
    const listed = await client.list<KubeObject>(resource, { namespace });
    if (!listed.ok && listed.error.kind === "not-found") continue; // not served
    all.push(...expectOk(listed).items.map((item) => ({ ...item, kind: resource.kind })));
  }
  return all;
}

/** The contents of all objects of the kinds of a move, by "kind namespace/name". */
export async function contentsOf(client: KubeClient, namespace: string): Promise<ReadonlyMap<string, Json>> {
  return contentsIn(await movedObjects(client, namespace));
}

export function contentsIn(objects: readonly KubeObject[]): ReadonlyMap<string, Json> {
  const isContent = ({ metadata: { name } }: KubeObject) => !name.startsWith("lattice-move") && name !== "kube-root-ca.crt";
  return new Map(objects.filter(isContent).map((object) => [`${object.kind} ${keyText(object.metadata)}`, contentOf(object)]));
}

/** Without what every server sets anew; owners by name. */
export function contentOf(object: KubeObject): Json {
  const { uid: _uid, resourceVersion: _version, creationTimestamp: _time, generation: _generation, ...metadata } = object.metadata;
  const owners = (metadata.ownerReferences ?? []).map(({ uid: _owner, ...owner }) => owner);
  return { ...(object as unknown as JsonObject), metadata: { ...metadata, ownerReferences: owners } as unknown as Json };
}

/** Owner references whose owner does not exist with that uid. */
export async function danglingOwners(client: KubeClient, namespace: string): Promise<readonly string[]> {
  return danglingOwnersIn(await movedObjects(client, namespace));
}

export function danglingOwnersIn(all: readonly KubeObject[]): readonly string[] {
  const uids = new Set(all.map(({ metadata }) => metadata.uid));
  return all.flatMap(({ kind, metadata }) =>
    (metadata.ownerReferences ?? [])
      .filter(({ uid }) => !uids.has(uid))
      .map((owner) => `${kind} ${metadata.name} -> ${owner.kind} ${owner.name}`),
  );
}

/** Whether a Cluster exists and is not paused. */
export function isUnpaused(cluster: EmbeddedCluster, name: string, namespace = name): boolean {
  const found = cluster.peek(capiClusters, { namespace, name });
  return isJsonObject(found) && fieldAt(found, "spec", "paused") !== true;
}

/** All writes of a client: a server-side apply is a verb of its own. */
const WRITES = ["create", "update", "patch", "apply", "delete", "deletecollection"] as const;

export type InvariantsObserver = {
  /** What was wrong after any write; empty when nothing was. */
  readonly wrong: string[];
  /** How many writes were observed. */
  readonly checks: () => number;
  /** Observes a server that was started again. */
  readonly attach: (cluster: EmbeddedCluster) => void;
};

/** Checks after every write on either side. `sides` is read at every check. `more`: what else is wrong. */
export function observeInvariants(
  sides: Pick<MoveWorld, "source" | "target">,
  names: Iterable<string>,
  at: { readonly name: string; readonly namespace: string } = { name: "c1", namespace: "c1" },
  more: () => readonly string[] = () => [],
): InvariantsObserver {
  const wrong: string[] = [];
  let checks = 0;
  const expected = new Set(names);
  const check = ({ verb, resource, namespace, name }: Action) => {
    checks += 1;
    const { source, target } = sides;
    if (isUnpaused(source, at.name, at.namespace) && isUnpaused(target, at.name, at.namespace)) wrong.push("both sides are unpaused");
    wrong.push(...more());
    if (resource === undefined || verb === "create") return;
    // also a patch can delete: it may remove the last finalizer
    const changed = `${resource.kind} ${keyText({ namespace, name: name ?? "" })}`;
    const places = verb === "deletecollection" ? [...expected] : expected.has(changed) ? [changed] : [];
    for (const place of places) {
      const [kind = "", key = ""] = place.split(" ");
      const found = MOVED_KINDS.find((one) => one.kind === kind) ?? resource;
      if ((source.peek(found, parseKey(key)) ?? target.peek(found, parseKey(key))) === undefined) wrong.push(`${place} is on neither side`);
    }
  };
  const attach = (cluster: EmbeddedCluster) => {
    cluster.intercept({ verb: WRITES, times: Number.POSITIVE_INFINITY }, async (action, next) => {
      const answer = await next();
      check(action);
      return answer;
    });
  };
  for (const cluster of [sides.source, sides.target]) attach(cluster);
  return { wrong, checks: () => checks, attach };
}

/** As text, without what a move changes: no controller runs here, so none observes the generations that pausing makes. */
export function comparable(object: unknown): string {
  return JSON.stringify(sorted(object));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([name]) => name !== "observedGeneration");
  return Object.fromEntries(fields.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, inner]) => [name, sorted(inner)]));
}
