/** All objects of one workload, in apply order. */
import { err, ok, type Result } from "#base";
import type { JsonObject } from "#kube";
import type { CompileError, Warning } from "./errors.ts";
import { claimWarnings } from "./checks/claims.ts";
import { checkMounts } from "./checks/mounts.ts";
import { checkProbes } from "./checks/probes.ts";
import type { ServiceInput } from "./input.ts";
import type { RenderedContainer, RenderedService } from "./rendering/render-service.ts";
import { annotationErrors } from "./workload/annotations.ts";
import { canaryWarnings, compileCanary, foreignMetricTemplates } from "./workload/canary.ts";
import { compileContainer, type Ports } from "./workload/container.ts";
import { compileDeployment, type Replicas } from "./workload/deployment.ts";
import { compileService, compileServiceAccount } from "./workload/network.ts";
import type { CompiledObject } from "./workload/once.ts";
import { isSidecar, orderContainers, type ContainerOrder } from "./workload/order.ts";
import { podSecurityContext } from "./workload/pod-security-context.ts";
import { rootImageWarnings } from "./workload/root-images.ts";
import { compileAutoscaler, compileClaim, compileDisruptionBudget } from "./workload/scaling.ts";
import { securityErrors } from "./workload/security-errors.ts";
import { tooLarge } from "./workload/size-limits.ts";
import { mountsOf, workloadParts, type WorkloadParts } from "./workload-parts.ts";

export type CompiledWorkload = { readonly objects: readonly CompiledObject[]; readonly warnings: readonly Warning[] };

export function compileWorkload(input: ServiceInput, rendered: RenderedService): Result<CompiledWorkload, readonly CompileError[]> {
  const { service } = input;
  const parts = workloadParts(input, rendered);
  const { owner, configs, volumes, routes, config, claims } = parts;
  const order = orderContainers(rendered.containers);
  const replicas = replicasOf(input);
  const ordered = order.ok ? order.value : { first: [], main: rendered.containers };
  const pod = compilePod(input, parts, ordered);
  const probes = checkProbes(rendered.containers, servingOf(ordered), service.spec.service?.ports ?? {});
  const mounts = checkMounts(rendered.containers);
  const errors = [
    ...(order.ok ? [] : [order.error]),
    ...probes.errors,
    ...mounts.errors,
    ...volumes.errors,
    ...routes.errors,
    ...tooLarge(configs),
    ...foreignMetricTemplates(input),
    ...annotationErrors(service.spec.annotations, input.grants),
    ...securityErrors(pod, input.grants),
  ];
  if (errors.length > 0) return err(errors);
  const objects = [
    ...config.map((object) => ({ object })),
    ...claims.map((claim) => compileClaim(owner, claim)),
    compileServiceAccount(owner),
    compileDeployment(owner, service.spec, replicas, pod),
    compileService(owner, service.spec),
    compileAutoscaler(owner, replicas),
    compileDisruptionBudget(owner, replicas),
    compileCanary(owner, service.spec, replicas),
    ...routes.routes,
  ].filter((object) => object !== undefined);
  const warnings = [
    ...warningsOf(input, replicas),
    ...canaryWarnings(service.spec),
    ...rootImageWarnings(pod),
    ...probes.warnings,
    ...mounts.warnings,
    ...routes.warnings,
    ...claimWarnings(rendered.provisioned, { replicas, spec: service.spec, mounted: volumes.compiled.claims }),
  ];
  return ok({ objects, warnings });
}

function compilePod({ service }: ServiceInput, parts: WorkloadParts, order: ContainerOrder) {
  const { configs, volumes, podVolumes, configHash } = parts;
  const ports: Ports = service.spec.service?.ports ?? {};
  const serving = servingOf(order);
  const compile = (container: RenderedContainer, first: boolean): JsonObject => {
    const envFrom = configs.get(container.name)?.env.envFrom ?? [];
    const mounts = mountsOf(parts, container.name);
    const sidecar = first && isSidecar(container);
    const podUser = service.spec.securityContext?.runAsUser;
    return compileContainer(container, { ports, serves: container === serving, envFrom, mounts, sidecar, podUser });
  };
  return {
    initContainers: order.first.map((container) => compile(container, true)),
    containers: order.main.map((container) => compile(container, false)),
    volumes: podVolumes,
    securityContext: podSecurityContext(service.spec.securityContext, {
      containers: [...order.first, ...order.main],
      claims: volumes.compiled.claims,
    }),
    configHash,
  };
}

/** The container that has the ports of the service. */
function servingOf({ main }: ContainerOrder): RenderedContainer | undefined {
  return main.find(({ name }) => name === "main") ?? main[0];
}

/** The value of the service, else the default of its environment. */
function replicasOf({ service, environment }: ServiceInput): Replicas {
  const own = service.spec.replicas;
  const usual = environment?.spec.defaults?.replicas;
  if (own !== undefined) return { min: own.min, max: own.max };
  const { min = 1, max } = usual ?? {};
  // an autoscaler needs at least one replica; the schema checks that for a service, but min and max of an environment may be set separately
  return { min: max === undefined ? min : Math.max(1, min), max };
}

function warningsOf({ service }: ServiceInput, { max }: Replicas): readonly Warning[] {
  if (max === undefined) return [];
  const without = Object.entries(service.spec.containers ?? {}).filter(([, { resources }]) => resources?.requests?.["cpu"] === undefined);
  return without.map(([name]) => ({
    place: `spec.containers.${name}`,
    message: "requests no cpu: the autoscaler cannot tell how busy it is, and will not scale",
  }));
}
