/**
 * Which Pods run as processes: those that Deployment lattice-system/lattice-operator controls, through its ReplicaSets. Labels do not decide:
 * any user may set them on a Pod of another workload.
 */
import { deployments, replicaSets, type KubeObject, type ObjectKey, type OwnerReference, type Pod, type Resource } from "#kube";
import { OPERATOR_NAME, OPERATOR_NAMESPACE } from "#operator";

/** Reads the current object of the server, without waiting. */
export type PeekObject = <T extends KubeObject>(resource: Resource<T>, key: ObjectKey) => T | undefined;

export function isOperatorPod(pod: Pod, peek: PeekObject): boolean {
  const { namespace } = pod.metadata;
  if (namespace !== OPERATOR_NAMESPACE) return false;
  const replicaSet = controllerOf(pod, "ReplicaSet");
  const set = replicaSet === undefined ? undefined : peek(replicaSets, { namespace, name: replicaSet.name });
  if (set === undefined || set.metadata.uid !== replicaSet?.uid) return false;
  const deployment = controllerOf(set, "Deployment");
  if (deployment?.name !== OPERATOR_NAME) return false;
  return peek(deployments, { namespace, name: deployment.name })?.metadata.uid === deployment.uid;
}

function controllerOf(object: KubeObject, kind: string): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find(
    (reference) => reference.controller === true && reference.kind === kind && reference.apiVersion === "apps/v1",
  );
}
