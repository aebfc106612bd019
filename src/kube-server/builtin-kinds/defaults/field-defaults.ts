/**
 * Defaults that are a value and nothing else, by the type they belong to. A field gets its value wherever the type occurs, so a
 * container is defaulted in a Pod and in a Deployment's template alike.
 *
 * Defaults that Kubernetes declares in its OpenAPI documents (a port's protocol) are not repeated here: walk.ts reads them there.
 */
import type { JsonObject } from "#kube";

const WEBHOOK: JsonObject = {
  failurePolicy: "Fail",
  matchPolicy: "Equivalent",
  namespaceSelector: {},
  objectSelector: {},
  timeoutSeconds: 10,
};
const DEVICE_TOLERATION: JsonObject = { operator: "Equal" };
/** 0644 */
const FILE_MODE: JsonObject = { defaultMode: 420 };

export const FIELD_DEFAULTS: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  [
    "core.v1.PodSpec",
    {
      dnsPolicy: "ClusterFirst",
      restartPolicy: "Always",
      securityContext: {},
      terminationGracePeriodSeconds: 30,
      schedulerName: "default-scheduler",
    },
  ],
  ["core.v1.Container", { terminationMessagePath: "/dev/termination-log", terminationMessagePolicy: "File" }],
  ["core.v1.EphemeralContainer", { terminationMessagePath: "/dev/termination-log", terminationMessagePolicy: "File" }],
  ["core.v1.Probe", { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 }],
  ["core.v1.HTTPGetAction", { path: "/", scheme: "HTTP" }],
  ["core.v1.GRPCAction", { service: "" }],
  ["core.v1.ObjectFieldSelector", { apiVersion: "v1" }],
  ["core.v1.SecretVolumeSource", FILE_MODE],
  ["core.v1.ConfigMapVolumeSource", FILE_MODE],
  ["core.v1.DownwardAPIVolumeSource", FILE_MODE],
  ["core.v1.ProjectedVolumeSource", FILE_MODE],
  ["core.v1.ServiceAccountTokenProjection", { expirationSeconds: 3600 }],
  ["core.v1.HostPathVolumeSource", { type: "" }],
  ["core.v1.PersistentVolumeSpec", { persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem" }],
  ["core.v1.PersistentVolumeStatus", { phase: "Pending" }],
  ["core.v1.PersistentVolumeClaimSpec", { volumeMode: "Filesystem" }],
  ["core.v1.EndpointPort", { protocol: "TCP" }],
  ["core.v1.NamespaceStatus", { phase: "Active" }],
  ["core.v1.Secret", { type: "Opaque" }],
  ["core.v1.ReplicationControllerSpec", { replicas: 1 }],
  ["core.v1.ServicePort", { protocol: "TCP" }],
  ["core.v1.ServiceSpec", { sessionAffinity: "None", type: "ClusterIP" }],
  ["core.v1.AzureDiskVolumeSource", { cachingMode: "ReadWrite", fsType: "ext4", kind: "Shared", readOnly: false }],
  ["apps.v1.DeploymentSpec", { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 }],
  ["apps.v1.DeploymentStrategy", { type: "RollingUpdate" }],
  ["apps.v1.RollingUpdateDeployment", { maxUnavailable: "25%", maxSurge: "25%" }],
  ["apps.v1.DaemonSetSpec", { revisionHistoryLimit: 10 }],
  ["apps.v1.DaemonSetUpdateStrategy", { type: "RollingUpdate" }],
  ["apps.v1.RollingUpdateDaemonSet", { maxUnavailable: 1, maxSurge: 0 }],
  [
    "apps.v1.StatefulSetSpec",
    { podManagementPolicy: "OrderedReady", replicas: 1, revisionHistoryLimit: 10, persistentVolumeClaimRetentionPolicy: {} },
  ],
  ["apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy", { whenDeleted: "Retain", whenScaled: "Retain" }],
  ["apps.v1.ReplicaSetSpec", { replicas: 1 }],
  ["batch.v1.CronJobSpec", { concurrencyPolicy: "Allow", suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 }],
  ["batch.v1.PodFailurePolicyOnPodConditionsPattern", { status: "True" }],
  ["autoscaling.v1.HorizontalPodAutoscalerSpec", { minReplicas: 1 }],
  ["autoscaling.v2.HorizontalPodAutoscalerSpec", { minReplicas: 1 }],
  ["networking.v1.NetworkPolicyPort", { protocol: "TCP" }],
  ["networking.v1.IngressClassParametersReference", { scope: "Cluster" }],
  ["storage.v1.StorageClass", { reclaimPolicy: "Delete", volumeBindingMode: "Immediate" }],
  [
    "storage.v1.CSIDriverSpec",
    {
      attachRequired: true,
      podInfoOnMount: false,
      storageCapacity: false,
      fsGroupPolicy: "ReadWriteOnceWithFSType",
      volumeLifecycleModes: ["Persistent"],
      requiresRepublish: false,
      seLinuxMount: false,
    },
  ],
  ["admissionregistration.v1.ValidatingWebhook", WEBHOOK],
  ["admissionregistration.v1.MutatingWebhook", { ...WEBHOOK, reinvocationPolicy: "Never" }],
  ["admissionregistration.v1.RuleWithOperations", { scope: "*" }],
  ["admissionregistration.v1.NamedRuleWithOperations", { scope: "*" }],
  ["admissionregistration.v1.ServiceReference", { port: 443 }],
  ["admissionregistration.v1.ValidatingAdmissionPolicySpec", { failurePolicy: "Fail" }],
  ["admissionregistration.v1.MutatingAdmissionPolicySpec", { failurePolicy: "Fail" }],
  ["admissionregistration.v1.MatchResources", { matchPolicy: "Equivalent", namespaceSelector: {}, objectSelector: {} }],
  ["io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.ServiceReference", { port: 443 }],
  ["discovery.v1.EndpointPort", { name: "", protocol: "TCP" }],
  ["scheduling.v1.PriorityClass", { preemptionPolicy: "PreemptLowerPriority" }],
  ["flowcontrol.v1.FlowSchemaSpec", { matchingPrecedence: 1000 }],
  ["flowcontrol.v1.ExemptPriorityLevelConfiguration", { nominalConcurrencyShares: 0, lendablePercent: 0 }],
  ["flowcontrol.v1.LimitedPriorityLevelConfiguration", { nominalConcurrencyShares: 30, lendablePercent: 0 }],
  ["flowcontrol.v1.QueuingConfiguration", { handSize: 8, queues: 64, queueLengthLimit: 50 }],
  ["resource.v1.ExactDeviceRequest", { allocationMode: "ExactCount" }],
  ["resource.v1.DeviceSubRequest", { allocationMode: "ExactCount" }],
  ["resource.v1.DeviceToleration", DEVICE_TOLERATION],
]);
