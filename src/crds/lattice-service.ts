/**
 * LatticeService: a workload, and which services may call it. With `workloadRef` the same spec is a patch on a Deployment
 * that another controller or person owns; then containers and their images are optional.
 *
 * It has no scale subresource: only `replicas.min` could be scaled. With an autoscaler that is the minimum, and `kubectl scale` would raise
 * the minimum permanently.
 */
import type * as z from "zod";
import { labelKeys, later, mapOf, object } from "./collections.ts";
import { anyText, dnsLabel, dnsSubdomain, flag, oneOf, targetNamespace, timestampField } from "./fields.ts";
import { defineKind, type ObjectOf } from "./kind.ts";
import { ageColumn, messageColumn, phaseColumn, readyColumn } from "./manifest.ts";
import { nameAsService } from "./metadata.ts";
import { countSet, withRules, type RelativePath, type Rule } from "./rules.ts";
import { containers } from "./service/container.ts";
import { deploy } from "./service/deploy.ts";
import { resources, service } from "./service/dependencies.ts";
import { PROBE_HANDLERS } from "./service/probe.ts";
import { replicas } from "./service/replicas.ts";
import { podSecurityContext } from "./service/security-context.ts";
import { observed, statusOf } from "./status.ts";

const specFields = () =>
  object("The service as it should be.", {
    environment: dnsLabel(
      "LatticeEnvironment it belongs to; its namespace is where the workload runs. Absent: this object's namespace.",
    ).optional(),
    workloadRef: later(workloadRef).optional(),
    annotations: mapOf("Annotations of the Deployment and its pods.", anyText("Value.", 65_536), { max: 64, keys: labelKeys }).optional(),
    securityContext: later(podSecurityContext).optional(),
    containers: containers().optional(),
    resources: resources().optional(),
    service: service().optional(),
    replicas: later(replicas).optional(),
    deploy: later(deploy).optional(),
  });

const workloadRef = () =>
  object(
    "Existing Deployment, owned by another controller or person, that this spec is a patch on. Absent: Lattice makes and owns the Deployment.",
    {
      kind: oneOf("Kind of the workload.", ["Deployment"]).default("Deployment"),
      name: dnsSubdomain("Name of the workload."),
      namespace: targetNamespace("Namespace of the workload."),
    },
  );

type ServiceSpec = z.output<ReturnType<typeof specFields>>;
type Container = NonNullable<ServiceSpec["containers"]>[string];

type Violation = (container: Container, name: string, all: Readonly<Record<string, Container>>) => RelativePath | undefined;

/** A rule for each container of services that own their workload. `cel` uses the container's name as the variable `name`. */
function eachOwnedContainer(cel: string, message: string, violation: Violation): Rule<ServiceSpec> {
  return {
    cel: `has(self.workloadRef) || !has(self.containers) || self.containers.all(name, ${cel})`,
    message,
    field: ["containers"],
    violations: ({ workloadRef, containers: all = {} }) => {
      if (workloadRef !== undefined) return [];
      return Object.entries(all).flatMap(([name, container]) => {
        const path = violation(container, name, all);
        return path === undefined ? [] : [["containers", name, ...path]];
      });
    },
  };
}

function probeNeedsHandler(probe: "livenessProbe" | "readinessProbe" | "startupProbe"): Rule<ServiceSpec> {
  const given = `self.containers[name].${probe}`;
  const cel = [`!has(${given})`, ...PROBE_HANDLERS.map((handler) => `has(${given}.${handler})`)].join(" || ");
  return eachOwnedContainer(cel, `${probe} needs one of ${PROBE_HANDLERS.join(", ")}`, ({ [probe]: value }) =>
    value === undefined || countSet(value, PROBE_HANDLERS) > 0 ? undefined : [probe],
  );
}

const spec = () =>
  withRules(specFields(), [
    {
      cel: "has(self.workloadRef) || (has(self.containers) && size(self.containers) > 0)",
      message: "must have at least one container, unless workloadRef names a Deployment to patch",
      field: ["containers"],
      reason: "FieldValueRequired",
      holds: ({ workloadRef, containers: all = {} }) => workloadRef !== undefined || Object.keys(all).length > 0,
    },
    eachOwnedContainer(
      "has(self.containers[name].image)",
      "each container needs an image, unless workloadRef names a Deployment to patch",
      ({ image }) => (image === undefined ? ["image"] : undefined),
    ),
    eachOwnedContainer(
      "!has(self.containers[name].before) || self.containers[name].before.all(other, other != name && other in self.containers)",
      "before must name other containers of this service",
      ({ before = [] }, name, all) => (before.every((other) => other !== name && Object.hasOwn(all, other)) ? undefined : ["before"]),
    ),
    probeNeedsHandler("livenessProbe"),
    probeNeedsHandler("readinessProbe"),
    probeNeedsHandler("startupProbe"),
  ]);

const status = () =>
  statusOf(["Pending", "Compiling", "Ready", "Failed"], {
    mode: oneOf("Ownership: Lattice made the workload. Patch: another controller or person owns it.", ["Ownership", "Patch"]).optional(),
    workloadRef: observed("The workload that is patched.", {
      resolved: flag("Whether it exists.").optional(),
      name: dnsSubdomain("Name of the workload.").optional(),
      namespace: dnsLabel("Namespace of the workload.").optional(),
    }).optional(),
    compiledAt: timestampField("When the objects were last compiled.").optional(),
    resolvedDependencies: mapOf("URL of each dependency, by name; never with a secret in it.", anyText("URL.", 4_096), {
      max: 128,
    }).optional(),
    closedDependencies: mapOf("Why each dependency that is closed is closed, by name, and what would open it.", anyText("Reason.", 1_024), {
      max: 128,
    }).optional(),
    routes: mapOf(
      "Hosts and paths that its routes have, by resource; of several services with one host, the one that has had it longest keeps it.",
      observed("A route.", {
        host: anyText("Host name.", 253),
        path: anyText("Path prefix.", 1_024),
        since: timestampField("Since when."),
      }),
      { max: 128 },
    ).optional(),
  });

/** A workload with its resources, routes and agreements. */
export type LatticeService = ObjectOf<"LatticeService", ReturnType<typeof spec>, ReturnType<typeof status>>;
export type LatticeServiceSpec = LatticeService["spec"];
export type LatticeServiceStatus = NonNullable<LatticeService["status"]>;

export const latticeServiceKind = defineKind<LatticeService>({
  kind: "LatticeService",
  plural: "latticeservices",
  shortName: "ls",
  namespaced: true,
  purpose: "A workload, what it needs, and who may talk to it.",
  name: nameAsService("a Service of that name is made"),
  spec,
  status,
  columns: [
    phaseColumn,
    readyColumn,
    { name: "Mode", type: "string", jsonPath: ".status.mode", description: "Ownership or Patch." },
    { name: "Environment", type: "string", jsonPath: ".spec.environment", description: "LatticeEnvironment it belongs to." },
    { name: "Min", type: "integer", jsonPath: ".spec.replicas.min", description: "Fewest pods.", priority: 1 },
    { name: "Max", type: "integer", jsonPath: ".spec.replicas.max", description: "Most pods.", priority: 1 },
    messageColumn,
    ageColumn,
  ],
  rules: [
    {
      cel: "!has(self.spec.deploy) || self.spec.deploy.strategy != 'canary' || size(self.metadata.name) <= 55",
      message: "must have at most 55 characters for strategy canary: Flagger adds -primary and -canary to it",
      field: ["metadata", "name"],
      holds: ({ metadata, spec: { deploy: how } }) => how?.strategy !== "canary" || metadata.name.length <= 55,
    },
  ],
});

export const latticeServices = latticeServiceKind.resource;
/**
 * A LatticeService from an unknown value: with defaults, or every mistake with its path.
 *
 * @example parseLatticeService({ apiVersion: "lattice.dev/v1alpha1", kind: "LatticeService", metadata: { name: "web" }, spec: { containers: { main: { image: "web:1" } } } })
 */
export const parseLatticeService = latticeServiceKind.parse;
