/**
 * Reads a bundle folder, once, when a program starts. Every file is checked against its digest before it is parsed.
 *
 * The folder has the files of `bundle.json` and no others: a file that is not listed is an error, because its author expects an effect.
 */
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { andThen, err, fromThrowing, ok, sha256Hex, textOfFile, type Result } from "#base";
import { jsonEqual } from "#kube";
import { MANIFEST_FILE, parseManifest, type BundleEntry } from "./bundle-manifest.ts";
import { missingComponent, type Bundle, type BundleComponent, type BundleError } from "./bundle.ts";
import { readObjects } from "./component-objects.ts";
import { imagesOf } from "./images.ts";

const MIB = 1024 * 1024;
const MAX_MANIFEST = MIB;
/** The limit of the YAML parser. */
const MAX_COMPONENT = 10 * MIB;

export function loadBundle(folder: string): Result<Bundle, BundleError> {
  const loaded = andThen(readManifest(folder), (entries) => readComponents(folder, entries));
  if (!loaded.ok) return err({ kind: "folder", message: `bundle ${folder}: ${loaded.error}` });
  const missing = missingComponent(loaded.value.keys());
  if (missing !== undefined)
    return err({ kind: "missing", message: `bundle ${folder}: component ${missing} is missing; make it again with lattice bundle` });
  return ok({ components: loaded.value });
}

function readManifest(folder: string): Result<readonly BundleEntry[], string> {
  const names = fromThrowing(
    () => readdirSync(folder),
    (thrown) => `cannot be read (${codeOf(thrown)}); make it with lattice bundle`,
  );
  if (!names.ok) return names;
  if (!names.value.includes(MANIFEST_FILE)) return err(`has no ${MANIFEST_FILE}; make it with lattice bundle`);
  return andThen(readText(join(folder, MANIFEST_FILE), MAX_MANIFEST), (text) =>
    andThen(parseManifest(text), (entries) => {
      const listed = new Set([MANIFEST_FILE, ...entries.map(({ file }) => file)]);
      const foreign = names.value.find((name) => !listed.has(name));
      return foreign === undefined ? ok(entries) : err(`${foreign} is not part of the bundle; remove it`);
    }),
  );
}

function readComponents(folder: string, entries: readonly BundleEntry[]): Result<ReadonlyMap<string, BundleComponent>, string> {
  const components = new Map<string, BundleComponent>();
  for (const entry of entries) {
    const component = readComponent(folder, entry);
    if (!component.ok) return component;
    components.set(entry.name, component.value);
  }
  return ok(components);
}

function readComponent(folder: string, { name, version, file, sha256, images }: BundleEntry): Result<BundleComponent, string> {
  const text = readText(join(folder, file), MAX_COMPONENT);
  if (!text.ok) return err(`${file}: ${text.error}`);
  if (sha256Hex(text.value) !== sha256)
    return err(`${file} was changed after the bundle was made: its SHA-256 is not that of ${MANIFEST_FILE}`);
  return andThen(readObjects(text.value, file), ({ objects }) => {
    if (!jsonEqual(imagesOf(objects), images)) return err(`${file} has other images than ${MANIFEST_FILE} lists; make the bundle again`);
    return ok({ name, version, objects, images });
  });
}

const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Regular files only; the size is checked before anything is read. */
function readText(path: string, limit: number): Result<string, string> {
  const read = fromThrowing(
    () => readLimited(path, limit),
    (thrown) => `cannot be read (${codeOf(thrown)})`,
  );
  return andThen(
    andThen(read, (result) => result),
    textOfFile,
  );
}

function readLimited(path: string, limit: number): Result<Buffer, string> {
  const file = openSync(path, FLAGS);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return err("is not a regular file");
    return stats.size > limit ? err(`is larger than ${limit / MIB} MiB`) : ok(readFileSync(file));
  } finally {
    closeSync(file);
  }
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : "unknown";
}
