/**
 * The namespace of each document, and which of two documents for the same object is used.
 *
 * A chosen namespace (`-n`) is that of every document that names none. Without one, a service without a namespace gets the namespace of its environment, or the one in which the cluster already has it for the same environment; config
 * and bindings of a service get the namespace of the service; other documents the namespace of all services, if there is only one.
 */
import { latticeKinds, type LatticeObject } from "#crds";
import { describeObject, type KubeObject } from "#kube";
import { namespaceOfEnvironment } from "./placement.ts";

export type Read<T extends KubeObject = KubeObject> = { readonly object: T; readonly from: string; readonly underneath?: boolean };

type Placed = {
  readonly lattice: readonly Read<LatticeObject>[];
  readonly secrets: readonly Read[];
  /** ConfigMaps and PersistentVolumeClaims, which volumes may refer to. */
  readonly mountable: readonly Read[];
  /** Deployments, which services in patch mode may name. */
  readonly deployments: readonly Read[];
};

export type Namespaces = { readonly chosen: string | undefined; readonly fallback: string };

export function inNamespaces(documents: Placed, { chosen, fallback }: Namespaces): Placed {
  return chosen === undefined ? inOwnNamespaces(documents, fallback) : inOneNamespace(documents, chosen);
}

function inOneNamespace({ lattice, secrets, mountable, deployments }: Placed, namespace: string): Placed {
  const place = <T extends KubeObject>(read: Read<T>): Read<T> => ({ ...read, object: placedIn(read.object, namespace) });
  return {
    lattice: lattice.map((read) => (isNamespaced(read.object) ? place(read) : read)),
    secrets: secrets.map(place),
    mountable: mountable.map(place),
    deployments: deployments.map(place),
  };
}

/** Documents that name another namespace than the chosen one; documents read from the cluster are not checked. */
export function otherNamespaces({ lattice, secrets, mountable }: Placed, chosen: string | undefined): readonly OtherNamespace[] {
  if (chosen === undefined) return [];
  return [...lattice.filter(({ object }) => isNamespaced(object)), ...secrets, ...mountable].flatMap(({ object, from, underneath }) => {
    const { namespace } = object.metadata;
    if (underneath === true || namespace === chosen) return [];
    const message = `is ${String(namespace)}, and -n is ${chosen}; leave out -n, or pass -n ${String(namespace)}`;
    return [{ from, path: "metadata.namespace", message }];
  });
}

type OtherNamespace = { readonly from: string; readonly path: string; readonly message: string };

function isNamespaced({ kind }: LatticeObject): boolean {
  return latticeKinds.some((one) => one.kind === kind && one.namespaced);
}

function inOwnNamespaces({ lattice, secrets, mountable, deployments }: Placed, fallback: string): Placed {
  const environments = new Map(
    lattice.flatMap(({ object }) => (object.kind === "LatticeEnvironment" ? [[object.metadata.name, object] as const] : [])),
  );
  const whereRun = (environment: string | undefined) =>
    environment === undefined ? undefined : namespaceOfEnvironment(environment, environments.get(environment));
  const inCluster = placesUnderneath(lattice);
  const services = lattice.map((read) => {
    const { object } = read;
    if (!isPlacedByEnvironment(object)) return read;
    return { ...read, object: placedIn(object, inCluster(object) ?? whereRun(environmentOf(object)) ?? fallback) };
  });
  const beside = besideServices(services);
  const rest = services.map((read) => {
    const { object } = read;
    if (object.kind === "LatticeServiceConfig") {
      const { environment, service } = object.spec.appliesTo;
      return { ...read, object: placedIn(object, whereRun(environment) ?? beside(service) ?? fallback) };
    }
    return object.kind === "LatticeSecretBindings" ? { ...read, object: placedIn(object, beside(object.spec.service) ?? fallback) } : read;
  });
  const besideAll = (read: Read): Read => ({ ...read, object: placedIn(read.object, beside(undefined) ?? fallback) });
  return {
    lattice: rest,
    secrets: secrets.map(besideAll),
    mountable: mountable.map(besideAll),
    deployments: deployments.map(besideAll),
  };
}

function environmentOf(object: LatticeObject): string | undefined {
  return object.kind === "LatticeService" || object.kind === "LatticeExternalService" ? object.spec.environment : undefined;
}

/** The namespace in which the cluster has a service with the same name for the same environment. undefined: none, or several. */
function placesUnderneath(lattice: readonly Read<LatticeObject>[]): (object: LatticeObject) => string | undefined {
  const idOf = (object: LatticeObject) => `${object.kind} ${environmentOf(object) ?? ""} ${object.metadata.name}`;
  const known = Map.groupBy(
    lattice.filter(({ underneath }) => underneath === true),
    ({ object }) => idOf(object),
  );
  return (object) => {
    const [first, ...others] = known.get(idOf(object)) ?? [];
    return environmentOf(object) === undefined || others.length > 0 ? undefined : first?.object.metadata.namespace;
  };
}

/** A document of a file replaces the cluster's document for the same object. */
export function onTop({ lattice, secrets, mountable, deployments }: Placed): Placed {
  const above = new Set(
    [...lattice, ...secrets, ...mountable, ...deployments].flatMap(({ object, underneath }) =>
      underneath === true ? [] : [describeObject(object)],
    ),
  );
  const stays = ({ object, underneath }: Read) => underneath !== true || !above.has(describeObject(object));
  return {
    lattice: lattice.filter(stays),
    secrets: secrets.filter(stays),
    mountable: mountable.filter(stays),
    deployments: deployments.filter(stays),
  };
}

export function isPlacedByEnvironment(object: LatticeObject): boolean {
  return object.kind === "LatticeService" || object.kind === "LatticeExternalService";
}

function placedIn<T extends KubeObject>(object: T, namespace: string): T {
  return object.metadata.namespace === undefined ? { ...object, metadata: { ...object.metadata, namespace } } : object;
}

/** The namespace of the one service of that name; without a name, the one that all services share. undefined: ambiguous. */
function besideServices(read: readonly Read<LatticeObject>[]): (service: string | undefined) => string | undefined {
  const services = read.flatMap(({ object, underneath }) => (object.kind === "LatticeService" && underneath !== true ? [object] : []));
  return (name) => {
    const meant = services.filter(({ metadata }) => name === undefined || metadata.name === name);
    const namespaces = new Set(meant.map(({ metadata }) => metadata.namespace));
    return namespaces.size === 1 ? [...namespaces][0] : undefined;
  };
}
