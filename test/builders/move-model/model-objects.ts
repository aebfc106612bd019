/** The cluster that the model moves: small, with every kind of object that a move treats differently. */
import {
  apiVersionOf,
  capiClusters,
  capiMachines,
  capiProviders,
  customResourceDefinitions,
  namespaces,
  secrets,
  type KubeObject,
  type Resource,
} from "#kube";
import type { ModelServer } from "./model-server.ts";

export const NAMESPACE = "c1";
export const key = (name: string) => ({ namespace: NAMESPACE, name });

/** "Kind name" of everything that is moved. */
export const NAMES = ["Cluster c1", "Machine m1", "Machine m2", "Machine m3", "Secret c1-ca", "Secret c1-kubeconfig", "Secret m1"] as const;
/** What the person of a model may delete. */
export const DELETABLE: ReadonlySet<string> = new Set(["Machine m2", "Machine m3"]);

const RESOURCES = new Map<string, Resource>([capiClusters, capiMachines, secrets].map((resource) => [resource.kind, resource]));

export function placeOf(what: string): { readonly resource: Resource; readonly name: string } {
  const [kind = "", name = ""] = what.split(" ");
  return { resource: RESOURCES.get(kind) ?? secrets, name };
}

export function find(server: ModelServer, what: string): KubeObject | undefined {
  const { resource, name } = placeOf(what);
  return server.peek(resource, key(name));
}

const CONDITION = { type: "ControlPlaneInitialized", status: "True", reason: "x", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };

function definition({ group, version, kind, plural }: Resource): KubeObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}`, labels: { "clusterctl.cluster.x-k8s.io": "" } },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind, plural },
      versions: [{ name: version, served: true, storage: true, subresources: { status: {} } }],
    },
  } as KubeObject;
}

/** A server that Cluster API is installed in. */
export function install(server: ModelServer): void {
  for (const name of ["kube-system", "capd"]) server.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  for (const resource of [capiClusters, capiMachines]) server.create(customResourceDefinitions, definition(resource));
  const provider = { providerName: "docker", type: "InfrastructureProvider", version: "v1.14.0" };
  server.create(capiProviders, {
    apiVersion: apiVersionOf(capiProviders),
    kind: "Provider",
    metadata: { name: "docker", namespace: "capd" },
    ...provider,
  });
}

/** The objects of a provisioned cluster. */
export function provision(server: ModelServer): void {
  server.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } });
  const make = (what: string, owner: string | undefined, status?: object): void => {
    const { resource, name } = placeOf(what);
    const owned = owner === undefined ? undefined : find(server, owner);
    const reference = owned && {
      apiVersion: owned.apiVersion,
      kind: owned.kind,
      name: owned.metadata.name,
      uid: owned.metadata.uid ?? "",
      controller: true,
    };
    const isCustom = resource !== secrets;
    const metadata = {
      ...key(name),
      labels: { "cluster.x-k8s.io/cluster-name": "c1", edit: "0" },
      ...(isCustom ? { finalizers: [`${resource.plural}.cluster.x-k8s.io`] } : {}),
      ...(reference === undefined ? {} : { ownerReferences: [reference] }),
    };
    const body = isCustom ? { spec: { of: name } } : { type: "Opaque", data: { value: "dg==" } };
    server.create(resource, { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata, ...body }, "manager");
    if (status !== undefined) server.patch(resource, key(name), { status } as never, { subresource: "status" });
  };
  make("Cluster c1", undefined, {
    initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true },
    conditions: [CONDITION],
  });
  for (const name of ["m1", "m2", "m3"]) make(`Machine ${name}`, "Cluster c1", { nodeRef: { name }, phase: "Running" });
  make("Secret c1-ca", "Cluster c1");
  make("Secret c1-kubeconfig", undefined);
  make("Secret m1", "Machine m1");
}
