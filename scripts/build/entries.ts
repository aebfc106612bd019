/** The published files of package.json's `bin` and `exports`, with their sources. */
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { collect, err, ok, type Result } from "#base";
import { projectRoot } from "../process/project.ts";
import { bundle, type BundleOptions } from "./bundle.ts";
import { LATER } from "./later-parts.ts";

export type Entry = { readonly file: string; readonly source: string; readonly split?: BundleOptions["split"] };

/** `split`: most runs need only a part of it: a command, or an API server without its controllers. */
export const ENTRIES: readonly Entry[] = [
  { file: "lattice.js", source: "src/bin/lattice.ts", split: "program" },
  { file: "patch.js", source: "src/patch/index.ts" },
  { file: "compile.js", source: "src/compile/index.ts" },
  { file: "kube-server.js", source: "src/embedded-cluster/index.ts", split: "library" },
  // Jest runs tests as CommonJS and cannot load ESM there
  { file: "kube-server.cjs", source: "src/embedded-cluster/index.ts" },
];

/** The files that they were made of, or the errors, one line per file that was not built. */
export async function buildEntries(
  dist: string,
  entries: readonly Entry[] = ENTRIES,
): Promise<Result<readonly string[], readonly string[]>> {
  const built = collect(await Promise.all(entries.map((entry) => buildEntry(dist, entry))));
  return built.ok ? ok([...new Set(built.value.flat())]) : built;
}

async function buildEntry(dist: string, { file, source, split }: Entry): Promise<Result<readonly string[], string>> {
  const bundled = await bundle(join(projectRoot, source), join(dist, file), { split, later: LATER });
  if (!bundled.ok) return err(`dist/${file} was not built: ${bundled.error.message}`);
  if (source.startsWith("src/bin/")) await chmod(join(dist, file), 0o755);
  return bundled;
}
