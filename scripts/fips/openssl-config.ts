/**
 * The OpenSSL configuration that enables the FIPS provider for Node, and only for Node.
 *
 * It has a `nodejs_conf` section and nothing else, so that an `openssl` command which a test starts is not affected. `module-mac` is what
 * `openssl fipsinstall` would write: an integrity code under a key that is a public constant of OpenSSL. It detects a damaged file, not an
 * attack; with a wrong one the provider does not load.
 */
import { createHmac } from "node:crypto";

const INTEGRITY_KEY = Buffer.from("f4556650ac31d35461610bac4ed81b1a181b2d8a43ea2854cbae22ca74560813", "hex");

export type FipsModule = { readonly path: string; readonly bytes: Uint8Array };

export function opensslConfig(module: FipsModule): string {
  return `# FIPS provider for the tests; scripts/fips wrote it
nodejs_conf = nodejs_init

[nodejs_init]
providers = providers
alg_section = algorithms

[providers]
fips = fips_provider
base = base_provider

[fips_provider]
module = ${module.path}
activate = 1
conditional-errors = 1
security-checks = 1
module-mac = ${moduleMac(module.bytes)}

[base_provider]
activate = 1

[algorithms]
default_properties = fips=yes
`;
}

function moduleMac(bytes: Uint8Array): string {
  const digits = createHmac("sha256", INTEGRITY_KEY).update(bytes).digest("hex").toUpperCase();
  return digits.replace(/(..)(?!$)/g, "$1:");
}

/** An environment in which every Node runs with FIPS on, children of children included. */
export function fipsEnvironment(env: NodeJS.ProcessEnv, configPath: string): NodeJS.ProcessEnv {
  const options = [env["NODE_OPTIONS"] ?? "", "--enable-fips", `--openssl-config=${JSON.stringify(configPath)}`];
  return { ...env, NODE_OPTIONS: options.join(" ").trim() };
}
