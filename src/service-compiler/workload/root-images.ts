/**
 * Public images that run as root unless a user is set. With `runAsNonRoot`, which is the default, the kubelet refuses to start them. Whether
 * another image runs as root is not known: no image is downloaded.
 */
import { field, fieldAt, type JsonObject } from "#kube";
import type { Warning } from "../errors.ts";
import type { PodParts } from "./deployment.ts";

/** Official images of Docker Hub, by name. */
const ROOT_IMAGES: ReadonlySet<string> = new Set([
  "alpine",
  "amazonlinux",
  "busybox",
  "caddy",
  "centos",
  "debian",
  "eclipse-temurin",
  "fedora",
  "golang",
  "httpd",
  "mariadb",
  "mongo",
  "mysql",
  "nginx",
  "node",
  "php",
  "postgres",
  "python",
  "rabbitmq",
  "redis",
  "ruby",
  "rust",
  "traefik",
  "ubuntu",
  "wordpress",
]);

/** Well-known replacements that do not run as root. */
const INSTEAD: ReadonlyMap<string, string> = new Map([["nginx", "nginxinc/nginx-unprivileged"]]);

/** `docker.io/library/nginx:1.29@sha256:…` is `nginx`. undefined: another image. */
export function rootImage(image: string): string | undefined {
  const name = image.replace(/^(?:(?:index\.)?docker\.io\/)?(?:library\/)?/, "").replace(/[:@].*$/, "");
  return ROOT_IMAGES.has(name) ? name : undefined;
}

/** One warning for each container that would not start because its image runs as root. */
export function rootImageWarnings({ initContainers, containers, securityContext }: PodParts): readonly Warning[] {
  return [...initContainers, ...containers].flatMap((container) => {
    const [name, image] = [field(container, "name"), field(container, "image")];
    const known = typeof image === "string" ? rootImage(image) : undefined;
    if (known === undefined || typeof name !== "string" || !refusesRoot(container) || hasUser(container, securityContext)) return [];
    const instead = INSTEAD.get(known);
    const place = `spec.containers.${name}.image`;
    const remedy = `set securityContext.runAsUser${instead === undefined ? "" : `, or use ${instead}`}`;
    return [{ place, message: `${known} runs as root, and the pod must not (runAsNonRoot): ${remedy}` }];
  });
}

function refusesRoot(container: JsonObject): boolean {
  return fieldAt(container, "securityContext", "runAsNonRoot") === true;
}

function hasUser(container: JsonObject, pod: JsonObject | undefined): boolean {
  return fieldAt(container, "securityContext", "runAsUser") !== undefined || fieldAt(pod, "runAsUser") !== undefined;
}
