/** The controllers of this release, as a list: the manager runs them and RBAC is computed from them. */
import { silentLogger } from "#base";
import { bindController, rbacFor, type BoundController, type RbacRule, type ManagerScope } from "#controller-runtime";
import {
  acceptanceController,
  CompiledTimes,
  environmentController,
  externalServiceController,
  FollowedWorld,
  HASH_KEY_SECRET,
  namespaceController,
  serviceController,
} from "#controllers";
import { latticeKinds, type LatticeObject } from "#crds";
import { configMaps, type KubeObject } from "#kube";

/** Names that the deployment, RBAC and leader election share. */
export const OPERATOR_NAME = "lattice-operator";
export const OPERATOR_NAMESPACE = "lattice-system";

/** Kinds that have a controller of their own. */
const SERVED = new Set<LatticeObject["kind"]>(["LatticeService", "LatticeExternalService", "LatticeEnvironment"]);
/** Kinds that services are compiled with. */
const READ_BY_SERVICES = new Set<LatticeObject["kind"]>(["LatticeServiceConfig", "LatticeSecretBindings"]);

/** Kinds without a namespace that nothing else reads: an operator for some namespaces leaves them to one for the cluster. */
export function unhandledKinds({ namespaces }: FollowedWorld["reach"]): readonly string[] {
  const others = latticeKinds.filter(({ kind, resource }) => !SERVED.has(kind as LatticeObject["kind"]) && !resource.namespaced);
  return namespaces === undefined ? [] : others.map(({ kind }) => kind);
}

export function operatorControllers(followed: FollowedWorld): readonly BoundController[] {
  const compiled = new CompiledTimes();
  const unhandled = new Set(unhandledKinds(followed.reach));
  const others = latticeKinds.filter(({ kind }) => !SERVED.has(kind as LatticeObject["kind"]) && !unhandled.has(kind));
  return [
    bindController(namespaceController(followed), (runtime) => runtime),
    bindController(environmentController(followed), (runtime) => runtime),
    bindController(externalServiceController(followed), (runtime) => runtime),
    bindController(serviceController(followed), (runtime) => ({ ...runtime, followed, compiled })),
    ...others.map((kind) => {
      const readByOthers = READ_BY_SERVICES.has(kind.kind as LatticeObject["kind"]);
      return bindController(acceptanceController(kind, { readByOthers }), (runtime) => runtime);
    }),
  ];
}

/** Where an operator with these flags works; undefined: everywhere. Declared provisioners are in its own namespace. */
export function operatorScope({ home, namespaces }: FollowedWorld["reach"]): ManagerScope | undefined {
  return namespaces === undefined ? undefined : { namespaces, more: [{ resource: configMaps, namespace: home }] };
}

/** The key of the config hash, which is in the operator's own namespace. */
const HASH_KEY_RULES: readonly RbacRule[] = [
  { apiGroups: [""], resources: ["secrets"], verbs: ["create"] },
  { apiGroups: [""], resources: ["secrets"], verbs: ["get"], resourceNames: [HASH_KEY_SECRET] },
];

/**
 * Everything an operator needs to be allowed, and nothing else; its own namespace first, so that the list can be applied as it is. With `namespaces`:
 * Roles in those, which must exist.
 */
export function operatorRbac(namespace: string = OPERATOR_NAMESPACE, namespaces?: readonly string[]): readonly KubeObject[] {
  const home = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
  // what controllers declare does not depend on any world
  const nowhere = new FollowedWorld({ namespace, namespaces, randomBytes: (count) => new Uint8Array(count), logger: silentLogger });
  const clusterName = namespace === OPERATOR_NAMESPACE ? OPERATOR_NAME : `${OPERATOR_NAME}-${namespace}`;
  const options = { name: OPERATOR_NAME, namespace, clusterName, scope: operatorScope(nowhere.reach), homeRules: HASH_KEY_RULES };
  return [home, ...rbacFor(operatorControllers(nowhere), options)];
}
