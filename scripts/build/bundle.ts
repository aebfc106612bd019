/**
 * Bundles a published file (the program, an entry point) with every dependency, so that it starts quickly and needs no other package. ESM,
 * or CommonJS when its name ends with .cjs.
 *
 * Dependencies written in CommonJS call `require` for Node's own modules, and so do parts that are loaded later; ESM has none, so the
 * banner defines one, with the name that esbuild's shim uses.
 *
 * Before that, each file checks the version of Node: nothing but this check runs on an older one. So that an older Node can parse the file,
 * newer syntax is lowered (`target`) and Node's modules are not imported by names that it does not have (node-modules.ts).
 */
import { mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { build, type BuildOptions } from "esbuild";
import { describeThrown, fromPromise, type Result } from "#base";
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
};

export function bundle(entry: string, outfile: string, options: BundleOptions = {}): Promise<Result<void, string>> {
  return fromPromise(runEsbuild(entry, outfile, options), describeThrown);
}

async function runEsbuild(entry: string, outfile: string, { split, later = [] }: BundleOptions): Promise<void> {
  const options = optionsFor(outfile, split === "program" ? "exit" : "throw");
  if (split === undefined) {
    await build({ ...options, entryPoints: [entry], outfile, plugins: [nodeModules] });
    return;
  }
  const name = basename(outfile, extname(outfile));
  const outdir = dirname(outfile);
  const own = { in: entry, out: split === "program" ? name : `${name}/index` };
  const parts = await findLaterModules(entry, later, options);
  const { outputFiles } = await build({
    ...options,
    entryPoints: [own, ...parts.entryPoints.map((part) => ({ in: part.in, out: `${name}/${part.out}` }))],
    outdir,
    chunkNames: `${name}/[name]-[hash]`,
    splitting: true,
    plugins: [nodeModules, parts.plugin],
    write: false,
  });
  await mkdir(join(outdir, name), { recursive: true });
  for (const { path, contents } of outputFiles) await writeFile(path, contents);
  if (split === "library") await writeFile(join(outdir, `${name}.js`), `export * from "./${name}/index.js";\n`);
}

function optionsFor(outfile: string, onOldNode: "exit" | "throw"): BuildOptions {
  const esm = !outfile.endsWith(".cjs");
  return {
    bundle: true,
    platform: "node",
    target: "node20", // the oldest Node that can parse the check of its version
    format: esm ? "esm" : "cjs",
    // minified, because a smaller file starts faster; the source map has the names
    minify: true,
    sourcemap: "linked",
    banner: { js: `${checkNodeVersion(onOldNode)}${esm ? REQUIRE : ""}` },
    logLevel: "silent",
  };
}
