/** The resolved mount paths of files and volumes: the container runtime resolves `.`, `..` and `//`. */
import type { CompileError, Warning } from "../errors.ts";
import type { RenderedContainer } from "../rendering/render-service.ts";
import { needsResolving, resolvedFilePath } from "../paths.ts";
import type { CheckFindings } from "./probes.ts";

export function checkMounts(containers: readonly RenderedContainer[]): CheckFindings {
  const errors: CompileError[] = [];
  const warnings: Warning[] = [];
  for (const { name, spec } of containers) {
    if (!hasSuspicious(spec.files) && !hasSuspicious(spec.volumes)) continue;
    const taken = new Map<string, string>();
    const mounts = [...mountsOf("files", spec.files), ...mountsOf("volumes", spec.volumes)];
    // paths that are already resolved come first, so that the error is reported for the other one
    for (const { path, field } of [...mounts.filter(isPlain), ...mounts.filter((mount) => !isPlain(mount))]) {
      const [place, real] = [`spec.containers.${name}.${field}`, resolvedFilePath(path)];
      const other = taken.get(real);
      taken.set(real, other ?? field);
      if (path === real) continue;
      if (real === "/")
        errors.push({ kind: "invalid-field", place, message: "is mounted at /, which would hide the image; choose a folder below it" });
      else if (other !== undefined)
        errors.push({ kind: "invalid-field", place, message: `is mounted at ${real}, as ${other} is; remove one of the two` });
      else warnings.push({ place, message: `is mounted at ${real}; write that` });
    }
  }
  return { errors, warnings };
}

function hasSuspicious(map: Readonly<Record<string, unknown>> | undefined): boolean {
  if (map === undefined) return false;
  for (const path of Object.keys(map)) if (needsResolving(path)) return true;
  return false;
}

type Mount = { readonly path: string; /** `files["/etc/a"]`. */ readonly field: string };

function mountsOf(kind: string, map: Readonly<Record<string, unknown>> | undefined): readonly Mount[] {
  return map === undefined ? [] : Object.keys(map).map((path) => ({ path, field: `${kind}["${path}"]` }));
}

function isPlain({ path }: Mount): boolean {
  return resolvedFilePath(path) === path;
}
