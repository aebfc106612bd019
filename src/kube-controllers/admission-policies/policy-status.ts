/**
 * Sets `status.observedGeneration` of ValidatingAdmissionPolicies.
 *
 * The real controller also type-checks their expressions and writes warnings; here the list of warnings stays empty.
 */
import { validatingAdmissionPolicies, type ValidatingAdmissionPolicy } from "#kube";
import type { KubeController } from "../context.ts";
import { done, passOf, type Pass } from "../work.ts";

const NAME = "validatingadmissionpolicy-status";

export const policyStatusController: KubeController = {
  name: `${NAME}-controller`,
  start({ informers, client, work }) {
    const policies = informers.of(validatingAdmissionPolicies);
    const queue = work({ name: NAME, pass });

    async function pass(name: string, signal: AbortSignal): Promise<Pass> {
      const policy = policies.get({ name });
      const generation = policy?.metadata.generation ?? 0;
      if (policy === undefined || generation <= (policy.status?.observedGeneration ?? 0)) return done;
      const { apiVersion, kind } = policy;
      const status = { observedGeneration: generation, typeChecking: {} };
      const applied: ValidatingAdmissionPolicy = { apiVersion, kind, metadata: { name }, status };
      return passOf(
        await client.apply(validatingAdmissionPolicies, applied, { fieldManager: NAME, force: true, subresource: "status", signal }),
      );
    }

    informers.subscribe(validatingAdmissionPolicies, ({ key }) => queue.add(key.name));
  },
};
