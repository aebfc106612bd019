/**
 * Says in the status of a ValidatingAdmissionPolicy which generation of it was looked at.
 *
 * The real controller also checks the types of its expressions and writes warnings there; here nobody does, and the list stays empty.
 */
import { defineResource, type KubeObject } from "#kube";
import type { KubeController } from "../context.ts";
import { done, passOf, type Pass } from "../work.ts";

type Policy = KubeObject & {
  readonly status?: { readonly observedGeneration?: number; readonly typeChecking?: Readonly<Record<string, never>> };
};

export const policyKind = defineResource<Policy>({
  group: "admissionregistration.k8s.io",
  version: "v1",
  kind: "ValidatingAdmissionPolicy",
  plural: "validatingadmissionpolicies",
  namespaced: false,
});

const NAME = "validatingadmissionpolicy-status";

export const policyStatusController: KubeController = {
  name: `${NAME}-controller`,
  start({ informers, client, work }) {
    const policies = informers.of(policyKind);
    const queue = work({ name: NAME, pass });

    async function pass(name: string, signal: AbortSignal): Promise<Pass> {
      const policy = policies.get({ name });
      const generation = policy?.metadata.generation ?? 0;
      if (policy === undefined || generation <= (policy.status?.observedGeneration ?? 0)) return done;
      const { apiVersion, kind } = policy;
      const status = { observedGeneration: generation, typeChecking: {} };
      const applied: Policy = { apiVersion, kind, metadata: { name }, status };
      return passOf(await client.apply(policyKind, applied, { fieldManager: NAME, force: true, subresource: "status", signal }));
    }

    informers.subscribe(policyKind, ({ key }) => queue.add(key.name));
  },
};
