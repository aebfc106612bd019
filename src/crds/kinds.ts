/** All eight kinds, for code that loops over them, and a parser that selects the kind by `apiVersion` and `kind`. */
import { err, type Result } from "#base";
import { field, isJsonObject, type KubeObject } from "#kube";
import type { FieldError } from "./field-error.ts";
import { LATTICE_API_VERSION, LATTICE_GROUP, type LatticeKind } from "./kind.ts";
import { latticeClusterKind, type LatticeCluster } from "./lattice-cluster.ts";
import { latticeEnvironmentKind, type LatticeEnvironment } from "./lattice-environment.ts";
import { latticeExternalServiceKind, type LatticeExternalService } from "./lattice-external-service.ts";
import { latticeImageRegistryKind, type LatticeImageRegistry } from "./lattice-image-registry.ts";
import { latticeSecretBindingsKind, type LatticeSecretBindings } from "./lattice-secret-bindings.ts";
import { latticeServiceConfigKind, type LatticeServiceConfig } from "./lattice-service-config.ts";
import { latticeServiceRegistrationKind, type LatticeServiceRegistration } from "./lattice-service-registration.ts";
import { latticeServiceKind, type LatticeService } from "./lattice-service.ts";
import { didYouMean } from "./nearest.ts";

/** Discriminated by `kind`. */
export type LatticeObject =
  | LatticeCluster
  | LatticeEnvironment
  | LatticeService
  | LatticeExternalService
  | LatticeServiceRegistration
  | LatticeServiceConfig
  | LatticeSecretBindings
  | LatticeImageRegistry;

/** A kind whose object type is not known at compile time: it parses objects and checks updates of parsed objects. */
export type AnyLatticeKind = Omit<LatticeKind, "parse" | "checkUpdate" | "resource"> & {
  readonly resource: LatticeKind["resource"];
  readonly parse: (value: unknown) => Result<LatticeObject, readonly FieldError[]>;
  readonly checkUpdate: (before: KubeObject, after: KubeObject) => readonly FieldError[];
};

export const latticeKinds: readonly AnyLatticeKind[] = [
  anyKind(latticeClusterKind),
  anyKind(latticeEnvironmentKind),
  anyKind(latticeServiceKind),
  anyKind(latticeExternalServiceKind),
  anyKind(latticeServiceRegistrationKind),
  anyKind(latticeServiceConfigKind),
  anyKind(latticeSecretBindingsKind),
  anyKind(latticeImageRegistryKind),
];

/** Updates of objects of another kind are never rejected: the transitions do not apply to them. */
function anyKind<T extends LatticeObject>(kind: LatticeKind<T>): AnyLatticeKind {
  const isOwn = (object: KubeObject): object is T => object.kind === kind.kind && object.apiVersion === LATTICE_API_VERSION;
  return {
    ...kind,
    checkUpdate: (before, after) => (isOwn(before) && isOwn(after) ? kind.checkUpdate(before, after) : []),
  };
}

/**
 * The object as its own kind, found by `apiVersion` and `kind`.
 *
 * @example parseLatticeObject({ apiVersion: "lattice.dev/v1alpha1", kind: "LatticeServiceConfig", metadata: { name: "web" }, spec: {} })
 */
export function parseLatticeObject(value: unknown): Result<LatticeObject, readonly FieldError[]> {
  const kind = findKind(value);
  return kind.ok ? kind.value.parse(value) : kind;
}

function findKind(value: unknown): Result<AnyLatticeKind, readonly FieldError[]> {
  if (!isJsonObject(value)) return refuse("wrong-type", "", "must be an object with apiVersion, kind, metadata and spec");
  const [apiVersion, kind] = [field(value, "apiVersion"), field(value, "kind")];
  if (typeof kind !== "string") return refuse("required", "kind", `must be one of ${knownKinds().join(", ")}`);
  if (typeof apiVersion !== "string") return refuse("required", "apiVersion", `must be "${LATTICE_API_VERSION}"`);
  if (apiVersion !== LATTICE_API_VERSION) return refuse("not-allowed", "apiVersion", apiVersionMessage(apiVersion, kind));
  const found = latticeKinds.find((candidate) => candidate.kind === kind);
  if (found !== undefined) return { ok: true, value: found };
  const hint = didYouMean(kind, knownKinds()) || `; there are ${knownKinds().join(", ")}`;
  return refuse("not-allowed", "kind", `unknown kind "${kind.slice(0, 64)}"${hint}`);
}

function apiVersionMessage(given: string, kind: string): string {
  const known = knownKinds().includes(kind) || given.startsWith(`${LATTICE_GROUP}/`);
  const wanted = `must be "${LATTICE_API_VERSION}", and is "${given.slice(0, 64)}"`;
  return known ? wanted : `${wanted}: ${kind.slice(0, 64)} is not a kind of Lattice`;
}

function knownKinds(): readonly string[] {
  return latticeKinds.map(({ kind }) => kind);
}

function refuse(kind: FieldError["kind"], path: string, message: string): Result<never, readonly FieldError[]> {
  return err([{ kind, path, message }]);
}
