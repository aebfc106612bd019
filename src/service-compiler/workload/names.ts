/** Names of objects and labels. */
import { sha256Hex } from "#base";
import { parseDataKey, type ObjectMeta } from "#kube";

export const SERVICE_LABEL = "lattice.dev/service";
export const CONFIG_TYPE_LABEL = "lattice.dev/config-type";
export const CONFIG_HASH_ANNOTATION = "lattice.dev/config-hash";

export function labelsOf(service: string): Readonly<Record<string, string>> {
  return { "app.kubernetes.io/name": service, "app.kubernetes.io/managed-by": "lattice" };
}

export function metadataFor(
  owner: Pick<WorkloadOwner, "name" | "namespace">,
  name: string,
  more: Readonly<Record<string, string>> = {},
): ObjectMeta {
  return { name, namespace: owner.namespace, labels: { ...labelsOf(owner.name), ...more } };
}

/** The service that objects are created for. */
export type WorkloadOwner = {
  readonly name: string;
  readonly namespace: string;
  /** With several containers, each has config objects of its own. */
  readonly several: boolean;
};

export function configName({ name, several }: WorkloadOwner, container: string, suffix: string): string {
  return several ? `${name}-${container}-${suffix}` : `${name}-${suffix}`;
}

const LONGEST_VOLUME = 63;
const HASH_LENGTH = 8;

function shortHash(text: string): string {
  return sha256Hex(text).slice(0, HASH_LENGTH);
}

/** `/etc/app/config.yaml` is `etc-app-config.yaml`. Two paths that would share a key, and texts that are not legal keys, get a hash as suffix. */
export function fileKeys(paths: Iterable<string>): ReadonlyMap<string, string> {
  const all = [...paths];
  const plain = all.map((path) => path.replace(/^\/+/, "").replaceAll("/", "-"));
  const uses = new Map<string, number>();
  for (const key of plain) uses.set(key, (uses.get(key) ?? 0) + 1);
  return new Map(
    all.map((path, at) => {
      const key = plain[at] ?? "";
      const legal = parseDataKey(key).ok && key !== "__proto__";
      return [path, legal && uses.get(key) === 1 ? key : `${key.replace(/[^-_a-zA-Z0-9]/g, "-").slice(0, 200)}-${shortHash(path)}`];
    }),
  );
}

/** A name for a volume, from its first mount path. The hash includes the source, because a path can have another source in each container. */
export function volumeName(path: string, source: string, taken: ReadonlySet<string>): string {
  const plain = path.replace(/^\/+/, "").replaceAll("/", "-");
  if (/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(plain) && plain.length <= LONGEST_VOLUME && !taken.has(plain)) return plain;
  return hashedVolume(plain, `${path} ${source}`);
}

/** The volume with the files of a container; a long container name is truncated. */
export function fileVolumeName({ several }: WorkloadOwner, container: string, volume: string): string {
  const name = several ? `${container}-${volume}` : volume;
  return name.length <= LONGEST_VOLUME ? name : hashedVolume(name, name);
}

/** In patch mode: a name that no volume of the owner has. */
export function patchVolumeName(name: string): string {
  const prefixed = `lattice-${name}`;
  return prefixed.length <= LONGEST_VOLUME ? prefixed : hashedVolume(prefixed, prefixed);
}

function hashedVolume(plain: string, hashed: string): string {
  const base = plain
    .toLowerCase()
    .replace(/[^-a-z0-9]/g, "-")
    .replace(/^-+/, "")
    .slice(0, LONGEST_VOLUME - HASH_LENGTH - 1)
    .replace(/-+$/, "");
  return `${base === "" ? "volume" : base}-${shortHash(hashed)}`;
}
