/**
 * What a child does when its parent announces a pivot: it makes the namespace of its Cluster API objects, and the kubeconfig with which Cluster API
 * will reach it. The parent never reads that credential. Safe to repeat.
 */
import { err, ok, type Clock, type Result } from "#base";
import { capiNamespace } from "#cluster-compiler";
import type { CacheReader } from "#controller-runtime";
import { createChildNamespace, identityOf, isKubeconfigDue, kubeconfigSecretOf, writeOwnKubeconfig } from "#controllers";
import {
  apiVersionOf,
  capiClusters,
  field,
  groupResourceOf,
  isJsonObject,
  kubeadmConfigs,
  kubeadmControlPlanes,
  parseJson,
  secrets,
  type KubeObject,
  type Resource,
} from "#kube";
import type { KubeClient } from "#kube-client";
import type { OrderResult, PivotOrder, TunnelTarget } from "#link";

/** One of each provider that every cluster has; the plan of the move names all other kinds that are missing. */
const NEEDED: readonly Resource[] = [capiClusters, kubeadmConfigs, kubeadmControlPlanes];

export type PreparePivotOptions = {
  readonly client: KubeClient;
  readonly cache: CacheReader;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The operator's namespace. */
  readonly home: string;
  /** The API server of this cluster, or why its address is not known. */
  readonly apiServer: Result<Pick<TunnelTarget, "url" | "ca">, string>;
};

export async function preparePivot({ cluster, namespace }: PivotOrder, options: PreparePivotOptions): Promise<OrderResult> {
  const { client, cache, clock, signal, home, apiServer } = options;
  const { name } = identityOf(cache, home);
  if (name !== cluster) return err(`this cluster is ${name ?? "without a name"}, and the pivot is that of ${cluster}`);
  const own = capiNamespace(name);
  if (namespace !== own) return err(`the Cluster API objects of ${name} are in namespace ${own}, and the pivot names ${namespace}`);
  if (!apiServer.ok) return err(`Cluster API could not reach this cluster from within: ${apiServer.error}`);
  const missing = await missingKinds(client, signal);
  if (!missing.ok) return missing;
  const created = await createChildNamespace({ namespace, cluster }, { client, signal });
  if (!created.ok) return err(`namespace ${namespace} cannot be created: ${created.error.message}`);
  const key = { namespace, name: kubeconfigSecretOf(name) };
  const prepared = `namespace ${namespace} exists`;
  const live = await client.get<KubeObject>(secrets, key, { signal });
  if (!live.ok && live.error.kind !== "not-found") return err(`Secret ${namespace}/${key.name} cannot be read: ${live.error.message}`);
  const { url, ca } = apiServer.value;
  if (live.ok && !isKubeconfigDue(live.value, { url, ca }, clock.now()))
    return ok([prepared, `Secret ${namespace}/${key.name} is current`]);
  const written = await writeOwnKubeconfig({ cluster, server: { url, ca }, home }, options);
  if (!written.ok) return err(`Secret ${namespace}/${key.name} cannot be written: ${written.error.message}`);
  return ok([prepared, `Secret ${namespace}/${key.name} leads to this cluster`]);
}

async function missingKinds(client: KubeClient, signal: AbortSignal): Promise<Result<void, string>> {
  const missing: string[] = [];
  for (const resource of NEEDED) {
    const answer = await client.raw(`/apis/${apiVersionOf(resource)}`, { signal });
    if (!answer.ok && answer.error.kind !== "not-found") return err(`this cluster's API server cannot be asked: ${answer.error.message}`);
    if (!answer.ok || !servesKind(answer.value, resource)) missing.push(groupResourceOf(resource));
  }
  if (missing.length === 0) return ok(undefined);
  return err(`this cluster does not serve ${missing.join(", ")}; install Cluster API of the bundle there`);
}

function servesKind(text: string, { plural }: Resource): boolean {
  const parsed = parseJson(text);
  const resources = parsed.ok ? field(parsed.value, "resources") : undefined;
  return Array.isArray(resources) && resources.some((resource) => isJsonObject(resource) && resource["name"] === plural);
}
