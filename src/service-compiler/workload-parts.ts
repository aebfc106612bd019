/** The parts of a workload that both modes of a service have: config objects, volumes, routes and claims. */
import type { JsonObject, KubeObject } from "#kube";
import type { ServiceInput } from "./input.ts";
import type { Claim } from "./provisioners/index.ts";
import type { RenderedService } from "./rendering/render-service.ts";
import { configHash } from "./workload/config-hash.ts";
import type { ConfigObjects } from "./workload/config-objects.ts";
import { compileEnv, type CompiledEnv } from "./workload/env.ts";
import { compileFiles, type CompiledFiles } from "./workload/files.ts";
import type { WorkloadOwner } from "./workload/names.ts";
import { compileRoutes, type CompiledRoutes } from "./workload/routes.ts";
import { compileVolumes, type CompiledVolumes } from "./workload/volumes.ts";
import type { CompileError } from "./errors.ts";

export type ContainerConfig = { readonly env: CompiledEnv; readonly files: CompiledFiles };

export type WorkloadParts = {
  readonly owner: WorkloadOwner;
  /** By container. */
  readonly configs: ReadonlyMap<string, ContainerConfig>;
  /** ConfigMaps, then Secrets, then ExternalSecrets. */
  readonly config: readonly KubeObject[];
  /** Absent: the service has no config. */
  readonly configHash: string | undefined;
  readonly volumes: { readonly compiled: CompiledVolumes; readonly errors: readonly CompileError[] };
  /** Of files and of volumes. */
  readonly podVolumes: readonly JsonObject[];
  readonly routes: CompiledRoutes;
  readonly claims: readonly Claim[];
};

export function workloadParts(input: ServiceInput, rendered: RenderedService): WorkloadParts {
  const { service, namespace, settings, syncedVersion } = input;
  const owner: WorkloadOwner = { name: service.metadata.name, namespace, several: rendered.containers.length > 1 };
  const configs = new Map<string, ContainerConfig>(
    rendered.containers.map((container) => [container.name, { env: compileEnv(owner, container), files: compileFiles(owner, container) }]),
  );
  const fileVolumes = [...configs.values()].flatMap(({ files }) => files.volumes);
  const taken = fileVolumes.map(({ name }) => name);
  const volumes = compileVolumes(rendered.containers, { taken, mountProblem: input.mountProblem });
  const config = [...configs.values()].flatMap(({ env, files }) => [...objectsOf(env.objects), ...objectsOf(files.objects)]);
  const hashed = { objects: config, key: settings.hashKey, syncedVersion: (name: string) => syncedVersion(namespace, name) };
  return {
    owner,
    configs,
    config: inOrder(config),
    configHash: config.length === 0 ? undefined : configHash(hashed),
    volumes,
    podVolumes: [...fileVolumes, ...volumes.compiled.volumes],
    routes: compileRoutes(input, rendered),
    claims: claimsOf(rendered),
  };
}

/** The mounts of files and volumes of one container. */
export function mountsOf({ configs, volumes }: WorkloadParts, container: string): readonly JsonObject[] {
  return [...(configs.get(container)?.files.mounts ?? []), ...(volumes.compiled.mounts.get(container) ?? [])];
}

function objectsOf({ open, closed, outside }: ConfigObjects): readonly KubeObject[] {
  return [open, closed, outside].filter((object) => object !== undefined);
}

const KIND_ORDER = ["ConfigMap", "Secret", "ExternalSecret"];

function inOrder(objects: readonly KubeObject[]): readonly KubeObject[] {
  return objects.toSorted((a, b) => KIND_ORDER.indexOf(a.kind) - KIND_ORDER.indexOf(b.kind));
}

function claimsOf({ provisioned }: RenderedService): readonly Claim[] {
  const claims = [...provisioned.values()].flatMap(({ claim }) => (claim === undefined ? [] : [claim]));
  return [...new Map(claims.map((claim) => [claim.name, claim])).values()];
}
