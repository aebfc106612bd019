/**
 * Built-in kinds without any fields set, except metadata: structs that are always present, and fields that are written even when empty.
 *
 * The creator of an object does not own these (`f:spec` has no `.` in a Deployment's managedFields), so the object
 * before the creation must have them. Kinds that are not listed are empty; so are custom resources. Made from the Go types of
 * Kubernetes 1.36.
 */
import type { JsonObject } from "#kube";

const POD_TEMPLATE: JsonObject = { metadata: {}, spec: { containers: null } };

const EMPTY: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ["admissionregistration.k8s.io/v1 MutatingAdmissionPolicy", { spec: {} }],
  ["admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding", { spec: {} }],
  ["admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy", { spec: {}, status: {} }],
  ["admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding", { spec: {} }],
  [
    "apiextensions.k8s.io/v1 CustomResourceDefinition",
    {
      spec: { group: "", names: { kind: "", plural: "" }, scope: "", versions: null },
      status: { acceptedNames: { kind: "", plural: "" }, conditions: null, storedVersions: null },
    },
  ],
  ["apiregistration.k8s.io/v1 APIService", { spec: { groupPriorityMinimum: 0, versionPriority: 0 }, status: {} }],
  ["apps/v1 ControllerRevision", { data: null, revision: 0 }],
  [
    "apps/v1 DaemonSet",
    {
      spec: { selector: null, template: POD_TEMPLATE, updateStrategy: {} },
      status: { currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0 },
    },
  ],
  ["apps/v1 Deployment", { spec: { selector: null, strategy: {}, template: POD_TEMPLATE }, status: {} }],
  ["apps/v1 ReplicaSet", { spec: { selector: null, template: POD_TEMPLATE }, status: { replicas: 0 } }],
  [
    "apps/v1 StatefulSet",
    {
      spec: { selector: null, serviceName: "", template: POD_TEMPLATE, updateStrategy: {} },
      status: { availableReplicas: 0, replicas: 0 },
    },
  ],
  ["authentication.k8s.io/v1 SelfSubjectReview", { status: { userInfo: {} } }],
  [
    "authentication.k8s.io/v1 TokenRequest",
    { spec: { audiences: null, boundObjectRef: null, expirationSeconds: null }, status: { expirationTimestamp: null, token: "" } },
  ],
  ["authentication.k8s.io/v1 TokenReview", { spec: {}, status: { user: {} } }],
  ["authorization.k8s.io/v1 LocalSubjectAccessReview", { spec: {}, status: { allowed: false } }],
  ["authorization.k8s.io/v1 SelfSubjectAccessReview", { spec: {}, status: { allowed: false } }],
  [
    "authorization.k8s.io/v1 SelfSubjectRulesReview",
    { spec: {}, status: { incomplete: false, nonResourceRules: null, resourceRules: null } },
  ],
  ["authorization.k8s.io/v1 SubjectAccessReview", { spec: {}, status: { allowed: false } }],
  [
    "autoscaling/v1 HorizontalPodAutoscaler",
    { spec: { maxReplicas: 0, scaleTargetRef: { kind: "", name: "" } }, status: { currentReplicas: 0, desiredReplicas: 0 } },
  ],
  ["autoscaling/v1 Scale", { spec: {}, status: { replicas: 0 } }],
  [
    "autoscaling/v2 HorizontalPodAutoscaler",
    { spec: { maxReplicas: 0, scaleTargetRef: { kind: "", name: "" } }, status: { currentMetrics: null, desiredReplicas: 0 } },
  ],
  ["batch/v1 CronJob", { spec: { jobTemplate: { metadata: {}, spec: { template: POD_TEMPLATE } }, schedule: "" }, status: {} }],
  ["batch/v1 Job", { spec: { template: POD_TEMPLATE }, status: {} }],
  ["certificates.k8s.io/v1 CertificateSigningRequest", { spec: { request: null, signerName: "" }, status: {} }],
  ["coordination.k8s.io/v1 Lease", { spec: {} }],
  ["discovery.k8s.io/v1 EndpointSlice", { addressType: "", endpoints: null, ports: null }],
  [
    "events.k8s.io/v1 Event",
    { deprecatedFirstTimestamp: null, deprecatedLastTimestamp: null, deprecatedSource: {}, eventTime: null, regarding: {} },
  ],
  ["flowcontrol.apiserver.k8s.io/v1 FlowSchema", { spec: { matchingPrecedence: 0, priorityLevelConfiguration: { name: "" } }, status: {} }],
  ["flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration", { spec: { type: "" }, status: {} }],
  ["networking.k8s.io/v1 IPAddress", { spec: {} }],
  ["networking.k8s.io/v1 Ingress", { spec: {}, status: { loadBalancer: {} } }],
  ["networking.k8s.io/v1 IngressClass", { spec: {} }],
  ["networking.k8s.io/v1 NetworkPolicy", { spec: { podSelector: {} } }],
  ["networking.k8s.io/v1 ServiceCIDR", { spec: {}, status: {} }],
  ["node.k8s.io/v1 RuntimeClass", { handler: "" }],
  ["policy/v1 PodDisruptionBudget", { spec: {}, status: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 } }],
  ["rbac.authorization.k8s.io/v1 ClusterRole", { rules: null }],
  ["rbac.authorization.k8s.io/v1 ClusterRoleBinding", { roleRef: { apiGroup: "", kind: "", name: "" } }],
  ["rbac.authorization.k8s.io/v1 Role", { rules: null }],
  ["rbac.authorization.k8s.io/v1 RoleBinding", { roleRef: { apiGroup: "", kind: "", name: "" } }],
  ["resource.k8s.io/v1 DeviceClass", { spec: {} }],
  ["resource.k8s.io/v1 ResourceClaim", { spec: { devices: { requests: null } }, status: {} }],
  ["resource.k8s.io/v1 ResourceClaimTemplate", { spec: { metadata: {}, spec: { devices: { requests: null } } } }],
  ["resource.k8s.io/v1 ResourceSlice", { spec: { driver: "", pool: { generation: 0, name: "", resourceSliceCount: 0 } } }],
  ["scheduling.k8s.io/v1 PriorityClass", { value: 0 }],
  ["storage.k8s.io/v1 CSIDriver", { spec: {} }],
  ["storage.k8s.io/v1 CSINode", { spec: { drivers: null } }],
  ["storage.k8s.io/v1 CSIStorageCapacity", { storageClassName: "" }],
  ["storage.k8s.io/v1 StorageClass", { provisioner: "" }],
  ["storage.k8s.io/v1 VolumeAttachment", { spec: { attacher: "", nodeName: "", source: {} }, status: { attached: false } }],
  ["storage.k8s.io/v1 VolumeAttributesClass", { driverName: "" }],
  ["v1 Binding", { target: {} }],
  [
    "v1 Event",
    {
      eventTime: null,
      firstTimestamp: null,
      involvedObject: {},
      lastTimestamp: null,
      reportingComponent: "",
      reportingInstance: "",
      source: {},
    },
  ],
  ["v1 LimitRange", { spec: { limits: null } }],
  ["v1 Namespace", { spec: {}, status: {} }],
  [
    "v1 Node",
    {
      spec: {},
      status: {
        daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
        nodeInfo: {
          architecture: "",
          bootID: "",
          containerRuntimeVersion: "",
          kernelVersion: "",
          kubeProxyVersion: "",
          kubeletVersion: "",
          machineID: "",
          operatingSystem: "",
          osImage: "",
          systemUUID: "",
        },
      },
    },
  ],
  ["v1 PersistentVolume", { spec: {}, status: {} }],
  ["v1 PersistentVolumeClaim", { spec: { resources: {} }, status: {} }],
  ["v1 Pod", { spec: { containers: null }, status: {} }],
  ["v1 PodTemplate", { template: POD_TEMPLATE }],
  ["v1 ReplicationController", { spec: {}, status: { replicas: 0 } }],
  ["v1 ResourceQuota", { spec: {}, status: {} }],
  ["v1 Service", { spec: {}, status: { loadBalancer: {} } }],
]);

/** `emptyObject` of a `ManagedKind`. */
export function emptyObjectOf(apiVersion: string, kind: string): JsonObject {
  return EMPTY.get(`${apiVersion} ${kind}`) ?? {};
}
