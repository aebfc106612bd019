/** Validation of less common fields and of storage kinds, and fields that are dropped without a warning. */
import { area, type Contract } from "../contract.ts";
import { pod } from "./objects.ts";

const QUALIFIED =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const template = { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "i" }] } };
const workload = { selector: { matchLabels: { app: "a" } }, template };
const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
const job = { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } };

type Row = { readonly claim: string; readonly path: string; readonly body: object; readonly reasons: readonly string[] };

const ROWS: readonly Row[] = [
  {
    claim: "a NodePort Service must have a cluster IP",
    path: "services",
    body: { metadata: { name: "a" }, spec: { type: "NodePort", clusterIP: "None", ports: [{ port: 1 }] } },
    reasons: ["spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort services"],
  },
  {
    claim: "allocateLoadBalancerNodePorts is valid for LoadBalancer Services only",
    path: "services",
    body: { metadata: { name: "a" }, spec: { allocateLoadBalancerNodePorts: false, ports: [{ port: 1 }] } },
    reasons: ["spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is 'LoadBalancer'"],
  },
  {
    claim: "two cluster IPs of a Service must have different families",
    path: "services",
    body: { metadata: { name: "a" }, spec: { ports: [{ port: 1 }], clusterIPs: ["10.0.0.7", "10.0.0.8"] } },
    reasons: [
      'spec.clusterIPs: Invalid value: ["10.0.0.7","10.0.0.8"]: must be empty when `clusterIP` is not specified',
      'spec.clusterIPs: Invalid value: ["10.0.0.7","10.0.0.8"]: may specify no more than one IP for each IP family',
    ],
  },
  {
    claim: "a Node has at most one podCIDR of each family",
    path: "/api/v1/nodes",
    body: { metadata: { name: "a" }, spec: { podCIDRs: ["10.1.0.0/24", "10.2.0.0/24"] } },
    reasons: ['spec.podCIDRs: Invalid value: ["10.1.0.0/24","10.2.0.0/24"]: may specify no more than one CIDR for each IP family'],
  },
  {
    claim: "a StatefulSet with strategy OnDelete has no rollingUpdate",
    path: "apps/v1/statefulsets",
    body: { metadata: { name: "a" }, spec: { ...workload, updateStrategy: { type: "OnDelete", rollingUpdate: { partition: 1 } } } },
    reasons: [
      'spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":1,"MaxUnavailable":null}: only allowed for updateStrategy \'RollingUpdate\'',
    ],
  },
  {
    claim: "the job template of a CronJob has no selector",
    path: "batch/v1/cronjobs",
    body: {
      metadata: { name: "a" },
      spec: { schedule: "* * * * *", jobTemplate: { spec: { ...job, manualSelector: true, selector: { matchLabels: { a: "b" } } } } },
    },
    reasons: [
      'spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated',
      'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
    ],
  },
  {
    claim: "a NetworkPolicy has at most two policyTypes",
    path: "networking.k8s.io/v1/networkpolicies",
    body: { metadata: { name: "a" }, spec: { podSelector: {}, policyTypes: ["X", "Ingress", "Egress"] } },
    reasons: ['spec.policyTypes: Invalid value: ["X","Ingress","Egress"]: may not specify more than two policyTypes'],
  },
  {
    claim: "dataSource and dataSourceRef of a claim must be equal",
    path: "persistentvolumeclaims",
    body: {
      metadata: { name: "a" },
      spec: {
        ...claim,
        dataSource: { kind: "PersistentVolumeClaim", name: "y" },
        dataSourceRef: { kind: "Foo", name: "x", apiGroup: "a.b" },
      },
    },
    reasons: ["spec: Invalid value: {}: must match dataSourceRef"],
  },
  {
    claim: "a hostPath volume at / cannot be recycled",
    path: "/api/v1/persistentvolumes",
    body: {
      metadata: { name: "a" },
      spec: {
        capacity: { storage: "1" },
        accessModes: ["ReadWriteOnce"],
        hostPath: { path: "/" },
        persistentVolumeReclaimPolicy: "Recycle",
      },
    },
    reasons: ["spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"],
  },
  {
    claim: "parameters and allowedTopologies of a StorageClass are validated",
    path: "/apis/storage.k8s.io/v1/storageclasses",
    body: {
      metadata: { name: "a" },
      provisioner: "a",
      parameters: { "": "x" },
      allowedTopologies: [{ matchLabelExpressions: [{ key: "a", values: [] }] }, { matchLabelExpressions: [{ key: "a", values: [] }] }],
    },
    reasons: [
      'parameters: Invalid value: "": field can not be empty.',
      "allowedTopologies[0].matchLabelExpressions[0].values: Required value",
      "allowedTopologies[1].matchLabelExpressions[0].values: Required value",
      'allowedTopologies[1].matchLabelExpressions: Duplicate value: ""',
    ],
  },
  {
    claim: "tokenRequests of a CSIDriver have unique audiences and a minimum duration",
    path: "/apis/storage.k8s.io/v1/csidrivers",
    body: {
      metadata: { name: "a" },
      spec: {
        fsGroupPolicy: "X",
        volumeLifecycleModes: ["Y"],
        tokenRequests: [{ audience: "a", expirationSeconds: 1 }, { audience: "a" }],
      },
    },
    reasons: [
      'spec.fsGroupPolicy: Unsupported value: "X": supported values: "File", "None", "ReadWriteOnceWithFSType"',
      "spec.tokenRequests[0].expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes",
      'spec.tokenRequests[1].audience: Duplicate value: "a"',
      'spec.volumeLifecycleModes: Unsupported value: "Y": supported values: "Persistent", "Ephemeral"',
    ],
  },
  {
    claim: "the drivers of a CSINode are unique and complete",
    path: "/apis/storage.k8s.io/v1/csinodes",
    body: {
      metadata: { name: "a" },
      spec: {
        drivers: [
          { name: "a", nodeID: "", allocatable: { count: -1 } },
          { name: "a", nodeID: "x", topologyKeys: ["b", "b"] },
        ],
      },
    },
    reasons: [
      "spec.drivers[0].nodeID: Required value",
      "spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0",
      'spec.drivers[1].name: Duplicate value: "a"',
      'spec.drivers[1]: Duplicate value: "b"',
    ],
  },
  {
    claim: "overhead and scheduling of a RuntimeClass are validated",
    path: "/apis/node.k8s.io/v1/runtimeclasses",
    body: { metadata: { name: "a" }, handler: "a", overhead: { podFixed: { nope: "1" } }, scheduling: { nodeSelector: { "a b": "c" } } },
    reasons: [
      'overhead.limits[nope]: Invalid value: "nope": must be a standard resource type or fully qualified',
      'overhead.limits[nope]: Invalid value: "nope": must be a standard resource for containers',
      `scheduling.nodeSelector: Invalid value: "a b": ${QUALIFIED}`,
    ],
  },
  {
    claim: "an IPAddress has an IP as its name, and a parentRef",
    path: "/apis/networking.k8s.io/v1/ipaddresses",
    body: { metadata: { name: "x" } },
    reasons: [
      'metadata.name: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      "spec.parentRef: Required value",
    ],
  },
  {
    claim: "zone hints and port names of an EndpointSlice are unique",
    path: "discovery.k8s.io/v1/endpointslices",
    body: {
      metadata: { name: "a" },
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.1.1.1"], hints: { forZones: [{ name: "z" }, { name: "z" }] } }],
      ports: [{ port: 1 }, { port: 2 }],
    },
    reasons: ['ports[1].name: Duplicate value: ""', 'endpoints[0].hints.forZones[1].name: Duplicate value: "z"'],
  },
];

const refused: readonly Contract[] = ROWS.flatMap((row) =>
  area("optional field refusals", {
    [row.claim]: async (api) => {
      (await api.post(`${row.path}?dryRun=All`, row.body)).gives(422, { reason: "Invalid" }).because(row.reasons);
    },
  }),
);

const DRIVERS = "/apis/storage.k8s.io/v1/csidrivers";

export const optionalFieldRefusals: readonly Contract[] = [
  ...refused,
  ...area("optional field refusals", {
    "a Lease drops the fields of coordinated leader election": async (api) => {
      const made = await api.created("coordination.k8s.io/v1/leases", {
        metadata: { name: "a" },
        spec: { strategy: "X", preferredHolder: "p" },
      });
      made.has("spec", {});
    },

    "hostIP of a Pod's status is not copied to hostIPs": async (api) => {
      await api.created("pods", pod("a"));
      const written = (await api.mergePatch("pods/a/status", { status: { hostIP: "10.0.0.1", podIP: "10.1.1.1" } })).gives(200);
      written.has("status.podIPs", [{ ip: "10.1.1.1" }]).has("status.hostIPs", undefined);
    },

    "a new CSIDriver has no generation, and attachRequired is immutable": async (api) => {
      const name = `driver-${api.namespace}`;
      const made = await api.created(DRIVERS, { metadata: { name }, spec: {} });
      made.has("metadata.generation", undefined);
      (await api.mergePatch(`${DRIVERS}/${name}`, { spec: { attachRequired: false } }))
        .gives(422)
        .because(["spec.attachedRequired: Invalid value: false: field is immutable"]);
      (await api.mergePatch(`${DRIVERS}/${name}`, { spec: { podInfoOnMount: true } })).gives(200).has("metadata.generation", 1);
      (await api.delete(`${DRIVERS}/${name}`)).gives(200);
    },

    "the ipMode of a load balancer address is validated": async (api) => {
      await api.created("services", { metadata: { name: "a" }, spec: { type: "LoadBalancer", ports: [{ port: 1 }] } });
      (await api.mergePatch("services/a/status", { status: { loadBalancer: { ingress: [{ ip: "1.1.1.1", ipMode: "Nope" }] } } }))
        .gives(422)
        .because(['status.loadBalancer.ingress[0].ipMode: Unsupported value: "Nope": supported values: "Proxy", "VIP"']);
    },
  }),
];
