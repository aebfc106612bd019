/** Whether a document is a Docker Compose file: `services` with an entry each, and neither apiVersion nor kind. */
import { field, isJsonObject, type Json } from "#kube";

/**
 * Whether a document is a Docker Compose file.
 *
 * @example isCompose({ services: { web: { image: "nginx" } } }) // true
 */
export function isCompose(value: Json): boolean {
  if (!isJsonObject(value) || Object.hasOwn(value, "apiVersion") || Object.hasOwn(value, "kind")) return false;
  const services = field(value, "services");
  return isJsonObject(services) && Object.values(services).every((service) => service === null || isJsonObject(service));
}

const MOST_NAMED = 5;

/**
 * The error of commands that accept only Lattice's own files.
 *
 * @example describeCompose({ services: { web: null } }, "compose.yaml") // "this is a Docker Compose file (services: web); …"
 */
export function describeCompose(value: Json, file: string): string {
  const services = field(value, "services");
  const names = isJsonObject(services) ? Object.keys(services) : [];
  const more = names.length > MOST_NAMED ? `, and ${names.length - MOST_NAMED} more` : "";
  const listed = names.length === 0 ? "" : ` (services: ${names.slice(0, MOST_NAMED).join(", ")}${more})`;
  return `this is a Docker Compose file${listed}; lattice init --from ${file} writes LatticeServices for it`;
}
