/**
 * Validation errors of creations, with every cause. All requests are dry runs.
 *
 * The messages are the real server's; their order is not part of the claim, because Go iterates maps in random order.
 */
import { area, type Contract } from "../contract.ts";

type Row = { readonly claim: string; readonly path: string; readonly body: object; readonly reasons: readonly string[] };

const ROWS: readonly Row[] = [
  {
    claim: "counts of a Deployment are not negative, and its strategy is validated",
    path: "apps/v1/deployments",
    body: {
      metadata: { name: "a" },
      spec: {
        replicas: -1,
        selector: { matchLabels: { app: "a" } },
        template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "i" }] } },
        minReadySeconds: -1,
        revisionHistoryLimit: -2,
        strategy: { type: "Foo" },
      },
    },
    reasons: [
      "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
      "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
      "spec.revisionHistoryLimit: Invalid value: -2: must be greater than or equal to 0",
      'spec.strategy: Unsupported value: {"Type":"Foo","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"',
    ],
  },
  {
    claim: "progressDeadlineSeconds of a Deployment is greater than minReadySeconds",
    path: "apps/v1/deployments",
    body: {
      metadata: { name: "a" },
      spec: {
        selector: { matchLabels: { app: "a" } },
        template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "i" }] } },
        minReadySeconds: 700,
      },
    },
    reasons: ["spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds"],
  },
  {
    claim: "an empty selector of a Deployment is rejected",
    path: "apps/v1/deployments",
    body: {
      metadata: { name: "a" },
      spec: { selector: {}, template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "i" }] } } },
    },
    reasons: ["spec.selector: Invalid value: {}: empty selector is invalid for deployment"],
  },
  {
    claim: "operators and values of selector expressions are validated",
    path: "apps/v1/deployments",
    body: {
      metadata: { name: "a" },
      spec: {
        selector: {
          matchExpressions: [
            { key: "x", operator: "Foo" },
            { key: "y", operator: "In" },
            { key: "z", operator: "Exists", values: ["a"] },
          ],
        },
        template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "i" }] } },
      },
    },
    reasons: [
      'spec.selector.matchExpressions[0].operator: Invalid value: "Foo": not a valid selector operator',
      "spec.selector.matchExpressions[1].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      "spec.selector.matchExpressions[2].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      'spec.selector: Invalid value: {"matchExpressions":[{"key":"x","operator":"Foo"},{"key":"y","operator":"In"},{"key":"z","operator":"Exists","values":["a"]}]}: invalid label selector',
    ],
  },
  {
    claim: "containers need images and unique names",
    path: "apps/v1/deployments",
    body: {
      metadata: { name: "a" },
      spec: {
        selector: { matchLabels: { app: "a" } },
        template: {
          metadata: { labels: { app: "a" } },
          spec: { containers: [{ name: "c" }, { name: "c", image: "i" }, { name: "BAD", image: " i" }] },
        },
      },
    },
    reasons: [
      "spec.template.spec.containers[0].image: Required value",
      'spec.template.spec.containers[1].name: Duplicate value: "c"',
      "spec.template.spec.containers[2].name: Invalid value: \"BAD\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
  },
  {
    claim: "ordinals and policies of a StatefulSet are validated",
    path: "apps/v1/statefulsets",
    body: {
      metadata: { name: "a" },
      spec: {
        selector: { matchLabels: { app: "a" } },
        template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "i" }] } },
        serviceName: "x",
        updateStrategy: { rollingUpdate: { partition: -1 } },
        ordinals: { start: -1 },
        persistentVolumeClaimRetentionPolicy: { whenDeleted: "X" },
      },
    },
    reasons: [
      "spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0",
      'spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "X": supported values: "Retain", "Delete"',
      "spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0",
    ],
  },
  {
    claim: "maxUnavailable and maxSurge of a DaemonSet are not both 0",
    path: "apps/v1/daemonsets",
    body: {
      metadata: { name: "a" },
      spec: {
        selector: { matchLabels: { app: "a" } },
        template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "i" }] } },
        updateStrategy: { rollingUpdate: { maxUnavailable: 0 } },
      },
    },
    reasons: ["spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0"],
  },
  {
    claim: "container ports are in range and have unique names",
    path: "podtemplates",
    body: {
      metadata: { name: "a" },
      template: {
        metadata: { labels: { app: "a" } },
        spec: {
          containers: [
            {
              name: "c",
              image: "i",
              ports: [
                { containerPort: 0 },
                { containerPort: 70000, hostPort: -1, protocol: "X" },
                { containerPort: 80, name: "a" },
                { containerPort: 81, name: "a" },
              ],
            },
          ],
        },
      },
    },
    reasons: [
      "template.spec.containers[0].ports[0].containerPort: Required value",
      "template.spec.containers[0].ports[1].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
      "template.spec.containers[0].ports[1].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive",
      'template.spec.containers[0].ports[1].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
      'template.spec.containers[0].ports[3].name: Duplicate value: "a"',
    ],
  },
  {
    claim: "a variable has a valid name and one value",
    path: "podtemplates",
    body: {
      metadata: { name: "a" },
      template: {
        metadata: { labels: { app: "a" } },
        spec: {
          containers: [
            {
              name: "c",
              image: "i",
              env: [
                { name: "" },
                { name: "1=2" },
                { name: "A", value: "x", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
                { name: "B", valueFrom: {} },
                { name: "C", valueFrom: { fieldRef: { fieldPath: "spec.foo" } } },
              ],
            },
          ],
        },
      },
    },
    reasons: [
      "template.spec.containers[0].env[0].name: Required value",
      "template.spec.containers[0].env[1].name: Invalid value: \"1=2\": a valid environment variable name must consist only of printable ASCII characters other than '='",
      'template.spec.containers[0].env[2].valueFrom: Invalid value: "": may not be specified when `value` is not empty',
      'template.spec.containers[0].env[3].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
      'template.spec.containers[0].env[4].valueFrom.fieldRef.fieldPath: Invalid value: "spec.foo": error converting fieldPath: field label not supported: spec.foo',
    ],
  },
  {
    claim: "envFrom needs a named ConfigMap or Secret",
    path: "podtemplates",
    body: {
      metadata: { name: "a" },
      template: {
        metadata: { labels: { app: "a" } },
        spec: { containers: [{ name: "c", image: "i", envFrom: [{}, { configMapRef: { name: "" } }] }] },
      },
    },
    reasons: [
      'template.spec.containers[0].envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`',
      "template.spec.containers[0].envFrom[1].configMapRef.name: Required value",
    ],
  },
  {
    claim: "mounts name an existing volume and have unique paths",
    path: "podtemplates",
    body: {
      metadata: { name: "a" },
      template: {
        metadata: { labels: { app: "a" } },
        spec: {
          containers: [
            {
              name: "c",
              image: "i",
              volumeMounts: [
                { name: "no", mountPath: "/a" },
                { name: "no", mountPath: "/a", subPath: "../x" },
              ],
            },
          ],
        },
      },
    },
    reasons: [
      "template.spec.containers[0].volumeMounts.subPath: Invalid value: \"../x\": must not contain '..'",
      'template.spec.containers[0].volumeMounts[0].name: Not found: "no"',
      'template.spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/a": must be unique',
      'template.spec.containers[0].volumeMounts[1].name: Not found: "no"',
    ],
  },
  {
    claim: "a volume has one source and a unique name",
    path: "podtemplates",
    body: {
      metadata: { name: "a" },
      template: {
        metadata: { labels: { app: "a" } },
        spec: {
          containers: [{ name: "c", image: "i" }],
          volumes: [
            { name: "a", emptyDir: {}, hostPath: { path: "/x" } },
            { name: "a", hostPath: { path: "" } },
            { name: "c", configMap: {} },
            { name: "d", persistentVolumeClaim: { claimName: "" } },
          ],
        },
      },
    },
    reasons: [
      "template.spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type",
      "template.spec.volumes[1].hostPath.path: Required value",
      "template.spec.volumes[2].configMap.name: Required value",
      "template.spec.volumes[3].persistentVolumeClaim.claimName: Required value",
    ],
  },
  {
    claim: "resources have valid names and no negative amounts",
    path: "podtemplates",
    body: {
      metadata: { name: "a" },
      template: {
        metadata: { labels: { app: "a" } },
        spec: { containers: [{ name: "c", image: "i", resources: { requests: { cpu: "-1", foo: "1" } } }] },
      },
    },
    reasons: [
      'template.spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0',
      'template.spec.containers[0].resources.requests[foo]: Invalid value: "foo": must be a standard resource for containers',
      'template.spec.containers[0].resources.requests[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
    ],
  },
  {
    claim: "requests of extended resources equal their limits",
    path: "podtemplates",
    body: {
      metadata: { name: "a" },
      template: {
        metadata: { labels: { app: "a" } },
        spec: { containers: [{ name: "c", image: "i", resources: { requests: { "a.b/c": "1" }, limits: { "a.b/c": "2" } } }] },
      },
    },
    reasons: ['template.spec.containers[0].resources.requests: Invalid value: "1": must be equal to a.b/c limit of 2'],
  },
  {
    claim: "a probe has one handler and no negative times",
    path: "podtemplates",
    body: {
      metadata: { name: "a" },
      template: {
        metadata: { labels: { app: "a" } },
        spec: {
          containers: [
            {
              name: "c",
              image: "i",
              livenessProbe: {},
              readinessProbe: { httpGet: { port: 0 }, tcpSocket: { port: 1 } },
              startupProbe: { exec: { command: [] }, successThreshold: 2, periodSeconds: -1 },
            },
          ],
        },
      },
    },
    reasons: [
      "template.spec.containers[0].livenessProbe: Required value: must specify a handler type",
      "template.spec.containers[0].readinessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive",
      "template.spec.containers[0].readinessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type",
      "template.spec.containers[0].startupProbe.exec.command: Required value",
      "template.spec.containers[0].startupProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0",
      "template.spec.containers[0].startupProbe.successThreshold: Invalid value: 2: must be 1",
    ],
  },
  {
    claim: "restart, DNS and other policies of a Pod are validated",
    path: "podtemplates",
    body: {
      metadata: { name: "a" },
      template: {
        metadata: { labels: { app: "a" } },
        spec: {
          containers: [{ name: "c", image: "i" }],
          restartPolicy: "X",
          dnsPolicy: "Y",
          terminationGracePeriodSeconds: -1,
          activeDeadlineSeconds: 0,
          hostname: "A",
        },
      },
    },
    reasons: [
      "template.spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive",
      'template.spec.dnsPolicy: Unsupported value: "Y": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
      "template.spec.hostname: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
      'template.spec.restartPolicy: Unsupported value: "X": supported values: "Always", "OnFailure", "Never"',
    ],
  },
  {
    claim: "key, operator and effect of a toleration are validated",
    path: "podtemplates",
    body: {
      metadata: { name: "a" },
      template: {
        metadata: { labels: { app: "a" } },
        spec: {
          containers: [{ name: "c", image: "i" }],
          tolerations: [
            { operator: "X" },
            { key: "a", operator: "Exists", value: "v" },
            { key: "b", effect: "Z" },
            { key: "c", effect: "NoSchedule", tolerationSeconds: 1 },
          ],
        },
      },
    },
    reasons: [
      'template.spec.tolerations[0].operator: Invalid value: "X": operator must be Exists when `key` is empty, which means "match all values and all keys"',
      'template.spec.tolerations[0].operator: Unsupported value: "X": supported values: "Equal", "Exists"',
      "template.spec.tolerations[1].operator: Invalid value: \"v\": value must be empty when `operator` is 'Exists'",
      'template.spec.tolerations[2].effect: Unsupported value: "Z": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
      "template.spec.tolerations[3].effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when `tolerationSeconds` is set",
    ],
  },
  {
    claim: "terms, weights and topology keys of an affinity are validated",
    path: "podtemplates",
    body: {
      metadata: { name: "a" },
      template: {
        metadata: { labels: { app: "a" } },
        spec: {
          containers: [{ name: "c", image: "i" }],
          affinity: {
            nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } },
            podAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "" }],
              preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 101, podAffinityTerm: { topologyKey: "z" } }],
            },
          },
        },
      },
    },
    reasons: [
      "template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term",
      "template.spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 101: must be in the range 1-100",
      'template.spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": name part must be non-empty',
      "template.spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      "template.spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value: can not be empty",
    ],
  },
  {
    claim: "topology spread constraints are validated and unique",
    path: "podtemplates",
    body: {
      metadata: { name: "a" },
      template: {
        metadata: { labels: { app: "a" } },
        spec: {
          containers: [{ name: "c", image: "i" }],
          topologySpreadConstraints: [
            { maxSkew: 0, topologyKey: "", whenUnsatisfiable: "X" },
            { maxSkew: 1, topologyKey: "a", whenUnsatisfiable: "DoNotSchedule", minDomains: 0 },
            { maxSkew: 1, topologyKey: "a", whenUnsatisfiable: "DoNotSchedule" },
          ],
        },
      },
    },
    reasons: [
      "template.spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
      "template.spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty",
      'template.spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "X": supported values: "DoNotSchedule", "ScheduleAnyway"',
      "template.spec.topologySpreadConstraints[1].minDomains: Invalid value: 0: must be greater than zero",
      'template.spec.topologySpreadConstraints[1].{topologyKey, whenUnsatisfiable}: Duplicate value: "{a, DoNotSchedule}"',
    ],
  },
  {
    claim: "on the host network a host port equals its container port",
    path: "podtemplates",
    body: {
      metadata: { name: "a" },
      template: {
        metadata: { labels: { app: "a" } },
        spec: { containers: [{ name: "c", image: "i", ports: [{ containerPort: 80, hostPort: 81 }] }], hostNetwork: true },
      },
    },
    reasons: ["template.spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is true"],
  },
  {
    claim: "dnsPolicy None needs a nameserver",
    path: "podtemplates",
    body: {
      metadata: { name: "a" },
      template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "i" }], dnsPolicy: "None" } },
    },
    reasons: ["template.spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"],
  },
  {
    claim: "a Pod has containers",
    path: "podtemplates",
    body: { metadata: { name: "a" }, template: { metadata: { labels: { app: "a" } }, spec: { containers: [] } } },
    reasons: ["template.spec.containers: Required value"],
  },
  {
    claim: "type, ports, affinity and external IPs of a Service are validated",
    path: "services",
    body: {
      metadata: { name: "a" },
      spec: {
        type: "X",
        ports: [{ port: 0 }, { name: "b", port: 70000, targetPort: "BAD_", protocol: "Q" }],
        sessionAffinity: "Y",
        externalIPs: ["127.0.0.1"],
      },
    },
    reasons: [
      'spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      "spec.ports[0].name: Required value",
      "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
      "spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive",
      "spec.ports[1].port: Invalid value: 70000: must be between 1 and 65535, inclusive",
      'spec.ports[1].protocol: Unsupported value: "Q": supported values: "SCTP", "TCP", "UDP"',
      'spec.ports[1].targetPort: Invalid value: "BAD_": must contain at least one letter (a-z)',
      'spec.ports[1].targetPort: Invalid value: "BAD_": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      'spec.sessionAffinity: Unsupported value: "Y": supported values: "ClientIP", "None"',
      'spec.type: Unsupported value: "X": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
    ],
  },
  {
    claim: "loadBalancerSourceRanges must be CIDRs",
    path: "services",
    body: { metadata: { name: "a" }, spec: { type: "LoadBalancer", ports: [{ port: 80 }], loadBalancerSourceRanges: ["x", "10.0.0.0/8"] } },
    reasons: ['spec.LoadBalancerSourceRanges[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'],
  },
  {
    claim: "RequireDualStack is rejected on a single-stack cluster",
    path: "services",
    body: { metadata: { name: "a" }, spec: { ports: [{ port: 80 }], ipFamilyPolicy: "RequireDualStack" } },
    reasons: ['spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services'],
  },
  {
    claim: "an IP family that the cluster does not have is rejected",
    path: "services",
    body: { metadata: { name: "a" }, spec: { ports: [{ port: 80 }], ipFamilies: ["IPv6"] } },
    reasons: ['spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'],
  },
  {
    claim: "traffic policies of a Service are validated",
    path: "services",
    body: { metadata: { name: "a" }, spec: { ports: [{ port: 80 }], internalTrafficPolicy: "X", trafficDistribution: "Y" } },
    reasons: [
      'spec.internalTrafficPolicy: Unsupported value: "X": supported values: "Cluster", "Local"',
      'spec.trafficDistribution: Unsupported value: "Y": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"',
    ],
  },
  {
    claim: "counts of a Job are not negative",
    path: "batch/v1/jobs",
    body: {
      metadata: { name: "a" },
      spec: {
        parallelism: -1,
        completions: -1,
        backoffLimit: -1,
        activeDeadlineSeconds: -1,
        ttlSecondsAfterFinished: -1,
        completionMode: "X",
        template: { metadata: { labels: { app: "a" } }, spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } },
      },
    },
    reasons: [
      "spec.activeDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0",
      "spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0",
      'spec.completionMode: Unsupported value: "X": supported values: "NonIndexed", "Indexed"',
      "spec.completions: Invalid value: -1: must be greater than or equal to 0",
      "spec.parallelism: Invalid value: -1: must be greater than or equal to 0",
      "spec.ttlSecondsAfterFinished: Invalid value: -1: must be greater than or equal to 0",
    ],
  },
  {
    claim: "a CronJob needs a schedule, a valid policy and a restart policy other than Always",
    path: "batch/v1/cronjobs",
    body: {
      metadata: { name: "a" },
      spec: {
        schedule: "",
        concurrencyPolicy: "X",
        startingDeadlineSeconds: -1,
        jobTemplate: { spec: { template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "i" }] } } } },
      },
    },
    reasons: [
      'spec.concurrencyPolicy: Unsupported value: "X": supported values: "Allow", "Forbid", "Replace"',
      'spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
      "spec.schedule: Required value",
      "spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0",
    ],
  },
  {
    claim: "the fields of a schedule are in range",
    path: "batch/v1/cronjobs",
    body: {
      metadata: { name: "a" },
      spec: {
        schedule: "61 * * * *",
        jobTemplate: {
          spec: {
            template: { metadata: { labels: { app: "a" } }, spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } },
          },
        },
      },
    },
    reasons: ['spec.schedule: Invalid value: "61 * * * *": end of range (61) above maximum (59): 61'],
  },
  {
    claim: "hosts of an Ingress are DNS names",
    path: "networking.k8s.io/v1/ingresses",
    body: {
      metadata: { name: "a" },
      spec: { defaultBackend: { service: { name: "S", port: {} } }, rules: [{ host: "1.2.3.4" }, { host: "a.*.b" }] },
    },
    reasons: [
      "spec.defaultBackend.service.name: Invalid value: \"S\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
      "spec.defaultBackend: Required value: port name or number is required",
      'spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
      "spec.rules[1].host: Invalid value: \"a.*.b\": a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  },
  {
    claim: "a backend is a service or a resource",
    path: "networking.k8s.io/v1/ingresses",
    body: {
      metadata: { name: "a" },
      spec: { defaultBackend: { resource: { kind: "X", name: "y", apiGroup: "z.test" }, service: { name: "s", port: { name: "p" } } } },
    },
    reasons: ['spec.defaultBackend: Invalid value: "": cannot set both resource and service backends'],
  },
  {
    claim: "peers, ports and types of a NetworkPolicy are validated",
    path: "networking.k8s.io/v1/networkpolicies",
    body: {
      metadata: { name: "a" },
      spec: {
        podSelector: {},
        policyTypes: ["Egress", "Ingress", "Egress"],
        ingress: [
          {
            ports: [{ port: 70000, protocol: "Q" }, { endPort: 5 }, { port: 10, endPort: 5 }],
            from: [{}, { ipBlock: { cidr: "x" }, podSelector: {} }, { ipBlock: { cidr: "10.0.0.1/8" } }],
          },
        ],
      },
    },
    reasons: [
      "spec.ingress[0].from[0]: Required value: must specify a peer",
      'spec.ingress[0].from[1].ipBlock.cidr: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      "spec.ingress[0].from[1]: Forbidden: may not specify both ipBlock and another peer",
      'spec.ingress[0].from[2].ipBlock.cidr: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length',
      "spec.ingress[0].ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive",
      'spec.ingress[0].ports[0].protocol: Unsupported value: "Q": supported values: "TCP", "UDP", "SCTP"',
      "spec.ingress[0].ports[1].endPort: Invalid value: 5: may not be specified when `port` is not specified",
      "spec.ingress[0].ports[2].endPort: Invalid value: 10: must be greater than or equal to `port`",
      'spec.policyTypes: Invalid value: ["Egress","Ingress","Egress"]: may not specify more than two policyTypes',
    ],
  },
  {
    claim: "target, bounds and metrics of an autoscaler are validated",
    path: "autoscaling/v2/horizontalpodautoscalers",
    body: {
      metadata: { name: "a" },
      spec: {
        scaleTargetRef: { kind: "Deployment", name: "x", apiVersion: "apps/v1" },
        minReplicas: 5,
        maxReplicas: 3,
        metrics: [{ type: "Resource" }, { type: "Resource", resource: { name: "cpu", target: { type: "Utilization" } } }],
      },
    },
    reasons: [
      "spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`",
      "spec.metrics[0].resource: Required value: must populate information for the given metric source",
      "spec.metrics[1].resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization",
    ],
  },
  {
    claim: "an autoscaler with minReplicas 0 is rejected",
    path: "autoscaling/v2/horizontalpodautoscalers",
    body: {
      metadata: { name: "a" },
      spec: { scaleTargetRef: { kind: "Deployment", name: "x", apiVersion: "apps/v1" }, minReplicas: 0, maxReplicas: 3 },
    },
    reasons: [
      "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1",
      "spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas",
    ],
  },
  {
    claim: "minAvailable of a PodDisruptionBudget is a number or a percentage",
    path: "policy/v1/poddisruptionbudgets",
    body: { metadata: { name: "a" }, spec: { minAvailable: "x%", unhealthyPodEvictionPolicy: "X" } },
    reasons: [
      "spec.minAvailable: Invalid value: \"x%\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      'spec.unhealthyPodEvictionPolicy: Unsupported value: "X": supported values: "AlwaysAllow", "IfHealthyBudget"',
    ],
  },
  {
    claim: "a claim needs access modes and a storage request",
    path: "persistentvolumeclaims",
    body: { metadata: { name: "a" }, spec: {} },
    reasons: ["spec.accessModes: Required value: at least 1 access mode is required", "spec.resources[storage]: Required value"],
  },
  {
    claim: "ReadWriteOncePod excludes other access modes",
    path: "persistentvolumeclaims",
    body: {
      metadata: { name: "a" },
      spec: { accessModes: ["X", "ReadWriteOncePod", "ReadWriteOnce"], resources: { requests: { storage: "0" } }, volumeMode: "X" },
    },
    reasons: [
      "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes",
      'spec.accessModes: Unsupported value: "X": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
      'spec.resources[storage]: Invalid value: "0": must be greater than zero',
      'spec.volumeMode: Unsupported value: "X": supported values: "Block", "Filesystem"',
    ],
  },
  {
    claim: "a local volume needs node affinity",
    path: "/api/v1/persistentvolumes",
    body: { metadata: { name: "a" }, spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], local: { path: "/x" } } },
    reasons: ["spec.nodeAffinity: Required value: Local volume requires node affinity"],
  },
  {
    claim: "a driver of a CSINode needs a nodeID",
    path: "/apis/storage.k8s.io/v1/csinodes",
    body: { metadata: { name: "a" }, spec: { drivers: [{ name: "d", nodeID: "" }] } },
    reasons: ["spec.drivers[0].nodeID: Required value"],
  },
  {
    claim: "a VolumeAttachment needs a source",
    path: "/apis/storage.k8s.io/v1/volumeattachments",
    body: { metadata: { name: "a" }, spec: { attacher: "a", nodeName: "n", source: {} } },
    reasons: ["spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName"],
  },
  {
    claim: "types and resources of limits are validated",
    path: "limitranges",
    body: {
      metadata: { name: "a" },
      spec: {
        limits: [
          { type: "X", max: { cpu: "1" } },
          { type: "Pod", default: { cpu: "1" } },
          { type: "Container", min: { foo: "1" } },
          { type: "Container", maxLimitRequestRatio: { cpu: "0.5" }, min: { cpu: "1" }, max: { cpu: "4" } },
        ],
      },
    },
    reasons: [
      'spec.limits[0].type: Invalid value: "X": must be a standard limit type or fully qualified',
      "spec.limits[1].default: Forbidden: may not be specified when `type` is 'Pod'",
      'spec.limits[2].defaultRequest[foo]: Invalid value: "foo": must be a standard resource for containers',
      'spec.limits[2].defaultRequest[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
      'spec.limits[2].min[foo]: Invalid value: "foo": must be a standard resource for containers',
      'spec.limits[2].min[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
      'spec.limits[3].maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1',
      'spec.limits[3].type: Duplicate value: "Container"',
    ],
  },
  {
    claim: "limits of claims need a minimum or maximum of storage",
    path: "limitranges",
    body: { metadata: { name: "a" }, spec: { limits: [{ type: "PersistentVolumeClaim", default: { storage: "1Gi" } }] } },
    reasons: ["spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided"],
  },
  {
    claim: "scopes of a quota are valid and not contradictory",
    path: "resourcequotas",
    body: { metadata: { name: "a" }, spec: { hard: { foo: "1" }, scopes: ["X", "BestEffort", "NotBestEffort"] } },
    reasons: [
      'spec.hard[foo]: Invalid value: "foo": must be a standard resource for quota',
      'spec.hard[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
      'spec.scopes: Invalid value: ["X","BestEffort","NotBestEffort"]: conflicting scopes',
      'spec.scopes: Invalid value: ["X","BestEffort","NotBestEffort"]: unsupported scope',
    ],
  },
  {
    claim: "a BestEffort quota cannot limit cpu",
    path: "resourcequotas",
    body: { metadata: { name: "a" }, spec: { hard: { "requests.cpu": "1" }, scopes: ["BestEffort"] } },
    reasons: ['spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource'],
  },
  {
    claim: "operators and values of a quota's scope selector are validated",
    path: "resourcequotas",
    body: {
      metadata: { name: "a" },
      spec: {
        hard: { pods: "1" },
        scopeSelector: {
          matchExpressions: [
            { scopeName: "PriorityClass", operator: "In" },
            { scopeName: "Terminating", operator: "In", values: ["x"] },
          ],
        },
      },
    },
    reasons: [
      "spec.scopeSelector.matchExpressions.operator: Invalid value: \"In\": must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
      "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
    ],
  },
  {
    claim: "the duration of a Lease is positive, and its transitions are not negative",
    path: "coordination.k8s.io/v1/leases",
    body: { metadata: { name: "a" }, spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } },
    reasons: [
      "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
      "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
    ],
  },
  {
    claim: "owner references are complete, and at most one is a controller",
    path: "configmaps",
    body: {
      metadata: {
        name: "c",
        ownerReferences: [
          { apiVersion: "v1", kind: "X", name: "", uid: "" },
          { apiVersion: "v1", kind: "Y", name: "a", uid: "b", controller: true },
          { apiVersion: "v1", kind: "Z", name: "a", uid: "c", controller: true },
        ],
      },
    },
    reasons: [
      'metadata.ownerReferences.name: Invalid value: "": must not be empty',
      'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
      'metadata.ownerReferences: Invalid value: [{"apiVersion":"v1","kind":"X","name":"","uid":""},{"apiVersion":"v1","kind":"Y","name":"a","uid":"b","controller":true},{"apiVersion":"v1","kind":"Z","name":"a","uid":"c","controller":true}]: Only one reference can have Controller set to true. Found "true" in references for Y/a and Z/a',
    ],
  },
  {
    claim: "an Event cannot be an owner",
    path: "configmaps",
    body: { metadata: { name: "c", ownerReferences: [{ apiVersion: "v1", kind: "Event", name: "a", uid: "u" }] } },
    reasons: [
      'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"a","uid":"u"}: /v1, Kind=Event is disallowed from being an owner',
    ],
  },
  {
    claim: "a rule of a ClusterRole has either resources or non-resource URLs",
    path: "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    body: { metadata: { name: "a" }, rules: [{ verbs: ["get"] }, { verbs: ["get"], nonResourceURLs: ["/ok/*"], resources: ["pods"] }] },
    reasons: [
      "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
      "rules[0].resources: Required value: resource rules must supply at least one resource",
      'rules[1].nonResourceURLs: Invalid value: ["/ok/*"]: rules cannot apply to both regular resources and non-resource URLs',
    ],
  },
  {
    claim: "a Role cannot have non-resource URLs",
    path: "rbac.authorization.k8s.io/v1/roles",
    body: { metadata: { name: "a" }, rules: [{ verbs: ["get"], nonResourceURLs: ["/x"] }] },
    reasons: ['rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs'],
  },
  {
    claim: "roleRef and subjects of a binding are validated",
    path: "rbac.authorization.k8s.io/v1/rolebindings",
    body: {
      metadata: { name: "a" },
      roleRef: { kind: "X", name: "", apiGroup: "y" },
      subjects: [
        { kind: "Z", name: "" },
        { kind: "ServiceAccount", name: "s" },
        { kind: "Group", name: "g", apiGroup: "bad" },
      ],
    },
    reasons: [
      'roleRef.apiGroup: Unsupported value: "y": supported values: "rbac.authorization.k8s.io"',
      'roleRef.kind: Unsupported value: "X": supported values: "Role", "ClusterRole"',
      "roleRef.name: Required value",
      'subjects[0].kind: Unsupported value: "Z": supported values: "ServiceAccount", "User", "Group"',
      "subjects[0].name: Required value",
      'subjects[2].apiGroup: Unsupported value: "bad": supported values: "rbac.authorization.k8s.io"',
    ],
  },
  {
    claim: "PriorityClass names that begin with system- are reserved",
    path: "/apis/scheduling.k8s.io/v1/priorityclasses",
    body: { metadata: { name: "system-x" }, value: 1 },
    reasons: [
      "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-x is not a known system priority class",
    ],
  },
  {
    claim: "a RuntimeClass needs a valid handler",
    path: "/apis/node.k8s.io/v1/runtimeclasses",
    body: { metadata: { name: "a" }, handler: "A_" },
    reasons: [
      "handler: Invalid value: \"A_\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
  },
  {
    claim: "a FlowSchema needs a priority level",
    path: "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
    body: { metadata: { name: "a" }, spec: { priorityLevelConfiguration: { name: "" } } },
    reasons: ["spec.priorityLevelConfiguration.name: Required value: must reference a priority level"],
  },
  {
    claim: "addresses and host names of an EndpointSlice are validated",
    path: "discovery.k8s.io/v1/endpointslices",
    body: { metadata: { name: "a" }, addressType: "IPv4", endpoints: [{ addresses: ["127.0.0.1"], hostname: "A" }] },
    reasons: [
      'endpoints[0].addresses[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      "endpoints[0].hostname: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
  },
  {
    claim: "controller and parameters of an IngressClass are validated",
    path: "/apis/networking.k8s.io/v1/ingressclasses",
    body: { metadata: { name: "a" }, spec: { controller: "bad", parameters: { kind: "", name: "" } } },
    reasons: [
      'spec.controller: Invalid value: "bad": must be a domain-prefixed path (such as "acme.io/foo")',
      "spec.parameters.kind: Required value",
      "spec.parameters.name: Required value",
    ],
  },
];

export const refusals: readonly Contract[] = ROWS.flatMap(({ claim, path, body, reasons }) =>
  area("refusals", {
    [claim]: async (api) => {
      (await api.post(`${path}?dryRun=All`, body)).gives(422, { reason: "Invalid" }).because(reasons);
    },
  }),
);
