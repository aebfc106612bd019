/**
 * What an administrator grants to a service: its environment lists pod security, route hosts and namespaces; labels on
 * objects share them. Permission to write LatticeServices gives access to nothing else.
 */
import type { LatticeEnvironment, LatticeService, PodSecurityLevel } from "#crds";

export type Grants = {
  /** The LatticeEnvironment that grants; undefined: there is none, and the defaults apply. */
  readonly environment: string | undefined;
  readonly podSecurity: PodSecurityLevel;
  /** Hosts that routes may claim besides those below the ingress domain. */
  readonly hosts: readonly string[];
  /** Namespaces besides its own that managed resources may be in. */
  readonly crossNamespace: readonly string[];
};

export function grantsOf(environment: LatticeEnvironment | undefined): Grants {
  const { isolation, routes, crossNamespace = [] } = environment?.spec ?? {};
  return {
    environment: environment?.metadata.name,
    podSecurity: isolation?.podSecurity ?? "restricted",
    hosts: routes?.hosts ?? [],
    crossNamespace,
  };
}

/** How to grant something: `add data to spec.crossNamespace of LatticeEnvironment prod`. */
export function howToGrant({ environment }: Pick<Grants, "environment">, what: string, field: string): string {
  const where =
    environment === undefined
      ? "a LatticeEnvironment, and name it in spec.environment of the service"
      : `LatticeEnvironment ${environment}`;
  return `add ${what} to ${field} of ${where}`;
}

/** On a Secret, ConfigMap or PersistentVolumeClaim: "true", or the one namespace whose services may use it. */
export const SHAREABLE_LABEL = "lattice.dev/shareable";

/** The values of the label for services written in the namespace `source`. */
export function shareableValues(source: string): readonly string[] {
  return ["true", source];
}

/** Whether services written in the namespace `source` may use an object with these labels. */
export function isShareable(labels: Readonly<Record<string, unknown>> | undefined, source: string): boolean {
  const value = labels?.[SHAREABLE_LABEL];
  return typeof value === "string" && shareableValues(source).includes(value);
}

/** The source namespace of a service: its author may have permissions only there. */
export function sourceOf({ metadata }: Pick<LatticeService, "metadata">): string {
  return metadata.namespace ?? "default";
}

/** The same message for a Secret that does not exist, so that its existence is not disclosed. */
export function secretNotShared(namespace: string, name: string, source: string): string {
  return `Secret ${name} of namespace ${namespace} is not shared with namespace ${source}\nits owner shares it with the label ${SHAREABLE_LABEL}: "true" (or: ${source})`;
}
