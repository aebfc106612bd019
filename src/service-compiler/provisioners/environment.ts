/** `environment`: any value of `${config.*}` as an output. Score's own tools read shell variables instead. */
import { ok } from "#base";
import { problem } from "./params.ts";
import type { Provisioner } from "./provisioner.ts";

export const environmentProvisioner: Provisioner = {
  type: "environment",
  params: [],
  provision: ({ surroundings: { readConfig } }) =>
    ok({
      outputs: new Map(),
      anyOutput: (name) => {
        const found = readConfig(name);
        return found.ok
          ? found
          : problem(
              `${found.error}\nset ${name} in spec.values of a LatticeServiceConfig, or in spec.defaults.config of the LatticeEnvironment`,
            );
      },
    }),
};
