/**
 * The objects of a service in patch mode, and its patch on a Deployment of another owner. The patch has only fields that the service declares:
 * no defaults, no replicas, no ServiceAccount. It refers to config and never contains it.
 *
 * The label of the service is not in it: it follows from the name of the service. Names of volumes get a prefix, and a probe removes the other handlers: merged with fields of the owner, the Deployment stays valid.
 */
import { err, ok, type Result } from "#base";
import { canonicalJson, field, fieldAt, isJsonObject, type JsonObject } from "#kube";
import type { LatticeServiceSpec } from "#crds";
import { checkMounts } from "./checks/mounts.ts";
import { checkProbes } from "./checks/probes.ts";
import type { CompileError, Warning } from "./errors.ts";
import type { ServiceInput } from "./input.ts";
import type { RenderedContainer, RenderedService } from "./rendering/render-service.ts";
import { annotationErrors } from "./workload/annotations.ts";
import { probes as compileProbes, type Ports } from "./workload/container.ts";
import { CONFIG_HASH_ANNOTATION, patchVolumeName, SERVICE_LABEL } from "./workload/names.ts";
import { compileServiceFor } from "./workload/network.ts";
import type { CompiledObject } from "./workload/once.ts";
import { compileClaim } from "./workload/scaling.ts";
import { securityErrors } from "./workload/security-errors.ts";
import { tooLarge } from "./workload/size-limits.ts";
import { mountsOf, workloadParts, type WorkloadParts } from "./workload-parts.ts";

/** Changes of a Deployment. Values are references to ConfigMaps and Secrets, never secrets. */
export type DeploymentPatch = {
  /** A strategic merge patch, without `envFrom`. */
  readonly patch: JsonObject;
  /** By container: entries to add after those of the owner. */
  readonly envFrom: Readonly<Record<string, readonly JsonObject[]>>;
  /** By container and variable: the `valueFrom` for an `env` entry of the owner with the same name, which takes precedence over `envFrom`. */
  readonly variables: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
};

export type CompiledPatch = {
  readonly objects: readonly CompiledObject[];
  readonly warnings: readonly Warning[];
  readonly patch: DeploymentPatch;
};

/** Fields without an effect in patch mode: the owner of the Deployment decides them. */
export function ignoredFields(spec: LatticeServiceSpec): readonly string[] {
  const ordered = Object.entries(spec.containers ?? {}).flatMap(([name, { before }]) =>
    before === undefined ? [] : [`spec.containers.${name}.before`],
  );
  return [...(spec.replicas === undefined ? [] : ["spec.replicas"]), ...(spec.deploy === undefined ? [] : ["spec.deploy"]), ...ordered];
}

export function compilePatch(input: ServiceInput, rendered: RenderedService): Result<CompiledPatch, readonly CompileError[]> {
  const { spec } = input.service;
  const parts = workloadParts(input, rendered);
  const { owner, config, configs, claims, volumes, routes } = parts;
  const ports: Ports = spec.service?.ports ?? {};
  const containers = rendered.containers.map((container) => containerPatch(container, ports, parts));
  const patch = deploymentPatch(input, containers, parts);
  const probes = checkProbes(rendered.containers, undefined, ports);
  const mounts = checkMounts(rendered.containers);
  const errors = [
    ...probes.errors,
    ...mounts.errors,
    ...volumes.errors,
    ...routes.errors,
    ...tooLarge(configs),
    ...annotationErrors(spec.annotations, input.grants),
    ...declaredSecurityErrors(input, containers),
    ...sizeErrors(patch),
  ];
  if (errors.length > 0) return err(errors);
  const service = compileServiceFor(owner, ports, { [SERVICE_LABEL]: owner.name });
  const objects = [
    ...config.map((object) => ({ object })),
    ...claims.map((claim) => compileClaim(owner, claim)),
    ...(service === undefined ? [] : [service]),
    ...routes.routes,
  ];
  return ok({ objects, patch, warnings: [...ignoredWarnings(spec), ...probes.warnings, ...mounts.warnings, ...routes.warnings] });
}

function deploymentPatch(
  { service: { spec } }: ServiceInput,
  containers: readonly JsonObject[],
  { configs, configHash, podVolumes }: WorkloadParts,
): DeploymentPatch {
  const changed = containers.filter((container) => Object.keys(container).length > 1);
  const volumes = podVolumes.map((volume) => ({ ...volume, name: patchVolumeName(nameOf(volume)) }));
  const hash = configHash === undefined ? {} : { [CONFIG_HASH_ANNOTATION]: configHash };
  const pod = {
    ...(spec.securityContext === undefined ? {} : { securityContext: { ...spec.securityContext } }),
    ...(changed.length === 0 ? {} : { containers: changed }),
    ...(volumes.length === 0 ? {} : { volumes }),
  };
  const patch: JsonObject = {
    metadata: annotations({ ...spec.annotations }),
    spec: { template: { metadata: annotations({ ...spec.annotations, ...hash }), spec: pod } },
  };
  const env = [...configs].map(([name, config]) => [name, config.env] as const);
  return {
    patch,
    envFrom: Object.fromEntries(env.flatMap(([name, { envFrom }]) => (envFrom.length === 0 ? [] : [[name, envFrom]]))),
    variables: Object.fromEntries(env.flatMap(([name, { sources }]) => (sources.size === 0 ? [] : [[name, Object.fromEntries(sources)]]))),
  };
}

function annotations(all: Readonly<Record<string, string>>): JsonObject {
  return Object.keys(all).length === 0 ? {} : { annotations: all };
}

/** Only the name if nothing but variables is declared: those are in `envFrom`. */
function containerPatch({ name, spec }: RenderedContainer, ports: Ports, parts: WorkloadParts): JsonObject {
  const mounts = mountsOf(parts, name).map(mountPatch);
  return {
    name,
    ...(spec.image === undefined ? {} : { image: spec.image }),
    ...(spec.command === undefined ? {} : { command: spec.command }),
    ...(spec.args === undefined ? {} : { args: spec.args }),
    ...(spec.resources === undefined ? {} : { resources: spec.resources }),
    ...probePatches(compileProbes(spec, ports)),
    ...(mounts.length === 0 ? {} : { volumeMounts: mounts }),
    ...(spec.securityContext === undefined ? {} : { securityContext: spec.securityContext }),
  };
}

/** Without null a path inside the owner's volume would stay in effect. */
function mountPatch(mount: JsonObject): JsonObject {
  return { subPath: null, subPathExpr: null, ...mount, name: patchVolumeName(nameOf(mount)) };
}

const HANDLERS = ["exec", "grpc", "httpGet", "tcpSocket"];

/** A probe has exactly one handler. One without a handler changes the timing of the owner's probe. */
function probePatches(probes: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(probes).map(([kind, probe]) => {
      if (!isJsonObject(probe) || !HANDLERS.some((handler) => Object.hasOwn(probe, handler))) return [kind, probe];
      return [kind, { ...Object.fromEntries(HANDLERS.map((handler) => [handler, null])), ...probe }];
    }),
  );
}

/** Fields that the patch does not set are the owner's, and are not checked. */
function declaredSecurityErrors({ service: { spec }, grants }: ServiceInput, containers: readonly JsonObject[]): readonly CompileError[] {
  const securityContext = spec.securityContext === undefined ? undefined : { ...spec.securityContext };
  const pod = { initContainers: [], containers, volumes: [], securityContext, configHash: undefined };
  const isDeclared = (place: string) => {
    const [name = "", ...path] = place.replace(/^spec\.containers\./, "").split(".");
    if (!place.startsWith("spec.containers.")) return true;
    return fieldAt(spec, "containers", name, ...path) !== undefined;
  };
  return securityErrors(pod, grants).filter((error) => error.kind !== "not-granted" || isDeclared(error.place));
}

/** The patch is stored in a ConfigMap, with room for its own fields. */
const MOST_BYTES = 900_000;

function sizeErrors(patch: DeploymentPatch): readonly CompileError[] {
  // a character is at most three bytes
  const size = canonicalJson(patch).length * 3;
  if (size <= MOST_BYTES) return [];
  const bytes = new TextEncoder().encode(canonicalJson(patch)).byteLength;
  if (bytes <= MOST_BYTES) return [];
  const message = `the patch would have ${bytes} bytes, and may have ${MOST_BYTES}; use fewer variables, or shorter commands and annotations`;
  return [{ kind: "invalid-field", place: "spec.containers", message }];
}

function ignoredWarnings(spec: LatticeServiceSpec): readonly Warning[] {
  return ignoredFields(spec).map((place) => ({
    place,
    message: "has no effect in patch mode: the owner of the Deployment decides it; remove it, or change it where the Deployment is defined",
  }));
}

function nameOf(named: JsonObject): string {
  const name = field(named, "name");
  return typeof name === "string" ? name : "";
}
