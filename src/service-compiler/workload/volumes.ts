/** Volumes of the pod. Containers with the same source share one; a name without a class is a claim. */
import { err, ok, type Result } from "#base";
import { parseDnsSubdomain, type JsonObject } from "#kube";
import type { CompileError } from "../errors.ts";
import type { MountedKind } from "../input.ts";
import type { RenderedContainer, RenderedVolume } from "../rendering/render-service.ts";
import { RESERVED_VOLUMES } from "./files.ts";
import { volumeName } from "./names.ts";

export type CompiledVolumes = {
  readonly volumes: readonly JsonObject[];
  /** By container. */
  readonly mounts: ReadonlyMap<string, readonly JsonObject[]>;
  /** Claims that are used. */
  readonly claims: ReadonlySet<string>;
};

type Source = {
  readonly key: string;
  readonly volume: JsonObject;
  readonly claim?: string;
  /** The referenced object; an empty directory has none. */
  readonly object?: { readonly kind: MountedKind; readonly name: string };
};

type VolumeRules = {
  /** Names of the volumes for files. */
  readonly taken: Iterable<string>;
  readonly mountProblem: (kind: MountedKind, name: string) => string | undefined;
};

export function compileVolumes(
  containers: readonly RenderedContainer[],
  { taken, mountProblem }: VolumeRules,
): { readonly compiled: CompiledVolumes; readonly errors: readonly CompileError[] } {
  const errors: CompileError[] = [];
  const volumes = new Map<string, JsonObject & { readonly name: string }>();
  const names = new Set([...RESERVED_VOLUMES, ...taken]);
  const claims = new Set<string>();
  const mounts = new Map<string, readonly JsonObject[]>();
  for (const container of containers) {
    const own: JsonObject[] = [];
    for (const [path, volume] of container.volumes) {
      const source = container.files.has(path) ? err("a file of the container has the same path") : sourceOf(path, volume);
      if (!source.ok) {
        errors.push({ kind: "invalid-volume-mount", container: container.name, path, message: source.error });
        continue;
      }
      const { key, volume: fields, claim, object } = source.value;
      const problem = object === undefined ? undefined : mountProblem(object.kind, object.name);
      if (problem !== undefined) {
        errors.push({ kind: "not-granted", place: `spec.containers.${container.name}.volumes["${path}"]`, message: problem });
        continue;
      }
      const made = volumes.get(key) ?? { name: volumeName(path, key, names), ...fields };
      volumes.set(key, made);
      names.add(made.name);
      if (claim !== undefined) claims.add(claim);
      own.push(mountOf(made.name, path, volume));
    }
    mounts.set(container.name, own);
  }
  return { compiled: { volumes: [...volumes.values()], mounts, claims }, errors };
}

function mountOf(name: string, mountPath: string, { path, readOnly }: RenderedVolume): JsonObject {
  return { name, mountPath, ...(path === undefined ? {} : { subPath: path }), ...(readOnly === undefined ? {} : { readOnly }) };
}

const CLASSES = ["pvc", "configmap", "secret", "emptydir"] as const;

/** A name without a class is a claim; an empty directory has no name, with or without a colon. */
function parseSource(text: string): { readonly kind: string; readonly name: string } {
  const colon = text.indexOf(":");
  if (colon >= 0) return { kind: text.slice(0, colon), name: text.slice(colon + 1) };
  return text === "emptydir" ? { kind: text, name: "" } : { kind: "pvc", name: text };
}

function sourceOf(path: string, { source, path: subPath }: RenderedVolume): Result<Source, string> {
  const { value, origins } = source;
  if (value.kind !== "plain") return err("its source is sensitive, and would be readable without access to Secrets");
  if (subPath !== undefined && (subPath.startsWith("/") || subPath.split("/").includes("..")))
    return err("path must be relative and without '..'");
  const { kind, name } = parseSource(value.text);
  if (!CLASSES.some((known) => known === kind))
    return err(`'${kind}' is no kind of volume; there are ${CLASSES.join(", ")}, as in "pvc:data"`);
  // an empty directory has no name; containers that read it from the same resource share it, others by its path
  if (kind === "emptydir") return ok({ key: `emptydir:${name}:${origins[0]?.placeholder ?? path}`, volume: { emptyDir: {} } });
  if (!parseDnsSubdomain(name).ok) return err(`'${name}' is not a valid name; use lower case letters, digits, '-' and '.'`);
  if (kind === "configmap") return ok({ key: `configmap:${name}`, volume: { configMap: { name } }, object: { kind: "ConfigMap", name } });
  if (kind === "secret") return ok({ key: `secret:${name}`, volume: { secret: { secretName: name } }, object: { kind: "Secret", name } });
  const volume = { persistentVolumeClaim: { claimName: name } };
  return ok({ key: `pvc:${name}`, volume, claim: name, object: { kind: "PersistentVolumeClaim", name } });
}
