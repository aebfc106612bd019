/** Labels, annotations, finalizers and names that Cluster API gives its objects. */
export const CLUSTER_LABEL = "cluster.x-k8s.io/cluster-name";
export const CONTROL_PLANE_LABEL = "cluster.x-k8s.io/control-plane";
export const CONTROL_PLANE_NAME_LABEL = "cluster.x-k8s.io/control-plane-name";
export const DEPLOYMENT_LABEL = "cluster.x-k8s.io/deployment-name";
export const SET_LABEL = "cluster.x-k8s.io/set-name";
export const TEMPLATE_HASH_LABEL = "machine-template-hash";

export const PAUSED_ANNOTATION = "cluster.x-k8s.io/paused";
export const CLONED_FROM_NAME = "cluster.x-k8s.io/cloned-from-name";
export const CLONED_FROM_KIND = "cluster.x-k8s.io/cloned-from-groupkind";
export const DELETE_MACHINE_ANNOTATION = "cluster.x-k8s.io/delete-machine";
export const REMEDIATE_ANNOTATION = "cluster.x-k8s.io/remediate-machine";
export const SKIP_REMEDIATION_ANNOTATION = "cluster.x-k8s.io/skip-remediation";
export const PRE_TERMINATE_PREFIX = "pre-terminate.delete.hook.machine.cluster.x-k8s.io";
/** Keeps a control-plane machine until its etcd member is removed. */
export const CONTROL_PLANE_HOOK = `${PRE_TERMINATE_PREFIX}/kcp-cleanup`;
/** The in-memory provider marks machines that have started completely. */
export const BOOTSTRAPPED_ANNOTATION = "machine.inmemory.infrastructure.cluster.x-k8s.io/bootstrapped";
export const REVISION_ANNOTATION = "machinedeployment.clusters.x-k8s.io/revision";
export const DESIRED_ANNOTATION = "machinedeployment.clusters.x-k8s.io/desired-replicas";
export const MAX_ANNOTATION = "machinedeployment.clusters.x-k8s.io/max-replicas";

export const CLUSTER_FINALIZER = "cluster.cluster.x-k8s.io";
export const MACHINE_FINALIZER = "machine.cluster.x-k8s.io";
export const MACHINE_SET_FINALIZER = "cluster.x-k8s.io/machineset";
export const MACHINE_DEPLOYMENT_FINALIZER = "cluster.x-k8s.io/machinedeployment";
export const CONTROL_PLANE_FINALIZER = "kubeadm.controlplane.cluster.x-k8s.io";
export const RESOURCE_SET_FINALIZER = "addons.cluster.x-k8s.io";

/** The type of the Secrets that Cluster API writes. */
export const CAPI_SECRET_TYPE = "cluster.x-k8s.io/secret";
export const kubeconfigSecret = (cluster: string) => `${cluster}-kubeconfig`;
/** An address where nothing listens: the endpoint of a cluster for which none was set. */
export const ABSENT_ENDPOINT = { host: "127.0.0.9", port: 6443 };

const SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789";

/** Five letters, as the API server generates them. */
export function nameSuffix(random: () => number): string {
  return Array.from({ length: 5 }, () => SUFFIX_LETTERS[Math.floor(random() * SUFFIX_LETTERS.length)] ?? "x").join("");
}
