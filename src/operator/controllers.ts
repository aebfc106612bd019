/** The controllers of this release, as a list: the manager runs them and RBAC is computed from them. */
import { bindController, rbacFor, type BoundController } from "#controller-runtime";
import { acceptanceController } from "#controllers";
import { latticeKinds } from "#crds";
import type { KubeObject } from "#kube";

/** Names that the deployment, RBAC and leader election share. */
export const OPERATOR_NAME = "lattice-operator";
export const OPERATOR_NAMESPACE = "lattice-system";

export function operatorControllers(): readonly BoundController[] {
  return latticeKinds.map((kind) => bindController(acceptanceController(kind), (runtime) => runtime));
}

/** Everything an operator needs to be allowed, and nothing else; the namespace first, so that the list can be applied as it is. */
export function operatorRbac(namespace: string = OPERATOR_NAMESPACE): readonly KubeObject[] {
  const home = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
  return [home, ...rbacFor(operatorControllers(), { name: OPERATOR_NAME, namespace })];
}
