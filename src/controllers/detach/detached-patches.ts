/**
 * Deletes a patch that takes changes off a Deployment when the Deployment itself was deleted meanwhile: no pass over it will come. Otherwise the
 * webhook would stay configured for a Deployment that does not exist.
 */
import { ok, type Result } from "#base";
import { defineController, failed, nothing, settled, watch, type FailureCause, type ReadRuntime } from "#controller-runtime";
import { configMaps, deployments, type ConfigMap, type Deployment, type ObjectKey } from "#kube";
import { WORKLOAD_PATCH_LABEL, workloadPatchName } from "#workload-patch";
import { patchIn } from "../patch-config-map.ts";
import { reachProblem } from "../reach.ts";
import type { WorldContext, WorldViewContext } from "../world/followed-world.ts";

type Observed = { readonly isLeft: boolean };
type DeletePatch = { readonly kind: "delete-patch"; readonly key: ObjectKey };

export const detachedPatchController = defineController<ConfigMap, Observed, DeletePatch, WorldContext>({
  name: "detached-patches",
  reconciles: configMaps,
  selects: ({ metadata }) => metadata.labels?.[WORKLOAD_PATCH_LABEL] === "true",
  writesStatus: false,
  watches: [
    watch<Deployment, WorldContext>(deployments, ({ metadata: { namespace = "", name } }, { cache, followed }) => {
      const key = { namespace: followed.reach.home, name: workloadPatchName({ namespace, name }) };
      return cache.get(configMaps, key) === undefined ? [] : [key];
    }),
  ],
  permissions: [{ resource: configMaps, verbs: ["delete"] }],
  observe,
  plan: ({ metadata }, { isLeft }) => (isLeft ? ok({ apply: [], commands: [{ kind: "delete-patch", key: metadata }] }) : nothing),
  perform: async ({ key }, { client, signal }) => {
    const deleted = await client.delete(configMaps, key, { signal });
    return deleted.ok || deleted.error.kind === "not-found" ? settled : failed(deleted.error);
  },
});

function observe(configMap: ConfigMap, { cache, followed }: ReadRuntime & WorldViewContext): Promise<Result<Observed, FailureCause>> {
  const { namespace, labels } = configMap.metadata;
  const isPatch = namespace === followed.reach.home && labels?.[WORKLOAD_PATCH_LABEL] === "true";
  const patch = isPatch ? patchIn(configMap) : undefined;
  if (patch?.detach !== true) return Promise.resolve(ok({ isLeft: false }));
  // a Deployment that cannot be seen may exist
  const isVisible = reachProblem(patch.target.namespace, followed.reach, cache) === undefined;
  return Promise.resolve(ok({ isLeft: isVisible && cache.get(deployments, patch.target) === undefined }));
}
