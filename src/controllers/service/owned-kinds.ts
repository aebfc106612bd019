/** What is made for a LatticeService. */
import type { Resource } from "#kube";
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
} from "../kinds.ts";

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

/** Those of them that say who may talk to whom. */
export const POLICY_KINDS: ReadonlySet<string> = new Set(["AuthorizationPolicy", "CiliumNetworkPolicy", "PeerAuthentication"]);
