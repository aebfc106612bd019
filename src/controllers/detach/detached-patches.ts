/**
 * Deletes stored patches of Deployments that do not exist, because no pass over the Deployment will come: one that takes changes off, and one of a service
 * that may not patch the Deployment any more. Otherwise the webhook would stay configured for it, and would patch it when it is created again. A patch that
 * cannot be read is deleted too, unless its Deployment still has a record.
 */
import { ok, type Result } from "#base";
import { defineController, nothing, ownerKeyOf, watch, type CacheReader, type FailureCause, type ReadRuntime } from "#controller-runtime";
import { configMaps, deployments, type ConfigMap, type Deployment } from "#kube";
import { WORKLOAD_PATCH_LABEL, workloadPatchName } from "#workload-patch";
import { deletePatch } from "../delete-patch.ts";
import { CONTROLLER_NAME } from "../owned-kinds.ts";
import { patchIn } from "../patch-config-map.ts";
import { patchedService } from "../patched-deployments.ts";
import { reachProblem } from "../reach.ts";
import type { WorldContext, WorldViewContext } from "../world/followed-world.ts";

type Observed = { readonly isLeft: boolean };
type DeletePatch = { readonly kind: "delete-patch"; readonly configMap: ConfigMap };

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
  triggers: (enqueue, { followed }) =>
    followed.subscribe("workloads", (key) =>
      enqueue({ namespace: followed.reach.home, name: workloadPatchName({ namespace: key.namespace ?? "", name: key.name }) }),
    ),
  permissions: [{ resource: configMaps, verbs: ["delete"] }],
  observe,
  plan: (configMap, { isLeft }) => (isLeft ? ok({ apply: [], commands: [{ kind: "delete-patch", configMap }] }) : nothing),
  perform: ({ configMap }, runtime) => deletePatch(configMap, runtime),
});

function observe(configMap: ConfigMap, { cache, followed }: ReadRuntime & WorldViewContext): Promise<Result<Observed, FailureCause>> {
  const { namespace, name, labels } = configMap.metadata;
  const isPatch = namespace === followed.reach.home && labels?.[WORKLOAD_PATCH_LABEL] === "true";
  if (!isPatch) return Promise.resolve(ok({ isLeft: false }));
  const patch = patchIn(configMap);
  if (patch === undefined) return Promise.resolve(ok({ isLeft: !hasRecord(name, cache) }));
  const { target, detach } = patch;
  // a Deployment that cannot be seen may exist
  const isVisible = reachProblem(target.namespace, followed.reach, cache) === undefined;
  const isRefused = ownerKeyOf(configMap, CONTROLLER_NAME) !== undefined && followed.world.patcherOf(target) === undefined;
  const isUnused = detach === true || isRefused;
  return Promise.resolve(ok({ isLeft: isUnused && isVisible && cache.get(deployments, target) === undefined }));
}

/** Whether a Deployment whose patch is stored under this name has a record. */
function hasRecord(name: string, cache: CacheReader): boolean {
  return cache
    .list(deployments)
    .some((one) => patchedService(one) !== undefined && workloadPatchName({ namespace: "", ...one.metadata }) === name);
}
