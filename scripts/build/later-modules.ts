/**
 * Parts of a bundle that are loaded on first use, though the sources import them statically.
 *
 * `import()` would do the same, but make every function between the import and its use asynchronous. Node can also `require` a module
 * synchronously: here each import of a later part becomes an object whose getters load the part. So a later part must not be used while
 * modules are loaded: the start would be slower, or fail on a cycle.
 *
 * A part is one file with all modules that match; its entries are the modules that other files import. They are found by bundling: each
 * round may reach modules with imports of further parts.
 */
import { build, type Plugin } from "esbuild";

export type LaterPart = { readonly name: string; /** Matches the path of a module, with slashes. */ readonly holds: RegExp };

/** The entries of a part: paths of modules, in the order in which their exports are numbered. */
export type PartEntries = ReadonlyMap<string, readonly string[]>;

const ENTRY = "later-entry";
const PART = "later-part";
const MOST_ROUNDS = 6;

export class LaterModules {
  readonly #parts: readonly LaterPart[];
  readonly #entries = new Map<string, string[]>();
  readonly #names = new Map<string, Promise<readonly string[]>>();

  constructor(parts: readonly LaterPart[]) {
    this.#parts = parts;
  }

  /** Bundles until no new entry is found; the result of the last round is the bundle. */
  async settle<T>(run: (plugin: Plugin, entries: readonly { in: string; out: string }[]) => Promise<T>): Promise<T> {
    for (let round = 1; ; round += 1) {
      const before = this.#count();
      const entries = [...this.#entries.keys()].map((name) => ({ in: `${PART}:${name}`, out: fileOf(name) }));
      const result = await run(this.#plugin(), entries);
      if (this.#count() === before) return result;
      if (round === MOST_ROUNDS) throw new Error("the entries of the parts were not found within the limit of rounds");
    }
  }

  #count(): number {
    return [...this.#entries.values()].flat().length;
  }

  #partOf(path: string): LaterPart | undefined {
    return this.#parts.find(({ holds }) => holds.test(path.replaceAll("\\", "/")));
  }

  #plugin(): Plugin {
    return {
      name: "later-modules",
      setup: (builder) => {
        builder.onResolve({ filter: new RegExp(`^${PART}:`) }, ({ path }) => ({ path: path.slice(PART.length + 1), namespace: PART }));
        builder.onLoad({ filter: /.*/, namespace: PART }, ({ path }) => ({ contents: this.#partText(path), resolveDir: "/" }));
        builder.onResolve({ filter: /.*/ }, async ({ path, kind, importer, resolveDir, namespace, pluginData }) => {
          if (kind !== "import-statement" || pluginData === PART || namespace === PART || path.startsWith("node:")) return undefined;
          const found = await builder.resolve(path, { kind, importer, resolveDir, pluginData: PART });
          const part = found.errors.length > 0 || found.external ? undefined : this.#partOf(found.path);
          if (part === undefined || this.#partOf(importer) === part) return undefined;
          // .cjs: only for CommonJS the bundler keeps each property access where it is written
          return { path: `${found.path}.cjs`, namespace: ENTRY, sideEffects: false };
        });
        builder.onResolve({ filter: /^\.\/later-/, namespace: ENTRY }, ({ path }) => ({ path, external: true }));
        builder.onLoad({ filter: /.*/, namespace: ENTRY }, async ({ path }) => ({
          contents: await this.#entryText(path.slice(0, -".cjs".length)),
        }));
      },
    };
  }

  #partText(name: string): string {
    return (this.#entries.get(name) ?? []).map((path, at) => `export * as m${at} from ${JSON.stringify(path)};`).join("\n");
  }

  async #entryText(path: string): Promise<string> {
    const name = this.#partOf(path)?.name ?? "";
    const known = this.#entries.get(name) ?? [];
    if (!known.includes(path)) this.#entries.set(name, [...known, path]);
    const at = (this.#entries.get(name) ?? []).indexOf(path);
    if (!this.#names.has(path)) this.#names.set(path, exportsOf(path));
    const getters = ((await this.#names.get(path)) ?? []).map((key) => `get ${key}() { return load().${key}; }`);
    return `let loaded;
const load = () => (loaded ??= require("./${fileOf(name)}.js").m${at});
module.exports = { ${getters.join(", ")} };`;
  }
}

function fileOf(name: string): string {
  return `later-${name}`;
}

async function exportsOf(path: string): Promise<readonly string[]> {
  const alone: Plugin = {
    name: "alone",
    setup: (builder) =>
      builder.onResolve({ filter: /.*/ }, ({ path: other, kind }) =>
        kind === "entry-point" ? undefined : { path: other, external: true },
      ),
  };
  const built = await build({
    entryPoints: [path],
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    plugins: [alone],
    logLevel: "silent",
  });
  return Object.values(built.metafile.outputs).flatMap((output) => output.exports);
}
