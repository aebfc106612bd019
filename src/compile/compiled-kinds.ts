/** The kinds that services are compiled into, in apply order. */
import {
  authorizationPolicies,
  canaries,
  ciliumClusterwideNetworkPolicies,
  ciliumNetworkPolicies,
  configMaps,
  deployments,
  externalSecrets,
  gateways,
  horizontalPodAutoscalers,
  httpRoutes,
  namespaces,
  peerAuthentications,
  persistentVolumeClaims,
  podDisruptionBudgets,
  secrets,
  serviceAccounts,
  serviceEntries,
  services,
  type Resource,
} from "#kube";

/**
 * Resources of every kind that a compilation can create.
 *
 * @example const lists = await Promise.all(compiledKinds.map((kind) => client.list(kind, { labelSelector: "app.kubernetes.io/managed-by=lattice" })));
 */
export const compiledKinds: readonly Resource[] = [
  namespaces,
  configMaps,
  secrets,
  externalSecrets,
  persistentVolumeClaims,
  serviceAccounts,
  deployments,
  services,
  horizontalPodAutoscalers,
  podDisruptionBudgets,
  canaries,
  httpRoutes,
  gateways,
  peerAuthentications,
  authorizationPolicies,
  ciliumNetworkPolicies,
  serviceEntries,
];

/**
 * Kinds that decide which traffic a cluster allows, whichever program wrote the objects.
 *
 * @example const objects = (await Promise.all(policyKinds.map((kind) => listAll(client, kind)))).flat();
 */
export const policyKinds: readonly Resource[] = [
  namespaces,
  deployments,
  services,
  gateways,
  authorizationPolicies,
  ciliumNetworkPolicies,
  ciliumClusterwideNetworkPolicies,
];
