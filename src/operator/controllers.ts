/** The controllers of this release, as a list: the manager runs them and RBAC is computed from them. */
import { silentLogger } from "#base";
import { bindController, rbacFor, type BoundController } from "#controller-runtime";
import {
  acceptanceController,
  CompiledTimes,
  environmentController,
  externalServiceController,
  FollowedWorld,
  namespaceController,
  serviceController,
} from "#controllers";
import { latticeKinds, type LatticeObject } from "#crds";
import type { KubeObject } from "#kube";

/** Names that the deployment, RBAC and leader election share. */
export const OPERATOR_NAME = "lattice-operator";
export const OPERATOR_NAMESPACE = "lattice-system";

/** Kinds that have a controller of their own. */
const SERVED = new Set<LatticeObject["kind"]>(["LatticeService", "LatticeExternalService", "LatticeEnvironment"]);
/** Kinds that services are compiled with. */
const READ_BY_SERVICES = new Set<LatticeObject["kind"]>(["LatticeServiceConfig", "LatticeSecretBindings"]);

export function operatorControllers(followed: FollowedWorld): readonly BoundController[] {
  const compiled = new CompiledTimes();
  const others = latticeKinds.filter(({ kind }) => !SERVED.has(kind as LatticeObject["kind"]));
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

/** Everything an operator needs to be allowed, and nothing else; the namespace first, so that the list can be applied as it is. */
export function operatorRbac(namespace: string = OPERATOR_NAMESPACE): readonly KubeObject[] {
  const home = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
  // what controllers declare does not depend on any world
  const nowhere = new FollowedWorld({ namespace, randomBytes: (count) => new Uint8Array(count), logger: silentLogger });
  return [home, ...rbacFor(operatorControllers(nowhere), { name: OPERATOR_NAME, namespace })];
}
