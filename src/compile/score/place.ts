/** Translates paths of a LatticeService to paths of the Score file that it was read from. */
import { stepText } from "./schema.ts";

/** Fields that Score has only as annotations. */
const ANNOTATIONS: readonly (readonly [field: RegExp, annotation: string])[] = [
  [/^spec\.environment$/, "lattice.dev/environment"],
  [/^spec\.securityContext\.runAsUser$/, "lattice.dev/run-as-user"],
  [/^spec\.securityContext\.runAsGroup$/, "lattice.dev/run-as-group"],
  [/^spec\.securityContext\.fsGroup$/, "lattice.dev/fs-group"],
  [/^spec\.containers\.[^.]+\.securityContext\.readOnlyRootFilesystem$/, "lattice.dev/read-only-root-filesystem"],
  [/^spec\.containers\.[^.]+\.securityContext\.capabilities/, "lattice.dev/add-capabilities"],
];

/** Lattice's `spec.containers[main].image` is `containers.main.image` here, and `spec.environment` an annotation. */
export function scorePlace(path: string): string {
  const annotation = ANNOTATIONS.find(([field]) => field.test(path))?.[1];
  if (annotation !== undefined) return `metadata.annotations["${annotation}"]`;
  return path
    .replace(/^spec\.annotations/, "metadata.annotations")
    .replace(/^spec\./, "")
    .replace(/\[([^\]"]*[^\]"0-9][^\]"]*)\]/g, (_, name: string) => stepText(name));
}
