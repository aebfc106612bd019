/** `bundle.json`: the components of a bundle folder, their versions, digests and images. Its parser rejects unknown and duplicate names. */
import { err, ok, type Result } from "#base";
import { field, isJsonObject, parseJson, type Json } from "#kube";
import { componentNameFault } from "./bundle.ts";

export const MANIFEST_FILE = "bundle.json";
const FORMAT = 1;

export type BundleEntry = {
  readonly name: string;
  readonly version: string;
  /** Always NAME.yaml: a manifest cannot name a file outside its folder. */
  readonly file: string;
  readonly sha256: string;
  readonly images: readonly string[];
};

export function formatManifest(entries: readonly BundleEntry[]): string {
  const components = entries.map(({ name, version, file, sha256, images }) => ({ name, version, file, sha256, images }));
  return `${JSON.stringify({ format: FORMAT, components }, null, 2)}\n`;
}

/** One line without spaces: "v1.14.2". */
const VERSION = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/;

export function versionFault(version: string): string | undefined {
  return VERSION.test(version) ? undefined : `"${version}" is not a version`;
}

export function parseManifest(text: string): Result<readonly BundleEntry[], string> {
  const parsed = parseJson(text);
  if (!parsed.ok) return err(`${MANIFEST_FILE}: ${parsed.error}`);
  if (field(parsed.value, "format") !== FORMAT)
    return err(`${MANIFEST_FILE}: format: must be ${FORMAT}; make the bundle again with lattice bundle`);
  const components = field(parsed.value, "components");
  if (!Array.isArray(components)) return err(`${MANIFEST_FILE}: components: must be a list`);
  const entries: BundleEntry[] = [];
  for (const [index, value] of components.entries()) {
    const entry = parseEntry(value);
    if (!entry.ok) return err(`${MANIFEST_FILE}: components[${index}]${entry.error}`);
    if (entries.some(({ name }) => name === entry.value.name)) return err(`${MANIFEST_FILE}: component ${entry.value.name} is there twice`);
    entries.push(entry.value);
  }
  return ok(entries);
}

function parseEntry(value: Json): Result<BundleEntry, string> {
  if (!isJsonObject(value)) return err(": must be an object");
  const [name, version, file] = [field(value, "name"), field(value, "version"), field(value, "file")];
  const [sha256, images] = [field(value, "sha256"), field(value, "images")];
  const fault = typeof name === "string" ? componentNameFault(name) : "must be text";
  if (typeof name !== "string" || fault !== undefined) return err(`.name: ${fault ?? ""}`);
  if (typeof version !== "string" || versionFault(version) !== undefined) return err(".version: must be a version");
  if (file !== `${name}.yaml`) return err(`.file: must be ${name}.yaml`);
  if (typeof sha256 !== "string" || !/^[0-9a-f]{64}$/.test(sha256)) return err(".sha256: must be 64 hexadecimal digits");
  if (!Array.isArray(images) || !images.every((image) => typeof image === "string")) return err(".images: must be a list of text");
  return ok({ name, version, file, sha256, images });
}
