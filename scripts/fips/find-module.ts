/**
 * Looks for a FIPS module that works with this Node: LATTICE_FIPS_MODULE, the cache, the system's OpenSSL, and last a download. A found
 * module that does not load is skipped; LATTICE_FIPS_MODULE that does not load is an error, because the user wants to test that module.
 */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "#base";
import { runNode } from "../process/run-program.ts";
import { fipsEnvironment, opensslConfig } from "./openssl-config.ts";

export type FipsSetup = { readonly module: string; readonly config: string };
export type NoFips = { readonly kind: "unavailable" | "broken"; readonly message: string };

export type Search = {
  readonly env: NodeJS.ProcessEnv;
  /** A folder for configuration files; the lane deletes it afterwards. */
  readonly scratch: string;
  readonly cached: string;
  readonly system: readonly string[];
  readonly fetch: (target: string) => Promise<Result<string, string>>;
};

export const SYSTEM_MODULES: readonly string[] = [
  "/usr/lib/x86_64-linux-gnu/ossl-modules/fips.so",
  "/usr/lib/aarch64-linux-gnu/ossl-modules/fips.so",
  "/usr/lib64/ossl-modules/fips.so",
  "/usr/lib/ossl-modules/fips.so",
  "/usr/local/lib64/ossl-modules/fips.so",
  "/usr/local/lib/ossl-modules/fips.so",
];

export async function findModule(search: Search): Promise<Result<FipsSetup, NoFips>> {
  const named = search.env["LATTICE_FIPS_MODULE"];
  if (named !== undefined && named !== "") {
    const setup = existsSync(named) ? await tryModule(search, named) : undefined;
    return setup === undefined ? err({ kind: "broken", message: `LATTICE_FIPS_MODULE=${named} does not load into this Node` }) : ok(setup);
  }
  for (const module of [search.cached, ...search.system].filter((path) => existsSync(path))) {
    const setup = await tryModule(search, module);
    if (setup !== undefined) return ok(setup);
  }
  const fetched = await search.fetch(search.cached);
  if (!fetched.ok) return err({ kind: "unavailable", message: fetched.error });
  const setup = await tryModule(search, fetched.value);
  return setup === undefined ? err({ kind: "unavailable", message: "the fetched module does not load into this Node" }) : ok(setup);
}

async function tryModule(search: Search, module: string): Promise<FipsSetup | undefined> {
  const config = join(search.scratch, "openssl.cnf");
  await writeFile(config, opensslConfig({ path: module, bytes: await readFile(module) }));
  const probe = join(import.meta.dirname, "probe.ts");
  const ran = await runNode(probe, [], { cwd: search.scratch, env: fipsEnvironment(search.env, config) });
  return ran.code === 0 ? { module, config } : undefined;
}
