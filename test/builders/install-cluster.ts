/** A LatticeCluster of local machines for `lattice install`, and what a bootstrap cluster has before and after. */
import { expectOk } from "#base";
import { clusterRoles, customResourceDefinitions, formatYamlDocuments, namespaces, type KubeObject, type Resource } from "#kube";
import type { KubeClient } from "#kube-client";
import { findFreePorts } from "../kube/harness/free-ports.ts";

export async function managementYaml(name: string): Promise<string> {
  const [grpcPort, bootstrapPort, proxyPort] = expectOk(await findFreePorts(3));
  return formatYamlDocuments([
    {
      apiVersion: "lattice.dev/v1alpha1",
      kind: "LatticeCluster",
      metadata: { name },
      spec: {
        provider: { type: "local", kubernetes: { version: "1.36.3" } },
        nodes: { controlPlane: 1, workers: 0 },
        endpoints: { host: "127.0.0.1", grpcPort, bootstrapPort, proxyPort, service: { type: "ClusterIP" } },
      },
    },
  ]);
}

/** Names of what an installation adds to a cluster. */
export async function installedNames(client: KubeClient): Promise<readonly string[]> {
  const lists = [namespaces, customResourceDefinitions, clusterRoles].map(async (resource) => {
    const { items } = expectOk(await client.list<KubeObject>(resource as Resource));
    return items.map(({ metadata }) => `${resource.kind} ${metadata.name}`);
  });
  return (await Promise.all(lists)).flat().toSorted();
}
