/**
 * Bundles a published file (the program, an entry point) with every dependency, so that it starts quickly and needs no other package. ESM,
 * or CommonJS when its name ends with .cjs.
 *
 * Dependencies written in CommonJS call `require` for Node's own modules, and so do parts that are loaded later; ESM has none, so the
 * banner defines one, with the name that esbuild's shim uses.
 *
 * Before that, each file checks the version of Node: nothing but this check runs on an older one. So that an older Node can parse the file,
 * newer syntax is lowered (`target`) and Node's modules are not imported by names that it does not have (node-modules.ts).
 *
 * Nothing here runs code of src/: the build of a clone has to report an error in any source.
 */
import { mkdir, open } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import { build, type BuildFailure, type BuildOptions, type Metafile } from "esbuild";
import type { Result } from "#base";
import { findLaterModules, type LaterPart } from "./later-modules.ts";
import { nodeModules } from "./node-modules.ts";
import { checkNodeVersion } from "./node-version.ts";

const REQUIRE = `const require = (id) =>
  process.getBuiltinModule(id) ?? process.getBuiltinModule("node:module").createRequire(import.meta.url)(id);`;

export type BundleOptions = {
  /**
   * Dynamic imports become separate files in a folder beside the bundle, and are read on demand. ESM only. A `program` keeps its path,
   * because it finds its files relative to it; a `library` is completely in the folder, and the file only re-exports it.
   */
  readonly split?: "program" | "library" | undefined;
  /** Parts that are loaded on first use, though they are imported statically; only with `split`. */
  readonly later?: readonly LaterPart[];
  /**
   * The folder of the clone that it is for: the program finds its files there. Without source maps, which take five times the space of the
   * program: `LATTICE_SOURCE=1` shows real lines.
   */
  readonly clone?: string;
};

/** `source`: an error in the sources, with file and line. */
export type BundleError = { readonly kind: "source" | "build"; readonly message: string };

const MOST_ERRORS = 10;
const COLUMNS = 160;

/** The files that it was made of: absolute paths. */
export async function bundle(entry: string, outfile: string, options: BundleOptions = {}): Promise<Result<readonly string[], BundleError>> {
  try {
    return { ok: true, value: filesOf(await runEsbuild(entry, outfile, options)) };
  } catch (error) {
    return { ok: false, error: describeFailure(error as BuildFailure) };
  }
}

async function runEsbuild(entry: string, outfile: string, bundleOptions: BundleOptions): Promise<Metafile> {
  const { split, later = [] } = bundleOptions;
  const options = optionsFor(outfile, bundleOptions);
  if (split === undefined) return (await build({ ...options, entryPoints: [entry], outfile, plugins: [nodeModules] })).metafile;
  const name = basename(outfile, extname(outfile));
  const outdir = dirname(outfile);
  const own = { in: entry, out: split === "program" ? name : `${name}/index` };
  const parts = await findLaterModules(entry, later, options);
  const { outputFiles, metafile } = await build({
    ...options,
    entryPoints: [own, ...parts.entryPoints.map((part) => ({ in: part.in, out: `${name}/${part.out}` }))],
    outdir,
    chunkNames: `${name}/[name]-[hash]`,
    splitting: true,
    plugins: [nodeModules, parts.plugin],
    write: false,
  });
  await mkdir(join(outdir, name), { recursive: true });
  await Promise.all(outputFiles.map(({ path, contents }) => writeDurably(path, contents)));
  if (split === "library") await writeDurably(join(outdir, `${name}.js`), `export * from "./${name}/index.js";\n`);
  return metafile;
}

/** On the disk before it is used: a file that a loss of power cuts short would be taken for a complete one. */
async function writeDurably(path: string, contents: string | Uint8Array): Promise<void> {
  await using file = await open(path, "w");
  await file.writeFile(contents);
  await file.sync();
}

/** Without modules of plugins, whose paths begin with a namespace. */
function filesOf({ inputs }: Metafile): readonly string[] {
  return Object.keys(inputs)
    .filter((path) => !/^[\w-]{2,}:/.test(path))
    .map((path) => resolve(path));
}

function describeFailure({ errors, message }: Partial<BuildFailure> & Error): BundleError {
  const located = (errors ?? []).flatMap(({ location, text }) =>
    location === null ? [] : [`${location.file}:${location.line}:${location.column + 1}: ${text}`],
  );
  if (located.length === 0) return { kind: "build", message };
  const more = located.length > MOST_ERRORS ? [`and ${located.length - MOST_ERRORS} more`] : [];
  return { kind: "source", message: [...located.slice(0, MOST_ERRORS), ...more].join("\n") };
}

function optionsFor(outfile: string, { split, clone }: BundleOptions) {
  const esm = !outfile.endsWith(".cjs");
  return {
    bundle: true,
    platform: "node",
    target: "node20", // the oldest Node that can parse the check of its version
    format: esm ? "esm" : "cjs",
    // minified, because a smaller file starts faster; the source map has the names
    minify: true,
    ...(clone === undefined ? { sourcemap: "linked" } : { define: { LATTICE_CLONE: JSON.stringify(clone) }, lineLimit: COLUMNS }),
    banner: { js: `${checkNodeVersion(split === "program" ? "exit" : "throw")}${esm ? REQUIRE : ""}` },
    logLevel: "silent",
    metafile: true,
  } as const satisfies BuildOptions;
}
