/** Files: one volume for the plain and one for the sensitive files of a container, each file mounted with a subPath. */
import type { JsonObject } from "#kube";
import type { RenderedFile } from "../rendering/render-file.ts";
import type { RenderedContainer } from "../rendering/render-service.ts";
import { configObjects, homeOf, type ConfigObjects } from "./config-objects.ts";
import { groupMode } from "./pod-security-context.ts";
import { configName, fileKeys, fileVolumeName, type WorkloadOwner } from "./names.ts";

export type CompiledFiles = {
  readonly objects: ConfigObjects;
  readonly volumes: readonly (JsonObject & { readonly name: string })[];
  readonly mounts: readonly JsonObject[];
};

const OPEN_MODE = 0o644;
const CLOSED_MODE = 0o600;

const VOLUMES = { open: "files", closed: "files-secret", outside: "files-external" } as const;
type Home = keyof typeof VOLUMES;

/** Volume names that are reserved for files, even without files. */
export const RESERVED_VOLUMES: ReadonlySet<string> = new Set(Object.values(VOLUMES));

export function compileFiles(owner: WorkloadOwner, container: RenderedContainer): CompiledFiles {
  const { name, files } = container;
  const keys = fileKeys(files.keys());
  const keyOf = (path: string) => keys.get(path) ?? path;
  const names = {
    open: configName(owner, name, "files"),
    closed: configName(owner, name, "files-secret"),
    outside: configName(owner, name, "files-external"),
  };
  const contents = new Map([...files].map(([path, { content }]) => [keyOf(path), content]));
  const objects = configObjects({ owner, names, types: { open: "files", closed: "files" }, contents });
  const volumeOf = (home: Home) => fileVolumeName(owner, name, VOLUMES[home]);
  const mounts = [...files].map(([path, { content }]) => ({
    name: volumeOf(homeOf(content)),
    mountPath: path,
    subPath: keyOf(path),
    readOnly: true,
  }));
  const volumes = (["open", "closed", "outside"] as const).flatMap((home) => {
    const here = [...files].filter(([, { content }]) => homeOf(content) === home);
    return here.length === 0 ? [] : [volumeFor(home, { volume: volumeOf(home), object: names[home] }, itemsOf(here, keyOf, home))];
  });
  return { objects, volumes, mounts };
}

/** Items are listed only when one of them differs from the defaults of the volume. */
function itemsOf(
  files: readonly (readonly [string, RenderedFile])[],
  keyOf: (path: string) => string,
  home: Home,
): readonly JsonObject[] | undefined {
  const usual = home === "open" ? OPEN_MODE : CLOSED_MODE;
  if (files.every(([, { mode }]) => mode === usual)) return undefined;
  return files.map(([path, { mode }]) => ({ key: keyOf(path), path: keyOf(path), mode: groupMode(mode) }));
}

type Names = { readonly volume: string; readonly object: string };

function volumeFor(
  home: Home,
  { volume, object }: Names,
  items: readonly JsonObject[] | undefined,
): JsonObject & { readonly name: string } {
  const listed = items === undefined ? {} : { items };
  if (home === "open") return { name: volume, configMap: { name: object, defaultMode: OPEN_MODE, ...listed } };
  return { name: volume, secret: { secretName: object, defaultMode: CLOSED_MODE, ...listed } };
}
