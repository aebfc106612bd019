/**
 * LatticeEnvironment: prod, staging, dev. A namespace for services, the clusters where it exists, and settings for all
 * services in it.
 *
 * `sourceNamespaces` separates tenants: a service in another namespace may target this environment only if its namespace is listed.
 */
import { listOf, object } from "./collections.ts";
import {
  anyText,
  celIsSystemNamespace,
  clusterName,
  dnsLabel,
  dnsSubdomain,
  flag,
  integer,
  isSystemNamespace,
  namespaceName,
  oneOf,
  patterned,
  SYSTEM_NAMESPACE_MESSAGE,
  targetNamespace,
} from "./fields.ts";
import { defineKind, type ObjectOf } from "./kind.ts";
import { ageColumn, messageColumn, phaseColumn, readyColumn } from "./manifest.ts";
import { nameAsLabel } from "./metadata.ts";
import { labelSelector, namespacedRef, quantityMap } from "./references.ts";
import { withRules } from "./rules.ts";
import { configValues } from "./service/config-values.ts";
import { secretSource } from "./service/secret-source.ts";
import { observed, SIMPLE_PHASES, statusOf } from "./status.ts";

/** The Pod Security Standards, strictest first. */
export const POD_SECURITY_LEVELS = ["restricted", "baseline", "privileged"] as const;
export type PodSecurityLevel = (typeof POD_SECURITY_LEVELS)[number];

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

const hostPattern = () =>
  patterned('A host, or "*." and a domain: all hosts below it, and the wildcard itself.', {
    pattern: `^(\\*\\.)?${LABEL}(\\.${LABEL})+$`,
    max: 253,
    message: 'must be a host name in lower case, such as shop.example.com or "*.shop.example.com"',
  });

const mesh = () =>
  object("Service mesh of the environment.", {
    waypoint: flag("Whether traffic passes a waypoint, which can match requests by method and path.").default(false),
    trustDomain: dnsSubdomain("Trust domain of the workloads' identities; absent: the one that the operator was given.").optional(),
  });

const defaultReplicas = () =>
  withRules(
    object("Replicas of services that set none.", {
      min: integer("Number of pods; with max, the fewest.", 0, 10_000).optional(),
      max: integer("Most pods.", 1, 10_000).optional(),
    }),
    [
      {
        cel: "!has(self.min) || !has(self.max) || self.min <= self.max",
        message: "min must not be above max",
        field: ["min"],
        holds: ({ min = 0, max = Infinity }) => min <= max,
      },
    ],
  );

const spec = () =>
  object("The environment as it should be.", {
    clusters: listOf("Clusters that carry it, by name.", clusterName("Name of a LatticeCluster."), { max: 1_024, type: "set" }).optional(),
    clusterSelector: labelSelector("Clusters that carry it, by label; added to those in clusters.").optional(),
    namespace: targetNamespace("Namespace of its services; absent: the name of the environment.").optional(),
    sourceNamespaces: listOf("Namespaces whose LatticeServices may target it.", namespaceName("A namespace."), {
      max: 1_024,
      type: "set",
    }).optional(),
    isolation: object("Limits of the namespace.", {
      quota: quantityMap("ResourceQuota of the namespace, such as requests.cpu: 10.").optional(),
      limits: quantityMap("Limits of containers that set none, such as memory: 512Mi.").optional(),
      podSecurity: oneOf(
        "Pod Security Standard that its services must meet; a service that needs more is refused.",
        POD_SECURITY_LEVELS,
      ).default("restricted"),
    }).optional(),
    routes: object("Hosts that routes of its services may claim.", {
      hosts: listOf("Hosts besides those below ingressDomain.", hostPattern(), { max: 256, type: "set" }).optional(),
    }).optional(),
    crossNamespace: listOf("Namespaces that ids of databases and other managed resources may name.", namespaceName("A namespace."), {
      max: 256,
      type: "set",
    }).optional(),
    mesh: mesh().optional(),
    ingressDomain: dnsSubdomain("Domain that routes without a host get a name in.").optional(),
    gatewayRef: namespacedRef("Gateway that routes attach to.").optional(),
    defaults: object("Defaults of services that do not set the field.", {
      replicas: defaultReplicas().optional(),
      config: configValues("Values for ${config.*}; a LatticeServiceConfig goes before them.").optional(),
      secretBindings: listOf(
        "Bindings for ${secrets.*}; a LatticeSecretBindings goes before them.",
        secretSource({ name: dnsLabel("Name that templates use.") }),
        {
          max: 64,
          type: { keys: ["name"] },
        },
      ).optional(),
    }).optional(),
  });

const status = () =>
  statusOf(SIMPLE_PHASES, {
    namespaces: listOf("Namespaces that were made.", anyText("A namespace.", 63), { max: 1_024, type: "set" }).optional(),
    clusters: listOf(
      "Clusters that carry it.",
      observed("A cluster.", {
        name: anyText("Name of the cluster.", 63),
        synced: flag("Whether the cluster has the present spec.").optional(),
      }),
      { max: 1_024, type: { keys: ["name"] } },
    ).optional(),
  });

/** An environment: namespaces, isolation, defaults of services. */
export type LatticeEnvironment = ObjectOf<"LatticeEnvironment", ReturnType<typeof spec>, ReturnType<typeof status>>;

export const latticeEnvironmentKind = defineKind<LatticeEnvironment>({
  kind: "LatticeEnvironment",
  plural: "latticeenvironments",
  shortName: "lenv",
  namespaced: false,
  purpose: "An environment such as prod: its namespace, its clusters, and what holds for all services in it.",
  name: nameAsLabel(63, "its namespace and labels bear that name"),
  spec,
  status,
  columns: [
    phaseColumn,
    readyColumn,
    { name: "Namespace", type: "string", jsonPath: ".spec.namespace", description: "Namespace, where it is not the name." },
    { name: "Waypoint", type: "boolean", jsonPath: ".spec.mesh.waypoint", description: "Whether traffic passes a waypoint.", priority: 1 },
    messageColumn,
    ageColumn,
  ],
  rules: [
    {
      cel: `has(self.spec.namespace) || !${celIsSystemNamespace("self.metadata.name")}`,
      message: `${SYSTEM_NAMESPACE_MESSAGE}; rename the environment, or set spec.namespace`,
      field: ["metadata", "name"],
      holds: ({ metadata, spec: { namespace } }) => namespace !== undefined || !isSystemNamespace(metadata.name),
    },
  ],
});

export const latticeEnvironments = latticeEnvironmentKind.resource;
export const parseLatticeEnvironment = latticeEnvironmentKind.parse;
