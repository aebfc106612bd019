/** The kinds of the objects that are applied for a LatticeService. */
import {
  authorizationPolicies,
  canaries,
  ciliumNetworkPolicies,
  configMaps,
  deployments,
  externalSecrets,
  horizontalPodAutoscalers,
  httpRoutes,
  persistentVolumeClaims,
  podDisruptionBudgets,
  secretsByMetadata,
  serviceAccounts,
  services,
  type Resource,
} from "#kube";

export const CONTROLLER_NAME = "service";

export const ownedKinds: readonly Resource[] = [
  configMaps,
  secretsByMetadata,
  externalSecrets,
  persistentVolumeClaims,
  serviceAccounts,
  deployments,
  services,
  horizontalPodAutoscalers,
  podDisruptionBudgets,
  canaries,
  httpRoutes,
  authorizationPolicies,
  ciliumNetworkPolicies,
];

/** Those of them that decide which services may communicate. */
export const accessKinds: readonly Resource[] = [authorizationPolicies, ciliumNetworkPolicies, httpRoutes];

/** Those of them that are policies. */
export const POLICY_KINDS: ReadonlySet<string> = new Set(["AuthorizationPolicy", "CiliumNetworkPolicy"]);
