/**
 * What a service may use because an administrator grants it: its environment lists pod security, route hosts and namespaces; labels on
 * objects share them. An account that may write LatticeServices gets this and no more.
 */
import type { LatticeEnvironment, LatticeService, PodSecurityLevel } from "#crds";

export type Grants = {
  /** The LatticeEnvironment that grants; undefined: there is none, and the defaults hold. */
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

/** What to do about something that is not granted: `add data to spec.crossNamespace of LatticeEnvironment prod`. */
export function howToGrant({ environment }: Pick<Grants, "environment">, what: string, field: string): string {
  const where =
    environment === undefined
      ? "a LatticeEnvironment, and name it in spec.environment of the service"
      : `LatticeEnvironment ${environment}`;
  return `add ${what} to ${field} of ${where}`;
}

/** On a Secret, ConfigMap or PersistentVolumeClaim: "true", or the one namespace whose services may use it. */
export const SHAREABLE_LABEL = "lattice.dev/shareable";

/** Whether services written in the namespace `source` may use an object with these labels. */
export function isShareable(labels: Readonly<Record<string, unknown>> | undefined, source: string): boolean {
  const value = labels?.[SHAREABLE_LABEL];
  return value === "true" || value === source;
}

/** Where a service is written: its author has rights there, and perhaps only there. */
export function sourceOf({ metadata }: Pick<LatticeService, "metadata">): string {
  return metadata.namespace ?? "default";
}

/** The same for a Secret that is not there: who may not read it does not learn that either. */
export function secretNotShared(namespace: string, name: string, source: string): string {
  return `Secret ${name} of namespace ${namespace} is not shared with namespace ${source}\nits owner shares it with the label ${SHAREABLE_LABEL}: "true" (or: ${source})`;
}
