/**
 * Images of containers in objects, and their names at a mirror.
 *
 * Names are compared in full: `nginx` is `docker.io/library/nginx`. Only fields `image` of containers are images; an image name in an argument
 * or a ConfigMap is not recognized.
 */
import { err, ok, type Result } from "#base";
import { isJsonObject, type KubeObject } from "#kube";

export type ImageMirror = { readonly from: string; readonly to: string };

const CONTAINER_LISTS = new Set(["containers", "initContainers", "ephemeralContainers"]);
const PREFIX = /^[A-Za-z0-9][A-Za-z0-9._-]*(:[0-9]+)?(\/[A-Za-z0-9._-]+)*$/;

/** "registry.k8s.io=mirror.example.com/k8s" */
export function parseMirror(text: string): Result<ImageMirror, string> {
  const [from = "", to = "", ...more] = text.split("=");
  if (more.length > 0 || !PREFIX.test(from) || !PREFIX.test(to)) return err(`"${text}" is not FROM=TO with two prefixes of image names`);
  return ok({ from, to });
}

/** Sorted, each once. */
export function imagesOf(objects: readonly KubeObject[]): readonly string[] {
  const images = new Set<string>();
  for (const object of objects) mapImages(object, (image) => (images.add(image), image));
  return [...images].toSorted();
}

/** The same objects with mirrored names. */
export function mirrorImages(objects: readonly KubeObject[], mirrors: readonly ImageMirror[]): readonly KubeObject[] {
  if (mirrors.length === 0) return objects;
  return objects.map((object) => mapImages(object, (image) => mirroredName(image, mirrors) ?? image));
}

/** Undefined: no mirror has this image. The longest prefix decides. */
export function mirroredName(image: string, mirrors: readonly ImageMirror[]): string | undefined {
  const full = fullName(image);
  const fitting = mirrors.filter(({ from }) => full.startsWith(from) && /^([/:@]|$)/.test(full.slice(from.length)));
  const [best] = fitting.toSorted((one, other) => other.from.length - one.from.length);
  return best === undefined ? undefined : `${best.to}${full.slice(best.from.length)}`;
}

/** The first part is a registry if it has a dot or a port, or is "localhost". */
function fullName(image: string): string {
  const [first = "", ...rest] = image.split("/");
  if (rest.length === 0) return `docker.io/library/${image}`;
  return /[.:]/.test(first) || first === "localhost" ? image : `docker.io/${image}`;
}

function mapImages<T>(value: T, change: (image: string) => string): T {
  return mapFields(value, (name, item) =>
    CONTAINER_LISTS.has(name) && Array.isArray(item) ? item.map((one) => mapImage(one, change)) : item,
  );
}

function mapImage(container: unknown, change: (image: string) => string): unknown {
  if (!isJsonObject(container) || typeof container["image"] !== "string") return container;
  return { ...container, image: change(container["image"]) };
}

/** A copy of a JSON value in which `change` has been applied to every field, outer fields first. */
function mapFields<T>(value: T, change: (name: string, item: unknown) => unknown): T {
  return walk(value, change) as T;
}

function walk(value: unknown, change: (name: string, item: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => walk(item, change));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, walk(change(name, item), change)]));
}
