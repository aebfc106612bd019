/**
 * A published file (the program, an entry point): one file with every dependency inside, so that it starts quickly and
 * nothing can go missing. ESM, or CommonJS when its name ends with .cjs.
 *
 * Dependencies written in CommonJS call `require` for Node's own modules; ESM has none, so the banner makes one. Its name
 * is the one that esbuild's shim looks for.
 */
import { basename, dirname, extname } from "node:path";
import { build } from "esbuild";
import { describeThrown, fromPromise, type Result } from "#base";

const BANNER = `import { createRequire } from "node:module";
const require = createRequire(import.meta.url);`;

export type BundleOptions = {
  /** What is imported when it is needed becomes a file of its own, so that it is also read when it is needed. ESM only. */
  readonly split?: boolean;
};

export function bundle(entry: string, outfile: string, options: BundleOptions = {}): Promise<Result<void, string>> {
  return fromPromise(runEsbuild(entry, outfile, options), describeThrown);
}

async function runEsbuild(entry: string, outfile: string, { split = false }: BundleOptions): Promise<void> {
  const esm = !outfile.endsWith(".cjs");
  const name = basename(outfile, extname(outfile));
  const place = split ? { outdir: dirname(outfile), entryNames: name, chunkNames: `${name}/[name]-[hash]`, splitting: true } : { outfile };
  await build({
    entryPoints: [entry],
    ...place,
    bundle: true,
    platform: "node",
    target: "node24",
    format: esm ? "esm" : "cjs",
    sourcemap: "linked",
    ...(esm ? { banner: { js: BANNER } } : {}),
    logLevel: "silent",
  });
}
