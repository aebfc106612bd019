/**
 * The environment of a process of the fleet: an allow-list of the supervisor's. Credentials in a user's shell do not reach them, and
 * NODE_OPTIONS cannot change what they run.
 */
const NAMES: ReadonlySet<string> = new Set([
  "PATH",
  "HOME",
  "LANG",
  "TZ",
  "TMPDIR",
  "XDG_CACHE_HOME",
  "NODE_COMPILE_CACHE",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_DIR",
  "SSL_CERT_FILE",
]);
const PREFIXES = ["LATTICE_", "LC_"] as const;

export function allowedEnvironment(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const allowed = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (NAMES.has(entry[0]) || PREFIXES.some((prefix) => entry[0].startsWith(prefix))),
  );
  return Object.fromEntries(allowed);
}
