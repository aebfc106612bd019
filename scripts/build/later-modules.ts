/**
 * Parts of a bundle that are read when they are first used, though the sources import them as usual.
 *
 * `import()` would do the same, and make every function between the import and its use wait for it. Node can also `require` a module
 * synchronously: here each import of a later part becomes an object whose properties load the part when they are read. So nothing of a later
 * part may be used while modules are loaded; the start of a server would then pay for it, or fail on a circle.
 *
 * A part is one file with everything that matches; the doors into it are the modules that others import. They are found by bundling: each
 * round may reach modules with imports of further parts.
 */
import { build, type Plugin } from "esbuild";

export type LaterPart = { readonly name: string; /** Of the path of a module, with slashes. */ readonly holds: RegExp };

/** A part's doors: path of the module, in the order in which its exports are numbered. */
export type Doors = ReadonlyMap<string, readonly string[]>;

const DOOR = "later-door";
const PART = "later-part";
const MOST_ROUNDS = 6;

export class LaterModules {
  readonly #parts: readonly LaterPart[];
  readonly #doors = new Map<string, string[]>();
  readonly #names = new Map<string, Promise<readonly string[]>>();

  constructor(parts: readonly LaterPart[]) {
    this.#parts = parts;
  }

  /** Bundles until no new door is found; the last round's is the bundle. */
  async settle<T>(run: (plugin: Plugin, entries: readonly { in: string; out: string }[]) => Promise<T>): Promise<T> {
    for (let round = 1; ; round += 1) {
      const before = this.#count();
      const entries = [...this.#doors.keys()].map((name) => ({ in: `${PART}:${name}`, out: fileOf(name) }));
      const result = await run(this.#plugin(), entries);
      if (this.#count() === before) return result;
      if (round === MOST_ROUNDS) throw new Error("the parts of the bundle lead to ever new parts");
    }
  }

  #count(): number {
    return [...this.#doors.values()].flat().length;
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
          // the ending says CommonJS: only of such an import are the reads left where they are written
          return { path: `${found.path}.cjs`, namespace: DOOR, sideEffects: false };
        });
        builder.onResolve({ filter: /^\.\/later-/, namespace: DOOR }, ({ path }) => ({ path, external: true }));
        builder.onLoad({ filter: /.*/, namespace: DOOR }, async ({ path }) => ({
          contents: await this.#doorText(path.slice(0, -".cjs".length)),
        }));
      },
    };
  }

  #partText(name: string): string {
    return (this.#doors.get(name) ?? []).map((path, at) => `export * as m${at} from ${JSON.stringify(path)};`).join("\n");
  }

  async #doorText(path: string): Promise<string> {
    const name = this.#partOf(path)?.name ?? "";
    const doors = this.#doors.get(name) ?? [];
    if (!doors.includes(path)) this.#doors.set(name, [...doors, path]);
    const at = (this.#doors.get(name) ?? []).indexOf(path);
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
