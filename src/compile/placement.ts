/**
 * The namespace in which a service runs: that of its environment, else its own. Another namespace needs the permission of the
 * environment there, so that the owner of one namespace cannot deploy into another.
 */
import { err, ok, type Result } from "#base";
import { isSystemNamespace, type LatticeEnvironment } from "#crds";

export type PlacementError =
  | {
      readonly kind: "target-not-allowed";
      readonly namespace: string;
      readonly from: string;
      readonly environment: string;
      /** The environment does not exist. */
      readonly absent?: true;
    }
  | { readonly kind: "system-namespace"; readonly namespace: string }
  /** `why`: what a default deny would cut off. */
  | { readonly kind: "reserved-namespace"; readonly namespace: string; readonly why: string };

export type Placed = { readonly namespace: string; readonly environment: LatticeEnvironment | undefined };

/**
 * The namespace of an environment: spec.namespace, else its name.
 *
 * @example namespaceOfEnvironment("prod", undefined) // "prod"
 */
export function namespaceOfEnvironment(name: string, environment: LatticeEnvironment | undefined): string {
  return environment?.spec.namespace ?? name;
}

type Written = { readonly namespace: string; readonly environment: string | undefined };

export function place(
  { namespace: from, environment: name }: Written,
  environments: ReadonlyMap<string, LatticeEnvironment>,
): Result<Placed, PlacementError> {
  const environment = name === undefined ? undefined : environments.get(name);
  const namespace = name === undefined ? from : namespaceOfEnvironment(name, environment);
  if (isSystemNamespace(namespace)) return err({ kind: "system-namespace", namespace });
  const allowed = namespace === from || environment?.spec.sourceNamespaces?.some((one) => one === from) === true;
  if (allowed) return ok({ namespace, environment });
  const absent = environment === undefined ? ({ absent: true } as const) : {};
  return err({ kind: "target-not-allowed", namespace, from, environment: name ?? "", ...absent });
}

export function describePlacementError(error: PlacementError): string {
  if (error.kind === "system-namespace") return `namespace ${error.namespace} is a system namespace, which Lattice never changes`;
  if (error.kind === "reserved-namespace")
    return `namespace ${error.namespace} cannot be a target: ${error.why}, and a default deny would cut it off\nuse another namespace`;
  const { namespace, from, environment, absent = false } = error;
  if (absent)
    return `namespace ${from} may not deploy into ${namespace}: there is no LatticeEnvironment ${environment}\ncreate it with ${from} in spec.sourceNamespaces, or write the service in ${namespace}`;
  return `namespace ${from} may not deploy into ${namespace}\nadd ${from} to spec.sourceNamespaces of LatticeEnvironment ${environment}, or write the service in ${namespace}`;
}
