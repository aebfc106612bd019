/** Named volumes, which become PersistentVolumeClaims. Bind mounts of host folders and tmpfs mounts are not converted. */
import { isJsonObject, type Json, type JsonObject } from "#kube";
import { dnsLabel } from "./names.ts";
import { scalarText } from "./text.ts";
import type { Notices } from "./notice.ts";

export type Mounted = { readonly mounts: JsonObject; readonly resources: JsonObject };

const SIZE = "1Gi";

/** `owner`: the service, since a claim belongs to one. `taken`: names of services, which are names of resources too. */
export type MountContext = { readonly owner: string; readonly taken: ReadonlySet<string>; readonly notices: Notices };

export function mountedVolumes(volumes: Json | undefined, { owner, taken, notices }: MountContext): Mounted {
  const mounts = new Map<string, JsonObject>();
  const resources = new Map<string, JsonObject>();
  if (volumes !== undefined && volumes !== null && !Array.isArray(volumes)) notices.warn("is no list, and is left out");
  for (const [at, item] of (Array.isArray(volumes) ? (volumes as readonly Json[]) : []).entries()) {
    const mount = isJsonObject(item) ? longForm(item, notices.at(at)) : shortForm(item, notices.at(at));
    if (mount === undefined) continue;
    const { source, target, readOnly } = mount;
    if (mounts.has(target)) {
      notices.at(at).warn(`mounts ${target} a second time, and is left out`);
      continue;
    }
    const label = dnsLabel(source);
    const resource = taken.has(label) ? `${label}-volume` : label;
    if (!resources.has(resource))
      notices.at(at).note(`becomes a claim of ${SIZE} for ${owner} alone; set params.size of resource ${resource}`);
    resources.set(resource, { type: "volume", id: dnsLabel(`${owner}-${source}`), params: { size: SIZE } });
    mounts.set(target, { source: `\${resources.${resource}.ref}`, ...(readOnly ? { readOnly } : {}) });
  }
  return { mounts: Object.fromEntries(mounts), resources: Object.fromEntries(resources) };
}

type Mount = { readonly source: string; readonly target: string; readonly readOnly: boolean };

function shortForm(item: Json, notices: Notices): Mount | undefined {
  const text = scalarText(item, notices);
  const [source, target, mode = ""] = text?.split(":") ?? [];
  if (source === undefined) return notices.warn("is no volume that can be read, and is left out");
  if (target === undefined) return notices.warn("is a volume without a name, and is left out; name it to keep its data");
  return checked({ source, target, readOnly: mode.split(",").includes("ro") }, notices);
}

function longForm(item: JsonObject, notices: Notices): Mount | undefined {
  const { type = "volume", source, target, read_only: readOnly } = item;
  if (type !== "volume") return notices.warn(`is of type ${JSON.stringify(type)}, and is left out; only named volumes are converted`);
  if (typeof source !== "string" || typeof target !== "string") return notices.warn("needs a source and a target, and is left out");
  return checked({ source, target, readOnly: readOnly === true }, notices);
}

/** A source that is a path is a bind mount of a host folder. */
function checked(mount: Mount, notices: Notices): Mount | undefined {
  const target = mount.target.replace(/(?<=.)\/+$/, "");
  if (/^[./~\\]|^[A-Za-z]:/.test(mount.source))
    return notices.warn(`mounts ${mount.source} of the host, and is left out; put files that it needs into the image, or under files`);
  if (!/^\/.{0,510}$/.test(target)) return notices.warn("is not mounted at an absolute path, and is left out");
  return { ...mount, target };
}
