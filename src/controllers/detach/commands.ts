/** The writes that take a patch off a Deployment. Each is safe to repeat. */
import { ADOPT_ANNOTATION, failed, FIELD_MANAGER, settled, waiting, type ReconcileOutcome, type Runtime } from "#controller-runtime";
import type { ServiceKey } from "#compile";
import { configMaps, deployments, keyText, type Deployment, type KubeObject } from "#kube";
import { patchRequest, revertWorkloadPatch, withdrawnRequest, type WorkloadPatch } from "#workload-patch";
import { deletePatch } from "../delete-patch.ts";
import { detachingPatch, patchConfigMap, patchDigest } from "../patch-config-map.ts";
import { patchedService } from "../patched-deployments.ts";
import { withoutQuotedValues } from "../quoted-values.ts";
import type { WorldContext } from "../world/followed-world.ts";
import { describeReverted } from "./reverted-text.ts";
import { revertDirectly } from "./revert-directly.ts";

export type DetachCommand =
  /** `detaching`: the patch that the webhooks have is one that takes the changes off. */
  | { readonly kind: "detach"; readonly deployment: Deployment; readonly service: ServiceKey; readonly detaching: boolean }
  /** The Deployment has no record any more. `configMap`: of its patch. */
  | { readonly kind: "forget"; readonly deployment: Deployment; readonly configMap: KubeObject }
  | { readonly kind: "clear-request"; readonly deployment: Deployment };

/** By Deployment: since when it is being detached, in milliseconds, and how many writes had no effect. */
export type DetachProgress = Map<string, { readonly since: number; readonly count: number }>;

type Context = Runtime & WorldContext & { readonly progress: DetachProgress };

/** After this time without a webhook the controller writes the Deployment itself. */
const WITHOUT_WEBHOOK_MS = 60_000;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 15_000;

export async function performDetachCommand(command: DetachCommand, context: Context): Promise<ReconcileOutcome> {
  const { client, signal, progress } = context;
  const { namespace = "", name } = command.deployment.metadata;
  switch (command.kind) {
    case "detach":
      return detach(command, context);
    case "forget": {
      progress.delete(keyText({ namespace, name }));
      return deletePatch(command.configMap, context);
    }
    case "clear-request": {
      const cleared = await client.patch(
        deployments,
        { namespace, name },
        { type: "merge", patch: withdrawnRequest },
        { fieldManager: FIELD_MANAGER, signal },
      );
      if (cleared.ok || cleared.error.kind === "not-found") return settled;
      return failed(withoutQuotedValues(cleared.error, command.deployment));
    }
  }
}

async function detach(command: Extract<DetachCommand, { kind: "detach" }>, context: Context): Promise<ReconcileOutcome> {
  const { deployment, service, detaching } = command;
  const { client, signal, followed, progress, clock, record } = context;
  const { namespace = "", name } = deployment.metadata;
  const key = keyText({ namespace, name });
  const { since, count } = progress.get(key) ?? { since: clock.now(), count: 0 };
  progress.set(key, { since, count: count + 1 });
  const patch = detachingPatch(service === "" ? "unknown/unknown" : service, { namespace, name });
  if (!detaching) {
    const stored = await client.apply(configMaps, adoptable(patch, followed.reach.home), {
      fieldManager: FIELD_MANAGER,
      force: true,
      signal,
    });
    if (!stored.ok) return failed(stored.error);
  }
  const isLate = clock.now() - since >= WITHOUT_WEBHOOK_MS;
  const written = isLate ? await revertDirectly({ namespace, name }, context) : await request(patch, context);
  if (!written.ok) return written.error.kind === "not-found" ? settled : failed(withoutQuotedValues(written.error, deployment));
  if (patchedService(written.value) !== undefined) {
    const afterMs = Math.min(FIRST_WAIT_MS * 2 ** Math.min(count, 10), LONGEST_WAIT_MS);
    return waiting("Detaching", afterMs, `Deployment ${key} still has changes of LatticeService ${service}`);
  }
  const note = describeReverted(revertWorkloadPatch(deployment), { service, withoutWebhook: isLate });
  record({ regarding: deployment, ...note });
  return settled;
}

function request(patch: WorkloadPatch, { client, signal }: Context) {
  const body = { type: "merge", patch: patchRequest(`detach-${patchDigest(patch)}`) } as const;
  return client.patch<Deployment>(deployments, patch.target, body, { fieldManager: FIELD_MANAGER, signal });
}

/** It belongs to no service. A service that patches the Deployment again may take it over. */
function adoptable(patch: WorkloadPatch, home: string): KubeObject {
  const { metadata, ...rest } = patchConfigMap(patch, home);
  return { ...rest, metadata: { ...metadata, annotations: { [ADOPT_ANNOTATION]: "true" } } };
}
