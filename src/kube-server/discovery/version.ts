/**
 * The response of /version. The Kubernetes version is the one that this server emulates: clients enable features by it. `gitCommit` shows that
 * the server is Lattice; no client depends on that field.
 */
import { PROGRAM_VERSION } from "#base";

export const GIT_VERSION = "v1.36.3";

export const versionInfo = {
  major: "1",
  minor: "36",
  emulationMajor: "1",
  emulationMinor: "36",
  minCompatibilityMajor: "1",
  minCompatibilityMinor: "35",
  gitVersion: GIT_VERSION,
  gitCommit: `lattice-${PROGRAM_VERSION}`,
  gitTreeState: "clean",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "none",
  compiler: "gc",
  platform: "linux/amd64",
} as const;
