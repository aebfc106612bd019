/**
 * Names of the objects that a service may have besides those with its own name. Two services can need the same name: `api` with a container
 * `main` beside others, and a service `api-main`, both have a Secret `api-main-secrets`.
 *
 * The list has every possible name, even if the service has no secret now: the holder of a name must not depend on the content of templates.
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
    // in patch mode no Deployment is made
    ...(spec.workloadRef === undefined ? [...flaggerNames(name), name] : []).map((workload) => `Deployment ${workload}`),
    ...(spec.workloadRef === undefined && spec.deploy?.strategy === "canary" ? [`HTTPRoute ${name}`] : []),
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

/** Flagger creates a Deployment and Services of these names for a canary. They are reserved for every service, which may become a canary. */
function flaggerNames(name: string): readonly string[] {
  return FLAGGER_SUFFIXES.map((suffix) => `${name}-${suffix}`);
}

/** Whether two services may share the name: both are of one source namespace, and neither is a canary. */
export function isFlaggerName(object: string, service: string): boolean {
  return flaggerNames(service).some((name) => object.endsWith(` Deployment ${name}`));
}

/** The owner of a reserved name in every Lattice namespace: a service of that name would share its policies and its identity. */
export function reservedFor(name: string): string | undefined {
  if (name === "default") return "the default ServiceAccount of a namespace";
  if (name === WAYPOINT) return "the waypoint of a namespace";
  return name === DEFAULT_DENY || name === `${DEFAULT_DENY}-${WAYPOINT}` ? "the default deny of a namespace" : undefined;
}
