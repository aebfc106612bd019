/** kubectl with less common kinds, `create --dry-run=server` for every kind that it can create, and invalid commands. */
import type { Command } from "./compare.ts";

const template = { metadata: { labels: { app: "more" } }, spec: { containers: [{ name: "c", image: "example.test/c:1" }] } };
const spec = { replicas: 0, selector: { matchLabels: { app: "more" } }, template };

const NAMESPACED: readonly (readonly [apiVersion: string, kind: string, body: object])[] = [
  ["v1", "LimitRange", { spec: { limits: [{ type: "Container", max: { memory: "2Gi" } }] } }],
  ["v1", "PodTemplate", { template }],
  ["v1", "ReplicationController", { spec: { replicas: 0, template } }],
  ["apps/v1", "ReplicaSet", { spec }],
  ["apps/v1", "StatefulSet", { spec: { ...spec, serviceName: "s" } }],
  ["apps/v1", "DaemonSet", { spec: { selector: spec.selector, template } }],
  ["apps/v1", "ControllerRevision", { revision: 1, data: {} }],
  ["coordination.k8s.io/v1", "Lease", { spec: { holderIdentity: "h", leaseDurationSeconds: 3 } }],
  [
    "discovery.k8s.io/v1",
    "EndpointSlice",
    { addressType: "IPv4", endpoints: [{ addresses: ["192.0.2.1"] }], ports: [{ name: "n", port: 80 }] },
  ],
  ["networking.k8s.io/v1", "NetworkPolicy", { spec: { podSelector: {}, policyTypes: ["Ingress"] } }],
];

const CLUSTER_SCOPED: readonly (readonly [apiVersion: string, kind: string, body: object])[] = [
  ["networking.k8s.io/v1", "IngressClass", { spec: { controller: "a.test/b" } }],
  ["storage.k8s.io/v1", "StorageClass", { provisioner: "a.test/p" }],
  ["storage.k8s.io/v1", "VolumeAttributesClass", { driverName: "d.test", parameters: { a: "b" } }],
  ["storage.k8s.io/v1", "CSIDriver", { spec: { attachRequired: false } }],
  ["node.k8s.io/v1", "RuntimeClass", { handler: "h" }],
  ["resource.k8s.io/v1", "DeviceClass", { spec: {} }],
  [
    "admissionregistration.k8s.io/v1",
    "ValidatingAdmissionPolicy",
    {
      spec: {
        matchConstraints: { resourceRules: [{ apiGroups: ["a.test"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["x"] }] },
        validations: [{ expression: "true" }],
      },
    },
  ],
  ["admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", { spec: { policyName: "p", validationActions: ["Deny"] } }],
];

const CREATES: readonly string[] = [
  "deployment dry --image=a --image=b -o yaml",
  "configmap dry --from-literal=a=b -o yaml",
  "service clusterip dry --clusterip=None -o yaml",
  "ingress dry --rule=a.test/b=svc:http --default-backend=s:80 --annotation=a=b -o yaml",
  "role dry --verb=get --resource=deployments.apps/scale -o yaml",
  "rolebinding dry --clusterrole=view --user=a -o yaml",
  "quota dry --hard=pods=1 --scopes=BestEffort -o yaml",
  "pdb dry --selector=a=b --max-unavailable=1 -o yaml",
  "cronjob dry --image=a --schedule=@daily -o yaml",
  "serviceaccount dry -o yaml",
];

const INVALID: readonly string[] = [
  "create deployment dry --image=a --replicas=-2",
  "create configmap dry --from-literal=a",
  "create service clusterip dry --tcp=80 --clusterip=1.2.3.4",
  "create service nodeport dry --tcp=80:8080 --node-port=80",
  "create role dry --verb=get --resource=nonsense",
  "create clusterrole dry --verb=get --non-resource-url=bad",
  "create quota dry --hard=pods=x",
  "create quota dry --hard=pods=1 --scopes=Nonsense",
  "create priorityclass dry --value=2000000000",
  "create job dry --from=cronjob/nonsense",
  "create namespace Bad",
  "run dry --image=a --restart=Nonsense",
  "expose configmap more --port=80",
  "autoscale replicaset more --max=3 --min=5",
  "scale replicaset more --replicas=2 --current-replicas=7",
  "scale statefulset more --replicas=-1",
  "set image replicaset/more nonsense=x",
  "set resources statefulset/more --limits=cpu=x",
  "rollout undo daemonset/more --to-revision=7",
  "rollout pause daemonset/more",
  "rollout restart replicaset/more",
  "rollout status lease/more",
  "label lease more a=b --resource-version=1",
  "patch statefulset more --subresource=nonsense --type=merge -p {}",
  "patch statefulset more --type=json -p [{'op':'remove','path':'/nonsense'}]",
  "wait lease/more --for=nonsense",
  "get lease more -o nonsense",
  "get leases --field-selector=metadata.nonsense=x",
  "get leases -l ==",
  "get lease/nonsense limitrange/nonsense",
  "delete statefulset more --cascade=nonsense",
  "delete lease",
  "explain nonsense",
  "explain pod.spec.nonsense",
];

const argsOf = (text: string) => text.replaceAll("'", '"').split(" ");

export function rareKindsAndInvalidCommands(own: string): readonly Command[] {
  const items = [
    ...NAMESPACED.map(([apiVersion, kind, body]) => ({ apiVersion, kind, metadata: { name: "more", labels: { own } }, ...body })),
    ...CLUSTER_SCOPED.map(([apiVersion, kind, body]) => ({ apiVersion, kind, metadata: { name: own, labels: { own } }, ...body })),
  ];
  const stdin = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  const seen = ["validatingadmissionpolicy", own, "-o", "jsonpath={.status.observedGeneration}"];
  const named = [...NAMESPACED.map(([, kind]) => [kind, "more"] as const), ...CLUSTER_SCOPED.map(([, kind]) => [kind, own] as const)];
  return [
    { args: ["apply", "-f", "-"], stdin },
    { args: ["apply", "-f", "-"], stdin },
    { args: ["wait", "validatingadmissionpolicy", own, "--for=jsonpath={.status.observedGeneration}=1", "--timeout=20s"] },
    { args: ["get", ...seen] },
    ...named.map(([kind, name]) => ({
      args: ["describe", kind.toLowerCase(), name],
      without: { lines: /Created on:|Resource Version:/, why: "creation time and version differ" },
    })),
    ...named.map(([kind]) => ({ args: ["get", kind.toLowerCase(), "-l", `own=${own}`, "-o", "wide", "--show-labels"] })),
    ...CREATES.map((line) => ({ args: ["create", ...argsOf(line), "--dry-run=server"] })),
    ...INVALID.map((line) => ({ args: argsOf(line) })),
    { args: ["rollout", "history", "statefulset/more"], after: ["get", "controllerrevisions", "-l", "app=more"] },
    { args: ["delete", "-f", "-", "--timeout=30s"], stdin },
  ];
}
