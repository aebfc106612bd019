/**
 * Parts of a bundle that are loaded on first use, though the sources import them statically.
 *
 * `import()` would do the same, but make every function between the import and its use asynchronous. Node can also `require` a module
 * synchronously: here each import of a later part becomes an object whose getters load the part. So a later part must not be used while
 * modules are loaded: the start would be slower, or fail on a cycle.
 *
 * A part is one file with all modules that match; its entries are the modules that other files import. They are found by a first run of the
 * bundler, which writes nothing. So the second run needs a callback only for those imports: one for each import takes three times as long.
 */
import { resolve } from "node:path";
import { build, type BuildOptions, type Metafile, type Plugin } from "esbuild";

export type LaterPart = { readonly name: string; /** Matches the path of a module, with slashes. */ readonly holds: RegExp };

export type LaterModules = {
  readonly plugin: Plugin;
  /** The files of the parts. */ readonly entryPoints: readonly { in: string; out: string }[];
};

/** An import of a module of a part from outside of the part. */
type Crossing = { readonly importer: string; /** As it is written. */ readonly specifier: string; readonly target: string };

/** Of a part: paths of the modules that others import, in the order in which they are numbered. */
type PartEntries = ReadonlyMap<string, readonly string[]>;

const ENTRY = "later-entry";
const PART = "later-part";

export async function findLaterModules(entry: string, parts: readonly LaterPart[], options: BuildOptions): Promise<LaterModules> {
  const partOf = (path: string): string | undefined => parts.find(({ holds }) => holds.test(path.replaceAll("\\", "/")))?.name;
  const crossings = parts.length === 0 ? [] : crossingsOf(await scan(entry, options), partOf);
  const targets = [...new Set(crossings.map(({ target }) => target))].toSorted();
  const entries: PartEntries = Map.groupBy(targets, (target) => partOf(target) ?? "");
  const plugin = laterPlugin({ crossings, entries, names: await exportsOf(targets), partOf });
  return { plugin, entryPoints: [...entries.keys()].map((name) => ({ in: `${PART}:${name}`, out: fileOf(name) })) };
}

/** All modules and their imports, without any output. */
async function scan(entry: string, options: BuildOptions): Promise<Metafile> {
  const { banner: _banner, ...rest } = options;
  const scanned = await build({
    ...rest,
    entryPoints: [entry],
    outdir: "out",
    metafile: true,
    write: false,
    minify: false,
    sourcemap: false,
  });
  return scanned.metafile;
}

function crossingsOf({ inputs }: Metafile, partOf: (path: string) => string | undefined): readonly Crossing[] {
  return Object.entries(inputs).flatMap(([path, { imports }]) => {
    const importer = resolve(path);
    const [own, statements] = [partOf(importer), imports.filter(({ kind, external }) => kind === "import-statement" && external !== true)];
    return statements.flatMap(({ path: to, original }) => {
      const target = resolve(to);
      const part = partOf(target);
      return part === undefined || part === own ? [] : [{ importer, specifier: original ?? to, target }];
    });
  });
}

type PluginInput = {
  readonly crossings: readonly Crossing[];
  readonly entries: PartEntries;
  readonly names: ReadonlyMap<string, readonly string[]>;
  readonly partOf: (path: string) => string | undefined;
};

function laterPlugin({ crossings, entries, names, partOf }: PluginInput): Plugin {
  const targets = new Map(crossings.map(({ importer, specifier, target }) => [`${importer}\0${specifier}`, target]));
  return {
    name: "later-modules",
    setup: (builder) => {
      builder.onResolve({ filter: new RegExp(`^${PART}:`) }, ({ path }) => ({ path: path.slice(PART.length + 1), namespace: PART }));
      builder.onLoad({ filter: /.*/, namespace: PART }, ({ path }) => ({ contents: partText(entries.get(path) ?? []), resolveDir: "/" }));
      builder.onResolve({ filter: anyOf(crossings.map(({ specifier }) => specifier)) }, ({ path, kind, importer }) => {
        const target = kind === "import-statement" ? targets.get(`${importer}\0${path}`) : undefined;
        // .cjs: only for CommonJS the bundler keeps each property access where it is written
        return target === undefined ? undefined : { path: `${target}.cjs`, namespace: ENTRY, sideEffects: false };
      });
      builder.onResolve({ filter: /^\.\/later-/, namespace: ENTRY }, ({ path }) => ({ path, external: true }));
      builder.onLoad({ filter: /.*/, namespace: ENTRY }, ({ path: cjs }) => {
        const path = cjs.slice(0, -".cjs".length);
        const part = partOf(path) ?? "";
        const at = (entries.get(part) ?? []).indexOf(path);
        return { contents: entryText(`require("./${fileOf(part)}.js").m${at}`, names.get(path) ?? []) };
      });
    },
  };
}

/** Exactly these texts; without any, a filter that matches nothing. */
function anyOf(texts: readonly string[]): RegExp {
  const escaped = [...new Set(texts)].map((text) => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`));
  return escaped.length === 0 ? /^\0$/ : new RegExp(`^(?:${escaped.join("|")})$`);
}

function partText(entries: readonly string[]): string {
  return entries.map((path, at) => `export * as m${at} from ${JSON.stringify(path)};`).join("\n");
}

function entryText(load: string, names: readonly string[]): string {
  const getters = names.map((key) => `get ${key}() { return load().${key}; }`);
  return `let loaded;
const load = () => (loaded ??= ${load});
module.exports = { ${getters.join(", ")} };`;
}

function fileOf(name: string): string {
  return `later-${name}`;
}

/** The names that each module exports. */
async function exportsOf(paths: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  if (paths.length === 0) return new Map();
  const alone: Plugin = {
    name: "alone",
    setup: (builder) =>
      builder.onResolve({ filter: /.*/ }, ({ path: other, kind }) =>
        kind === "entry-point" ? undefined : { path: other, external: true },
      ),
  };
  const options: BuildOptions = { bundle: true, write: false, format: "esm", plugins: [alone], logLevel: "silent" };
  const built = await build({ ...options, entryPoints: [...paths], outdir: "out", metafile: true });
  return new Map(Object.values(built.metafile.outputs).map(({ entryPoint = "", exports }) => [resolve(entryPoint), exports]));
}
