/**
 * Names of the objects that a service may have beside those that bear its own name. Two services can want the same: `api` with a container
 * `main` beside others, and a service `api-main`, both have a Secret `api-main-secrets`.
 *
 * These are all that it might have, whether or not it has a secret today: who gets a name must not hang on what a template says.
 */
import type { LatticeService } from "#crds";
import { DEFAULT_DENY, WAYPOINT } from "#mesh-compiler";

const CONFIG: readonly (readonly [kind: string, suffix: string])[] = [
  ["ConfigMap", "env"],
  ["ConfigMap", "files"],
  ["Secret", "secrets"],
  ["Secret", "external-secrets"],
  ["Secret", "files-secret"],
  ["Secret", "files-external"],
];

/** `prod Secret api-main-secrets`. */
export function objectNames({ metadata: { name }, spec }: LatticeService, namespace: string): readonly string[] {
  const containers = Object.keys(spec.containers ?? {});
  const owners = containers.length > 1 ? containers.map((container) => `${name}-${container}`) : [name];
  const resources = Object.entries(spec.resources ?? {});
  const names = [
    ...[...flaggerNames(name), name].map((workload) => `Deployment ${workload}`),
    ...(spec.deploy?.strategy === "canary" ? [`HTTPRoute ${name}`] : []),
    ...owners.flatMap((owner) => CONFIG.map(([kind, suffix]) => `${kind} ${owner}-${suffix}`)),
    ...[name, `${name}-${WAYPOINT}`].map((policy) => `AuthorizationPolicy ${policy}`),
    ...resources.flatMap(([resource, { type }]) => (type === "route" ? [`HTTPRoute ${name}-${resource}`] : [])),
    ...resources.flatMap(([resource, { type, id = resource, params }]) =>
      type === "volume" && params["size"] !== undefined ? [`PersistentVolumeClaim ${id}`] : [],
    ),
  ];
  return names.map((text) => `${namespace} ${text}`);
}

const FLAGGER_SUFFIXES = ["primary", "canary"] as const;

/** Flagger makes a Deployment and Services of these names beside a canary. They are kept for every service: it may become one. */
function flaggerNames(name: string): readonly string[] {
  return FLAGGER_SUFFIXES.map((suffix) => `${name}-${suffix}`);
}

/** Whether two services can do without the name: one namespace has one author, and neither of them is a canary. */
export function isFlaggerName(object: string, service: string): boolean {
  return flaggerNames(service).some((name) => object.endsWith(` Deployment ${name}`));
}

/** What has this name in every namespace of Lattice: a service of that name would share its policies, and its identity. */
export function reservedFor(name: string): string | undefined {
  if (name === "default") return "the default ServiceAccount of a namespace";
  if (name === WAYPOINT) return "the waypoint of a namespace";
  return name === DEFAULT_DENY || name === `${DEFAULT_DENY}-${WAYPOINT}` ? "the default deny of a namespace" : undefined;
}
