import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { err, ok, type Result } from "#base";
import { addFiles, fileTree } from "../../test/builders/file-tree.ts";
import { cacheFolder } from "../process/cache-folder.ts";
import { findModule, type Search } from "./find-module.ts";
import { fipsEnvironment, opensslConfig } from "./openssl-config.ts";

describe("opensslConfig", () => {
  it("names the module and its integrity code, as openssl fipsinstall writes it", () => {
    const config = opensslConfig({ path: "/x/fips.so", bytes: new Uint8Array() });
    expect(config).toContain("module = /x/fips.so\n");
    expect(config).toMatch(/^module-mac = ([0-9A-F]{2}:){31}[0-9A-F]{2}$/m);
  });

  it("does not configure the openssl command: it has no section for it", () => {
    expect(opensslConfig({ path: "/x/fips.so", bytes: new Uint8Array() })).not.toContain("openssl_conf");
  });
});

describe("fipsEnvironment", () => {
  const rows: { name: string; env: NodeJS.ProcessEnv; want: string }[] = [
    { name: "sets Node's options", env: {}, want: `--enable-fips --openssl-config="/a b/c.cnf"` },
    {
      name: "keeps those that are set",
      env: { NODE_OPTIONS: "--no-warnings" },
      want: `--no-warnings --enable-fips --openssl-config="/a b/c.cnf"`,
    },
  ];
  it.each(rows)("$name", ({ env, want }) => {
    expect(fipsEnvironment(env, "/a b/c.cnf")["NODE_OPTIONS"]).toBe(want);
  });
});

describe("findModule", () => {
  /** Without NODE_OPTIONS: in the FIPS lane it would enable FIPS before the module is tested. */
  async function search(files: Record<string, string>, fetch: Search["fetch"], env: NodeJS.ProcessEnv = {}): Promise<[Search, string]> {
    const root = await fileTree({ "scratch/keep": "", ...files });
    const [scratch, cached] = [join(root, "scratch"), join(root, "cached.so")];
    return [{ env: { PATH: process.env["PATH"], ...env }, scratch, cached, system: [join(root, "system.so")], fetch }, root];
  }
  const noFetch = (): Promise<Result<string, string>> => Promise.resolve(err("no network"));

  it("skips files that are not a provider, and reports why there is none", async () => {
    const [given] = await search({ "cached.so": "damaged", "system.so": "not a library" }, noFetch);
    expect(await findModule(given)).toEqual({ ok: false, error: { kind: "unavailable", message: "no network" } });
  });

  it("checks the fetched module too", async () => {
    const fetch = async (target: string) => {
      await addFiles(join(target, ".."), { "cached.so": "not a library" });
      return ok(target);
    };
    const [given] = await search({}, fetch);
    expect(await findModule(given)).toMatchObject({ ok: false, error: { kind: "unavailable" } });
  });

  it.each(["/no/such/fips.so", "/etc/hostname"])("fails for LATTICE_FIPS_MODULE=%s without a fallback", async (LATTICE_FIPS_MODULE) => {
    const [given] = await search({}, noFetch, { LATTICE_FIPS_MODULE });
    expect(await findModule(given)).toMatchObject({ ok: false, error: { kind: "broken" } });
  });

  it("writes its configuration into the scratch folder only", async () => {
    const [given, root] = await search({ "cached.so": "damaged" }, noFetch);
    await findModule(given);
    expect(await readFile(join(root, "scratch/openssl.cnf"), "utf8")).toContain(given.cached);
  });
});

describe("cacheFolder", () => {
  const rows: { name: string; env: NodeJS.ProcessEnv; want: RegExp }[] = [
    { name: "is LATTICE_CACHE when set", env: { LATTICE_CACHE: "/a", XDG_CACHE_HOME: "/b" }, want: /^\/a$/ },
    { name: "follows XDG", env: { XDG_CACHE_HOME: "/b" }, want: /^\/b\/lattice$/ },
    { name: "is in the home folder otherwise", env: {}, want: /\.cache\/lattice$/ },
  ];
  it.each(rows)("$name", ({ env, want }) => {
    expect(cacheFolder(env)).toMatch(want);
  });
});
