/** The controllers of this release as a static list: the manager runs them, and RBAC is computed from their declarations. */
import {
  bindController,
  rbacFor,
  rbacForAccount,
  type BoundController,
  type ManagerScope,
  type PartDeclaration,
  type RbacRule,
} from "#controller-runtime";
import {
  acceptanceController,
  CLUSTER_API_ACCOUNT,
  clusterController,
  CompileRecords,
  detachController,
  detachedPatchController,
  environmentController,
  externalServiceController,
  HASH_KEY_SECRET,
  namespaceController,
  serviceController,
  type ClusterShared,
  type FollowedWorld,
  type OperatorReach,
} from "#controllers";
import { latticeKinds, type LatticeObject } from "#crds";
import { configMaps, type KubeObject } from "#kube";
import { CLUSTER_API_PATHS, CLUSTER_API_PERMISSIONS } from "./agent/cluster-api-permissions.ts";
import { admissionWebhookService, webhookConfigurationRights } from "./admission/webhook-service.ts";
import { clusterDeclarations, clusterState } from "./cluster-parts.ts";
import { leaderLabelService } from "./leader-label.ts";

/** Names that the deployment, RBAC and leader election share. */
export const OPERATOR_NAME = "lattice-operator";
export const OPERATOR_NAMESPACE = "lattice-system";

/** Kinds with a controller of their own. */
const SERVED = new Set<LatticeObject["kind"]>(["LatticeCluster", "LatticeService", "LatticeExternalService", "LatticeEnvironment"]);
/** Kinds that are inputs of compiling services. */
const READ_BY_SERVICES = new Set<LatticeObject["kind"]>(["LatticeServiceConfig", "LatticeSecretBindings"]);

/** Kinds that are only validated, each with the controller that validates it. */
const ACCEPTED = latticeKinds
  .filter(({ kind }) => !SERVED.has(kind as LatticeObject["kind"]))
  .map((kind) => ({
    kind: kind.kind,
    namespaced: kind.resource.namespaced,
    controller: acceptanceController(kind, { readByOthers: READ_BY_SERVICES.has(kind.kind as LatticeObject["kind"]) }),
  }));

/** Cluster-scoped kinds that no other controller reads: an operator for some namespaces leaves them to one for the cluster. */
export function unhandledKinds({ namespaces }: OperatorReach): readonly string[] {
  return namespaces === undefined ? [] : ["LatticeCluster", ...ACCEPTED.filter(({ namespaced }) => !namespaced).map(({ kind }) => kind)];
}

function acceptanceControllers(reach: OperatorReach) {
  const unhandled = new Set(unhandledKinds(reach));
  return ACCEPTED.filter(({ kind }) => !unhandled.has(kind)).map(({ controller }) => controller);
}

/** The kinds that the controllers and services read and write, without an instance of any. */
function operatorDeclarations(reach: OperatorReach): readonly PartDeclaration[] {
  const ofServices = [environmentController, externalServiceController, serviceController, detachController, detachedPatchController];
  const clusters = reach.namespaces === undefined ? [...clusterDeclarations, webhookConfigurationRights(reach.home)] : [];
  return [namespaceController, ...ofServices, ...clusters, ...acceptanceControllers(reach), leaderLabelService, admissionWebhookService];
}

/** Those that always run. `clusters`: what the cluster controller shares with the roles. */
export function operatorControllers(
  followed: FollowedWorld,
  clusters: ClusterShared = clusterState(followed.reach.home),
): readonly BoundController[] {
  // its objects are in many namespaces, and in new ones
  const ofClusters = followed.reach.namespaces === undefined ? [bindController(clusterController, clusters)] : [];
  return [
    bindController(namespaceController, { followed }),
    bindController(environmentController, { followed }),
    bindController(externalServiceController, { followed }),
    bindController(serviceController, { followed, records: new CompileRecords() }),
    bindController(detachController, { followed, progress: new Map() }),
    bindController(detachedPatchController, { followed }),
    ...ofClusters,
    ...acceptanceControllers(followed.reach).map((controller) => bindController(controller, {})),
  ];
}

/** The scope of an operator with these flags; undefined: the whole cluster. Declared provisioners are in its own namespace. */
export function operatorScope({ home, namespaces }: OperatorReach): ManagerScope | undefined {
  return namespaces === undefined ? undefined : { namespaces, more: [{ resource: configMaps, namespace: home }] };
}

/** The key of the config hash, which is in the operator's own namespace. */
const HASH_KEY_RULES: readonly RbacRule[] = [
  { apiGroups: [""], resources: ["secrets"], verbs: ["create"] },
  { apiGroups: [""], resources: ["secrets"], verbs: ["get"], resourceNames: [HASH_KEY_SECRET] },
];

/** The patches of Deployments, which are in the operator's own namespace. */
const PATCH_RULES: readonly RbacRule[] = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "create", "patch", "delete"] }];

/**
 * All permissions that an operator needs, and no others; its own namespace first, so that the list can be applied in order. With `namespaces`:
 * Roles in those, which must exist. `more`: the declarations of further parts.
 */
export function operatorRbac(
  namespace: string = OPERATOR_NAMESPACE,
  namespaces?: readonly string[],
  more: readonly PartDeclaration[] = [],
): readonly KubeObject[] {
  const home = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
  const reach = { home: namespace, namespaces };
  const clusterName = namespace === OPERATOR_NAMESPACE ? OPERATOR_NAME : `${OPERATOR_NAME}-${namespace}`;
  const options = {
    name: OPERATOR_NAME,
    namespace,
    clusterName,
    scope: operatorScope(reach),
    homeRules: [...HASH_KEY_RULES, ...PATCH_RULES],
  };
  return [
    home,
    ...rbacFor([...operatorDeclarations(reach), ...more], options),
    ...(namespaces === undefined ? clusterApiAccount(namespace) : []),
  ];
}

/** The account with which Cluster API reaches a cluster that owns itself. Its permissions are those that the parent's Cluster API has there before. */
function clusterApiAccount(namespace: string): readonly KubeObject[] {
  const clusterName = namespace === OPERATOR_NAMESPACE ? CLUSTER_API_ACCOUNT : `${CLUSTER_API_ACCOUNT}-${namespace}`;
  return rbacForAccount({ name: CLUSTER_API_ACCOUNT, namespace, clusterName, needs: CLUSTER_API_PERMISSIONS, paths: CLUSTER_API_PATHS });
}
