/**
 * The response of /version. The Kubernetes version is the one that this server emulates: clients enable features by it. `gitCommit` shows that
 * the server is Lattice; no client depends on that field.
 */
import { PROGRAM_VERSION } from "#base";

export const GIT_VERSION = "v1.36.3";

/** `version`: another one to report, such as v1.35.1. Features do not depend on it. */
export function versionInfo(version: string = GIT_VERSION) {
  const [, major = "", minor = ""] = /^v([0-9]+)\.([0-9]+)\./.exec(version) ?? [];
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Math.max(0, Number(minor) - 1)),
    gitVersion: version,
    gitCommit: `lattice-${PROGRAM_VERSION}`,
    gitTreeState: "clean",
    buildDate: "1970-01-01T00:00:00Z",
    goVersion: "none",
    compiler: "gc",
    platform: "linux/amd64",
  };
}
