/** The suite of vitest.config.ts without the tests that no provider of cryptography can change, in workers that check first that FIPS is enabled. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, mergeConfig } from "vitest/config";
import suite from "../../vitest.config.ts";

/** Crashes at hundreds of points, each of which repeats the same cryptography; the tests beside them run the same code under the provider. */
const REPETITIONS = [
  "src/operator/cell/pivot/pivot-matrix.test.ts",
  "src/operator/cell/pivot/pivot-crashes.test.ts",
  "src/operator/cell/pivot/pivot-mutants.test.ts",
  "src/install/install-crashes.test.ts",
  "src/install/install-mutants.test.ts",
  "src/cli/restore-crashes.test.ts",
  "src/cli/install/kind-source.test.ts",
  "src/pivot/mover/*.test.ts",
  "test/stories/move-servers.test.ts",
];

/** The processes of `lattice up` get an environment without the provider, so these stories would show nothing about it. */
const FLEETS = ["clusters-connected", "fleet-*", "install*", "laptop-fleet", "pivot-e2e", "pivot-requests", "self-managed"].map(
  (name) => `test/stories/${name}.test.ts`,
);

/** Long tests of policies and of controllers, and the tools of this repository: other tests connect to the same servers under the provider. */
const WITHOUT_KEYS = [
  ...["additive-edits", "controller-numbers", "revocations", "tenants"].map((name) => `test/stories/attacks/${name}.test.ts`),
  "scripts/!(fips)/**",
  "scripts/*.test.ts",
];

/** Tests that connect in process. Their only cryptography is digests and random numbers of src/base, whose own tests run. */
const IN_PROCESS = [
  "src/controller-runtime/**",
  "src/controllers/!(cluster)/**",
  "src/kube-controllers/!(capi)/**",
  "src/kube-server/{admission-cel,apply,builtin-kinds,definitions,protobuf,protocol,store}/**",
  "src/kube-server/rest/*.test.ts",
];

const root = join(import.meta.dirname, "../..");

/** Folders that layers.json calls pure use no module of Node, so no provider either. */
const { layers } = JSON.parse(readFileSync(join(root, "layers.json"), "utf8")) as {
  readonly layers: Readonly<Record<string, { readonly pure?: true }>>;
};
const PURE = Object.entries(layers)
  .filter(([, { pure }]) => pure === true)
  .map(([folder]) => `src/${folder}/**`);

export default mergeConfig(
  suite,
  defineConfig({
    root,
    test: {
      setupFiles: [join(import.meta.dirname, "probe.ts")],
      exclude: [...REPETITIONS, ...FLEETS, ...WITHOUT_KEYS, ...IN_PROCESS, ...PURE],
    },
  }),
);
