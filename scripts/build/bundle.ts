/**
 * A published file (the program, an entry point): one ESM file with every dependency inside, so that it starts quickly and
 * nothing can go missing.
 *
 * Dependencies written in CommonJS call `require` for Node's own modules; ESM has none, so the banner makes one. Its name
 * is the one that esbuild's shim looks for.
 */
import { build } from "esbuild";
import { describeThrown, fromPromise, type Result } from "#base";

const BANNER = `import { createRequire } from "node:module";
const require = createRequire(import.meta.url);`;

export function bundle(entry: string, outfile: string): Promise<Result<void, string>> {
  return fromPromise(runEsbuild(entry, outfile), describeThrown);
}

async function runEsbuild(entry: string, outfile: string): Promise<void> {
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    sourcemap: "linked",
    banner: { js: BANNER },
    logLevel: "silent",
  });
}
