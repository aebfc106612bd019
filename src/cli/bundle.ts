/**
 * `lattice bundle`: makes a bundle folder from local manifests, or checks one. It fetches nothing.
 *
 * The folder must be empty: a file of an older bundle in it would be an error when the bundle is loaded.
 */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { collect, describeThrown, err, fromThrowing, ok, type Result } from "#base";
import { loadBundle, makeBundle, parseMirror, type ComponentSource, type MadeBundle } from "#bundle";
import { readComponentFiles } from "./bundle-sources.ts";
import { reportError, reportFailure, type CliIo, type ExitCode } from "./io.ts";

export type BundleFlags = {
  readonly out?: string;
  readonly check?: string;
  readonly from?: readonly string[];
  readonly pin?: readonly string[];
  readonly mirror?: readonly string[];
  readonly set?: readonly string[];
  readonly output: "text" | "json";
};

export function bundle(io: CliIo, flags: BundleFlags): ExitCode {
  if (flags.check !== undefined) return flags.out === undefined ? checkBundle(io, flags.check, flags) : reportFailure(io, ONE_OF);
  return flags.out === undefined ? reportFailure(io, ONE_OF) : writeBundle(io, flags.out, flags);
}

const ONE_OF = "use either --out FOLDER to make a bundle, or --check FOLDER to check one";

function checkBundle(io: CliIo, folder: string, { output }: BundleFlags): ExitCode {
  const path = resolve(io.cwd, folder);
  if (!existsSync(path)) return reportFailure(io, `${folder}: there is no such folder`);
  const loaded = loadBundle(path);
  if (!loaded.ok) return reportError(io, loaded.error.message);
  const components = [...loaded.value.components.values()].map(({ name, version, objects, images }) => ({
    name,
    version,
    objects: objects.length,
    images,
  }));
  printComponents(io, { folder, components, output }, "digests match");
  return 0;
}

function writeBundle(io: CliIo, folder: string, flags: BundleFlags): ExitCode {
  const settings = readSettings(flags);
  if (!settings.ok) return reportFailure(io, settings.error);
  const sources = readSources(io, flags);
  if (!sources.ok) return reportFailure(io, sources.error);
  const { mirrors, variables } = settings.value;
  const made = makeBundle(sources.value.sources, { mirrors, variables });
  if (!made.ok) return reportFailure(io, made.error.message);
  const written = writeFiles(resolve(io.cwd, folder), made.value);
  if (!written.ok) return reportFailure(io, `${folder} ${written.error}`);
  for (const text of [...sources.value.leftOut.map((file) => `left out: ${file}`), ...made.value.warnings]) io.stderr(`warning: ${text}\n`);
  printComponents(io, { folder, components: made.value.entries, output: flags.output }, "written");
  return 0;
}

function writeFiles(folder: string, { files }: MadeBundle): Result<void, string> {
  return fromThrowing(
    () => {
      mkdirSync(folder, { recursive: true });
      if (readdirSync(folder).length > 0) throw new Error("it is not empty; choose another folder");
      for (const [file, text] of files) writeFileSync(join(folder, file), text, { flag: "wx" });
    },
    (thrown) => `cannot be written: ${describeThrown(thrown)}`,
  );
}

type Settings = { readonly mirrors: Parameters<typeof makeBundle>[1]["mirrors"]; readonly variables: ReadonlyMap<string, string> };

function readSettings({ mirror = [], set = [] }: BundleFlags): Result<Settings, string> {
  const mirrors = collect(mirror.map(parseMirror));
  if (!mirrors.ok) return err(`--mirror: ${mirrors.error.join("; ")}`);
  const variables = readPairs("--set", set);
  return variables.ok ? ok({ mirrors: mirrors.value, variables: variables.value }) : variables;
}

/** NAME=VALUE, each name once. */
function readPairs(flag: string, texts: readonly string[]): Result<ReadonlyMap<string, string>, string> {
  const pairs = new Map<string, string>();
  for (const text of texts) {
    const at = text.indexOf("=");
    if (at < 1 || at === text.length - 1) return err(`${flag}: "${text}" is not NAME=VALUE`);
    if (pairs.has(text.slice(0, at))) return err(`${flag}: ${text.slice(0, at)} is given twice`);
    pairs.set(text.slice(0, at), text.slice(at + 1));
  }
  return ok(pairs);
}

type Sources = { readonly sources: readonly ComponentSource[]; readonly leftOut: readonly string[] };

function readSources(io: CliIo, { from = [], pin = [] }: BundleFlags): Result<Sources, string> {
  const [paths, versions] = [readPairs("--from", from), readPairs("--pin", pin)];
  if (!paths.ok) return paths;
  if (!versions.ok) return versions;
  const stray = [...versions.value.keys()].find((name) => !paths.value.has(name));
  if (stray !== undefined) return err(`--pin ${stray}: there is no --from for it`);
  const sources: ComponentSource[] = [];
  const leftOut: string[] = [];
  for (const [name, path] of paths.value) {
    const version = versions.value.get(name);
    if (version === undefined) return err(`component ${name} has no version; add --pin ${name}=VERSION`);
    const read = readComponentFiles(io, path);
    if (!read.ok) return read;
    sources.push({ name, version, files: read.value.files });
    leftOut.push(...read.value.leftOut);
  }
  return ok({ sources, leftOut });
}

type Printed = {
  readonly folder: string;
  readonly components: readonly { name: string; version: string; objects: number; images: readonly string[] }[];
  readonly output: BundleFlags["output"];
};

function printComponents(io: CliIo, { folder, components, output }: Printed, result: string): void {
  if (output === "json") {
    const listed = components.map(({ name, version, objects, images }) => ({ name, version, objects, images }));
    io.stdout(`${JSON.stringify({ folder, components: listed }, null, 2)}\n`);
    return;
  }
  for (const { name, version, objects, images } of components) {
    io.stdout(`${name} ${version}: ${count(objects, "object")}${images.length === 0 ? "" : `, ${images.join(", ")}`}\n`);
  }
  io.stdout(`${folder}: ${count(components.length, "component")}, ${result}\n`);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
