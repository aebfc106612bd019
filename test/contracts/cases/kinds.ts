/** Validation rules and defaults of built-in kinds. */
import { expect } from "vitest";
import { area } from "../contract.ts";
import { deployment, pod, podTemplate, service } from "./objects.ts";

/** A certificate request for CN=x, generated with openssl; its key was not kept. */
const SIGNING_REQUEST =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIR01HNENBUUF3RERFS01BZ0dBMVVFQXd3QmVEQlpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQQpCS1RISXFGYWVwdWNtTjVJS2xCSE1lR0hKK3lOQ1RUZ0kvdkpORjBOMWRlWm9DSmZBNy80ZUFVcGxSVllScHArCkNLdGlsUXkxeDVUVUdBWCtJWmw0TmY2Z0FEQUtCZ2dxaGtqT1BRUURBZ05JQURCRkFpQUd0dHVIVTZ6VDBBOEUKU2lvaXdLbWJIcGRCQm05cHZGeDg4TGt0UnVGMWVRSWhBTVMvT2I1N0JpZ0VacmJ2WnI1ZDdBQzVUbnE0NXB5WQpYeEVZU201azJzVkYKLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==";

export const kinds = area("kinds", {
  "a Service gets an address and keeps it over a PUT without it": async (api) => {
    const made = await api.created("services", service("a"));
    const clusterIP = made.textAt("spec.clusterIP");
    expect(clusterIP).toMatch(/^10\.0\.0\.\d+$/);
    made.gives(201, {
      spec: {
        clusterIPs: [clusterIP],
        ipFamilies: ["IPv4"],
        ipFamilyPolicy: "SingleStack",
        internalTrafficPolicy: "Cluster",
        sessionAffinity: "None",
        type: "ClusterIP",
        ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
      },
    });
    (await api.put("services/a", service("a", { ports: [{ port: 81 }] }))).gives(200, {
      spec: { clusterIP, ports: [{ port: 81, targetPort: 81 }] },
    });
  },

  "the address of a Service cannot be changed": async (api) => {
    await api.created("services", service("a"));
    const answer = await api.mergePatch("services/a", { spec: { clusterIP: "10.0.0.250" } });
    answer.gives(422, { reason: "Invalid" });
    expect(answer.textAt("message")).toMatch(
      /^Service "a" is invalid: .*spec\.clusterIPs\[0\]: Invalid value: \["10\.0\.0\.\d+"\]: (primary clusterIP can not be unset|may not change once set)/s,
    );
  },

  "an address that is in use or out of range is rejected": async (api) => {
    const clusterIP = (await api.created("services", service("a"))).textAt("spec.clusterIP");
    (await api.post("services", service("b", { clusterIP }))).refuses(
      422,
      "Invalid",
      `Service "b" is invalid: spec.clusterIPs: Invalid value: ["${clusterIP}"]: failed to allocate IP ${clusterIP}: provided IP is already allocated`,
    );
    (await api.post("services", service("c", { clusterIP: "192.168.1.1" }))).refuses(
      422,
      "Invalid",
      'Service "c" is invalid: spec.clusterIPs: Invalid value: ["192.168.1.1"]: failed to allocate IP 192.168.1.1: the provided network does not match the current range',
    );
  },

  "a headless Service has the address None": async (api) => {
    (await api.created("services", service("a", { clusterIP: "None" }))).gives(201, { spec: { clusterIP: "None", clusterIPs: ["None"] } });
  },

  "an ExternalName Service has no address, and gets one when its type changes": async (api) => {
    const made = await api.created("services", { metadata: { name: "a" }, spec: { type: "ExternalName", externalName: "example.test" } });
    made.has("spec", { externalName: "example.test", sessionAffinity: "None", type: "ExternalName" });
    const changed = await api.mergePatch("services/a", { spec: { type: "ClusterIP", externalName: null, ports: [{ port: 80 }] } });
    expect(changed.textAt("spec.clusterIP")).toMatch(/^10\.0\.0\.\d+$/);
  },

  "a NodePort Service gets a port in the range, and a port in use is rejected": async (api) => {
    const made = await api.created("services", service("a", { type: "NodePort" }));
    const nodePort = Number(made.at("spec.ports.0.nodePort"));
    expect(nodePort).toBeGreaterThanOrEqual(30_000);
    expect(nodePort).toBeLessThanOrEqual(32_767);
    made.gives(201, { spec: { externalTrafficPolicy: "Cluster" } });
    (await api.post("services", service("b", { type: "NodePort", ports: [{ port: 80, nodePort }] }))).refuses(
      422,
      "Invalid",
      `Service "b" is invalid: spec.ports[0].nodePort: Invalid value: ${nodePort}: provided port is already allocated`,
    );
    (await api.post("services", service("c", { type: "NodePort", ports: [{ port: 80, nodePort: 80 }] }))).refuses(
      422,
      "Invalid",
      'Service "c" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767',
    );
  },

  "a Service that becomes ClusterIP again releases its node port": async (api) => {
    await api.created("services", service("a", { type: "NodePort" }));
    (await api.mergePatch("services/a", { spec: { type: "ClusterIP" } })).gives(200).has("spec.ports.0.nodePort", undefined);
  },

  "a LoadBalancer Service with the policy Local gets a health check port": async (api) => {
    const made = await api.created("services", service("a", { type: "LoadBalancer", externalTrafficPolicy: "Local" }));
    expect(made.at("spec.healthCheckNodePort")).toBeGreaterThanOrEqual(30_000);
    made.gives(201, { spec: { allocateLoadBalancerNodePorts: true }, status: { loadBalancer: {} } });
  },

  "several ports need names": async (api) => {
    (await api.post("services", service("a", { ports: [{ port: 80 }, { port: 81 }] }))).refuses(
      422,
      "Invalid",
      'Service "a" is invalid: [spec.ports[0].name: Required value, spec.ports[1].name: Required value]',
    );
    (
      await api.post(
        "services",
        service("b", {
          ports: [
            { name: "x", port: 80 },
            { name: "x", port: 80 },
          ],
        }),
      )
    ).gives(422, { reason: "Invalid" });
  },

  "a Service without ports must be headless": async (api) => {
    (await api.post("services", { metadata: { name: "a" }, spec: {} })).refuses(
      422,
      "Invalid",
      'Service "a" is invalid: spec.ports: Required value',
    );
    (await api.post("services", { metadata: { name: "b" }, spec: { clusterIP: "None" } })).gives(201);
  },

  "the name of a Service is a DNS label, which may start with a digit": async (api) => {
    (await api.post("services", service("1a"))).gives(201);
    (await api.post("services", service("a.b"))).gives(422, { reason: "Invalid" });
  },

  "a Deployment gets the defaults of apps/v1": async (api) => {
    const made = await api.created("apps/v1/deployments", deployment("a"));
    made.gives(201, {
      spec: {
        replicas: 1,
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
        strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } },
        template: {
          spec: {
            dnsPolicy: "ClusterFirst",
            restartPolicy: "Always",
            schedulerName: "default-scheduler",
            securityContext: {},
            terminationGracePeriodSeconds: 30,
            containers: [
              {
                imagePullPolicy: "IfNotPresent",
                resources: {},
                terminationMessagePath: "/dev/termination-log",
                terminationMessagePolicy: "File",
              },
            ],
          },
        },
      },
    });
  },

  "the selector of a Deployment cannot change, and must match its template": async (api) => {
    await api.created("apps/v1/deployments", deployment("a", { replicas: 0 }));
    (
      await api.mergePatch("apps/v1/deployments/a", {
        spec: { selector: { matchLabels: { app: "x" } }, template: { metadata: { labels: { app: "x" } } } },
      })
    ).refuses(
      422,
      "Invalid",
      'Deployment.apps "a" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"x"}}: field is immutable',
    );
    (await api.post("apps/v1/deployments", deployment("b", { selector: { matchLabels: { app: "other" } } }))).refuses(
      422,
      "Invalid",
      'Deployment.apps "b" is invalid: spec.template.metadata.labels: Invalid value: {"app":"b"}: `selector` does not match template `labels`',
    );
  },

  "a Deployment needs a selector and the restart policy Always": async (api) => {
    const answer = await api.post("apps/v1/deployments", {
      metadata: { name: "a" },
      spec: { template: { metadata: { labels: { a: "b" } }, spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } },
    });
    answer.refuses(
      422,
      "Invalid",
      'Deployment.apps "a" is invalid: [spec.selector: Required value, spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`, spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"]',
    );
  },

  "a Recreate strategy accepts no rollingUpdate parameters": async (api) => {
    (await api.post("apps/v1/deployments", deployment("a", { strategy: { type: "Recreate", rollingUpdate: { maxSurge: 1 } } }))).refuses(
      422,
      "Invalid",
      "Deployment.apps \"a\" is invalid: spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
    );
  },

  "surge and unavailability may not both be zero": async (api) => {
    (
      await api.post("apps/v1/deployments", deployment("a", { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: "0%" } } }))
    ).refuses(
      422,
      "Invalid",
      'Deployment.apps "a" is invalid: spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0',
    );
    (
      await api.post("apps/v1/deployments", deployment("b", { strategy: { rollingUpdate: { maxUnavailable: "110%", maxSurge: "x" } } }))
    ).gives(422);
    (
      await api.post(
        "apps/v1/deployments",
        deployment("c", { minReadySeconds: -1, replicas: -1, revisionHistoryLimit: -1, progressDeadlineSeconds: 0 }),
      )
    ).gives(422);
  },

  "only some fields of a StatefulSet can be changed": async (api) => {
    await api.created("apps/v1/statefulsets", { ...deployment("a", { serviceName: "a", replicas: 0, revisionHistoryLimit: 3 }) });
    (await api.mergePatch("apps/v1/statefulsets/a", { spec: { replicas: 2, minReadySeconds: 3 } })).gives(200);
    (await api.mergePatch("apps/v1/statefulsets/a", { spec: { serviceName: "b" } })).refuses(
      422,
      "Invalid",
      "StatefulSet.apps \"a\" is invalid: spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    );
  },

  "a StatefulSet and its claim templates get defaults": async (api) => {
    const volumeClaimTemplates = [
      { metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
    ];
    (await api.created("apps/v1/statefulsets", deployment("a", { serviceName: "a", volumeClaimTemplates, replicas: 0 }))).gives(201, {
      spec: {
        podManagementPolicy: "OrderedReady",
        persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
        revisionHistoryLimit: 10,
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
        volumeClaimTemplates: [
          { apiVersion: "v1", kind: "PersistentVolumeClaim", spec: { volumeMode: "Filesystem" }, status: { phase: "Pending" } },
        ],
      },
    });
  },

  "a DaemonSet rolls one node at a time": async (api) => {
    const { selector, template } = deployment("a").spec;
    (await api.created("apps/v1/daemonsets", { metadata: { name: "a" }, spec: { selector, template } })).gives(201, {
      spec: { updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } }, revisionHistoryLimit: 10 },
      status: { currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0 },
    });
  },

  "a Job generates its selector and labels, and rejects a given selector": async (api) => {
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
    const made = await api.created("batch/v1/jobs", { metadata: { name: "a" }, spec: { template, suspend: true } });
    const uid = made.textAt("metadata.uid");
    made.gives(201, {
      spec: {
        backoffLimit: 6,
        completions: 1,
        parallelism: 1,
        completionMode: "NonIndexed",
        manualSelector: false,
        podReplacementPolicy: "TerminatingOrFailed",
      },
    });
    made.has("spec.selector", { matchLabels: { "batch.kubernetes.io/controller-uid": uid } });
    made.has("spec.template.metadata.labels", {
      "batch.kubernetes.io/controller-uid": uid,
      "batch.kubernetes.io/job-name": "a",
      "controller-uid": uid,
      "job-name": "a",
    });
    (await api.post("batch/v1/jobs", { metadata: { name: "b" }, spec: { template, selector: { matchLabels: { x: "y" } } } })).gives(422, {
      reason: "Invalid",
    });
    (
      await api.post("batch/v1/jobs", {
        metadata: { name: "c" },
        spec: { template: { spec: { containers: [{ name: "c", image: "i" }] } } },
      })
    ).refuses(
      422,
      "Invalid",
      'Job.batch "c" is invalid: spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
    );
  },

  "the template of a Job is immutable, its parallelism is not": async (api) => {
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
    await api.created("batch/v1/jobs", { metadata: { name: "a" }, spec: { template, suspend: true } });
    (await api.strategicPatch("batch/v1/jobs/a", { spec: { parallelism: 3 } })).gives(200, { spec: { parallelism: 3 } });
    (await api.strategicPatch("batch/v1/jobs/a", { spec: { completions: 3 } })).refuses(
      422,
      "Invalid",
      'Job.batch "a" is invalid: spec.completions: Invalid value: 3: field is immutable',
    );
    const changed = await api.strategicPatch("batch/v1/jobs/a", {
      spec: { template: { spec: { containers: [{ name: "c", image: "j" }] } } },
    });
    changed.gives(422);
    expect(changed.textAt("message")).toMatch(
      /^Job\.batch "a" is invalid: spec\.template\.spec: Invalid value: \{.*\}: field is immutable$/s,
    );
  },

  "a CronJob gets defaults, and its schedule and time zone are validated": async (api) => {
    const jobTemplate = { spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } } };
    const cron = (name: string, spec: object) => ({
      metadata: { name },
      spec: { schedule: "*/5 * * * *", jobTemplate, suspend: true, ...spec },
    });
    (await api.created("batch/v1/cronjobs", cron("a", { timeZone: "Europe/Berlin" }))).gives(201, {
      spec: { concurrencyPolicy: "Allow", successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 },
    });
    (await api.post("batch/v1/cronjobs", cron("b", { schedule: "every day" }))).refuses(
      422,
      "Invalid",
      'CronJob.batch "b" is invalid: spec.schedule: Invalid value: "every day": expected exactly 5 fields, found 2: [every day]',
    );
    (await api.post("batch/v1/cronjobs", cron("c", { timeZone: "Mars/Base" }))).refuses(
      422,
      "Invalid",
      'CronJob.batch "c" is invalid: spec.timeZone: Invalid value: "Mars/Base": unknown time zone Mars/Base',
    );
    (await api.post("batch/v1/cronjobs", cron("d", { schedule: "TZ=UTC * * * * *" }))).gives(422);
    (await api.post("batch/v1/cronjobs", cron("e".repeat(53), {}))).refuses(
      422,
      "Invalid",
      `CronJob.batch "${"e".repeat(53)}" is invalid: metadata.name: Invalid value: "${"e".repeat(53)}": must be no more than 52 characters`,
    );
  },

  "a Pod gets the default tolerations and priority": async (api) => {
    const made = await api.created("pods", pod("a"));
    made.gives(201, {
      spec: {
        enableServiceLinks: true,
        preemptionPolicy: "PreemptLowerPriority",
        priority: 0,
        serviceAccount: "default",
        serviceAccountName: "default",
        tolerations: [
          { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
          { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
        ],
      },
      status: { phase: "Pending", qosClass: "BestEffort" },
    });
  },

  "the QoS class of a Pod follows its requests and limits": async (api) => {
    const with_ = (name: string, resources: object) => pod(name, { containers: [{ name: "c", image: "i", resources }] });
    (await api.created("pods", with_("a", { limits: { cpu: "1", memory: "1Gi" } }))).gives(201, {
      spec: { containers: [{ resources: { requests: { cpu: "1", memory: "1Gi" } } }] },
      status: { qosClass: "Guaranteed" },
    });
    (await api.created("pods", with_("b", { limits: { cpu: "1" } }))).has("status.qosClass", "Burstable");
    (await api.created("pods", with_("c", { requests: { memory: "1" } }))).has("status.qosClass", "Burstable");
    (await api.post("pods", with_("d", { requests: { cpu: "2" }, limits: { cpu: "1" } }))).refuses(
      422,
      "Invalid",
      'Pod "d" is invalid: spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
    );
  },

  "quantities are stored in canonical form, rounded up to a thousandth": async (api) => {
    const limits = { cpu: "0.5", memory: "1024Mi", "example.test/widgets": "3" };
    const requests = { "ephemeral-storage": "1e3", cpu: "1500u", memory: "1.5Gi" };
    const made = await api.created(
      "podtemplates",
      podTemplate("a", { containers: [{ name: "c", image: "i", resources: { limits: { ...limits, memory: "2048Mi" }, requests } }] }),
    );
    made.has("template.spec.containers.0.resources", {
      limits: { cpu: "500m", memory: "2Gi", "example.test/widgets": "3" },
      requests: { cpu: "2m", memory: "1536Mi", "ephemeral-storage": "1e3" },
    });
  },

  "the default imagePullPolicy follows the tag of the image": async (api) => {
    const containers = ["a", "a:latest", "a:1", "a@sha256:" + "0".repeat(64), "host:5000/a"].map((image, at) => ({
      name: `c${at}`,
      image,
    }));
    const made = await api.created("podtemplates", podTemplate("a", { containers }));
    const policies = (made.at("template.spec.containers") as readonly { imagePullPolicy: string }[]).map(
      ({ imagePullPolicy }) => imagePullPolicy,
    );
    expect(policies).toEqual(["Always", "Always", "IfNotPresent", "IfNotPresent", "Always"]);
  },

  "probes, hooks and volumes get defaults": async (api) => {
    const container = {
      name: "c",
      image: "i",
      livenessProbe: { httpGet: { port: 80 } },
      readinessProbe: { grpc: { port: 9 } },
      startupProbe: { exec: { command: ["x"] }, periodSeconds: 3 },
      lifecycle: { postStart: { httpGet: { port: "http" } } },
      env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
    };
    const volumes = [
      { name: "a", configMap: { name: "x" } },
      { name: "b", secret: { secretName: "x" } },
      { name: "c", downwardAPI: { items: [{ path: "p", fieldRef: { fieldPath: "metadata.labels" } }] } },
      { name: "d", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } },
      { name: "e", hostPath: { path: "/x" } },
      { name: "f" },
    ];
    const made = await api.created("podtemplates", podTemplate("a", { containers: [container], volumes }));
    const probe = { failureThreshold: 3, periodSeconds: 10, successThreshold: 1, timeoutSeconds: 1 };
    made.gives(201, {
      template: {
        spec: {
          containers: [
            {
              livenessProbe: { ...probe, httpGet: { path: "/", port: 80, scheme: "HTTP" } },
              readinessProbe: { ...probe, grpc: { port: 9, service: "" } },
              startupProbe: { ...probe, periodSeconds: 3 },
              lifecycle: { postStart: { httpGet: { path: "/", port: "http", scheme: "HTTP" } } },
              env: [{ valueFrom: { fieldRef: { apiVersion: "v1" } } }],
            },
          ],
          volumes: [
            { configMap: { defaultMode: 420 } },
            { secret: { defaultMode: 420 } },
            { downwardAPI: { defaultMode: 420, items: [{ fieldRef: { apiVersion: "v1" } }] } },
            { projected: { defaultMode: 420, sources: [{ serviceAccountToken: { expirationSeconds: 3600 } }] } },
            { hostPath: { type: "" } },
            { name: "f", emptyDir: {} },
          ],
        },
      },
    });
  },

  "an Ingress path needs a type, a backend and a leading slash": async (api) => {
    const ingress = (name: string, path: object) => ({
      metadata: { name },
      spec: { rules: [{ host: "a.test", http: { paths: [path] } }] },
    });
    const backend = { service: { name: "s", port: { number: 80 } } };
    (await api.created("networking.k8s.io/v1/ingresses", ingress("a", { path: "/", pathType: "Prefix", backend }))).gives(201, {
      status: { loadBalancer: {} },
    });
    (await api.post("networking.k8s.io/v1/ingresses", ingress("b", { path: "/", backend }))).refuses(
      422,
      "Invalid",
      'Ingress.networking.k8s.io "b" is invalid: spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified',
    );
    (await api.post("networking.k8s.io/v1/ingresses", ingress("c", { path: "x", pathType: "Exact", backend }))).refuses(
      422,
      "Invalid",
      'Ingress.networking.k8s.io "c" is invalid: spec.rules[0].http.paths[0].path: Invalid value: "x": must be an absolute path',
    );
    (
      await api.post("networking.k8s.io/v1/ingresses", ingress("d", { path: "/", pathType: "Exact", backend: { service: { name: "s" } } }))
    ).gives(422);
    (await api.post("networking.k8s.io/v1/ingresses", { metadata: { name: "e" }, spec: {} })).refuses(
      422,
      "Invalid",
      'Ingress.networking.k8s.io "e" is invalid: spec: Invalid value: null: either `defaultBackend` or `rules` must be specified',
    );
  },

  "the policyTypes of a NetworkPolicy default to its rules": async (api) => {
    const policy = (name: string, spec: object) => ({ metadata: { name }, spec: { podSelector: {}, ...spec } });
    (await api.created("networking.k8s.io/v1/networkpolicies", policy("a", {}))).has("spec.policyTypes", ["Ingress"]);
    (await api.created("networking.k8s.io/v1/networkpolicies", policy("b", { egress: [{ ports: [{ port: 80 }] }] }))).gives(201, {
      spec: { policyTypes: ["Ingress", "Egress"], egress: [{ ports: [{ port: 80, protocol: "TCP" }] }] },
    });
    (
      await api.post(
        "networking.k8s.io/v1/networkpolicies",
        policy("c", { ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["11.0.0.0/24"] } }] }] }),
      )
    ).refuses(
      422,
      "Invalid",
      'NetworkPolicy.networking.k8s.io "c" is invalid: spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "11.0.0.0/24": must be a strict subset of `cidr`',
    );
  },

  "an autoscaler can be read in both versions": async (api) => {
    const spec = { scaleTargetRef: { kind: "Deployment", name: "web", apiVersion: "apps/v1" }, maxReplicas: 5 };
    (await api.created("autoscaling/v2/horizontalpodautoscalers", { metadata: { name: "a" }, spec })).gives(201, {
      spec: {
        minReplicas: 1,
        metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } }],
      },
    });
    (await api.get("autoscaling/v1/horizontalpodautoscalers/a")).gives(200, {
      apiVersion: "autoscaling/v1",
      spec: { targetCPUUtilizationPercentage: 80 },
    });
    (await api.mergePatch("autoscaling/v1/horizontalpodautoscalers/a", { spec: { targetCPUUtilizationPercentage: 50 } })).gives(200);
    (await api.get("autoscaling/v2/horizontalpodautoscalers/a")).gives(200, {
      spec: { metrics: [{ resource: { target: { averageUtilization: 50 } } }] },
    });
  },

  "the requests of a claim may grow only when it is bound and its class allows expansion": async (api) => {
    // the selector prevents that the claim is bound to a volume of another contract
    const selector = { matchLabels: { contract: api.id } };
    const claim = {
      metadata: { name: "a" },
      spec: { accessModes: ["ReadWriteOnce"], storageClassName: "", selector, resources: { requests: { storage: "1Gi" } } },
    };
    (await api.created("persistentvolumeclaims", claim)).gives(201, {
      metadata: { finalizers: ["kubernetes.io/pvc-protection"] },
      spec: { volumeMode: "Filesystem" },
      status: { phase: "Pending" },
    });
    const grown = await api.mergePatch("persistentvolumeclaims/a", { spec: { resources: { requests: { storage: "2Gi" } } } });
    grown.gives(422);
    expect(grown.textAt("message")).toContain(
      'PersistentVolumeClaim "a" is invalid: spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
    );
  },

  "a volume has exactly one source": async (api) => {
    const volume = (name: string, spec: object) => ({
      metadata: { name: `${name}-${api.id}` },
      spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], ...spec },
    });
    (await api.post("/api/v1/persistentvolumes", volume("a", { hostPath: { path: "/x" } }))).gives(201, {
      metadata: { finalizers: ["kubernetes.io/pv-protection"] },
      spec: { persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem", hostPath: { type: "" } },
    });
    (await api.post("/api/v1/persistentvolumes", volume("b", {}))).refuses(
      422,
      "Invalid",
      `PersistentVolume "b-${api.id}" is invalid: spec: Required value: must specify a volume type`,
    );
    (await api.post("/api/v1/persistentvolumes", volume("c", { hostPath: { path: "/x" }, nfs: { server: "s", path: "/y" } }))).refuses(
      422,
      "Invalid",
      `PersistentVolume "c-${api.id}" is invalid: spec.nfs: Forbidden: may not specify more than 1 volume type`,
    );
  },

  "a StorageClass is immutable except allowVolumeExpansion": async (api) => {
    const name = `slow-${api.id}`;
    (await api.post("/apis/storage.k8s.io/v1/storageclasses", { metadata: { name }, provisioner: "example.test/p" })).gives(201, {
      reclaimPolicy: "Delete",
      volumeBindingMode: "Immediate",
    });
    (await api.mergePatch(`/apis/storage.k8s.io/v1/storageclasses/${name}`, { allowVolumeExpansion: true })).gives(200);
    (await api.mergePatch(`/apis/storage.k8s.io/v1/storageclasses/${name}`, { provisioner: "example.test/q" })).refuses(
      422,
      "Invalid",
      `StorageClass.storage.k8s.io "${name}" is invalid: provisioner: Invalid value: "example.test/q": field is immutable`,
    );
  },

  "the value of a PriorityClass is immutable, and large values are reserved": async (api) => {
    const name = `high-${api.id}`;
    (await api.post("/apis/scheduling.k8s.io/v1/priorityclasses", { metadata: { name }, value: 1000 })).gives(201, {
      preemptionPolicy: "PreemptLowerPriority",
    });
    (await api.mergePatch(`/apis/scheduling.k8s.io/v1/priorityclasses/${name}`, { value: 1001 })).refuses(
      422,
      "Invalid",
      `PriorityClass.scheduling.k8s.io "${name}" is invalid: value: Forbidden: may not be changed in an update.`,
    );
    (await api.post("/apis/scheduling.k8s.io/v1/priorityclasses", { metadata: { name: `x${name}` }, value: 1_000_000_001 })).refuses(
      422,
      "Invalid",
      `PriorityClass.scheduling.k8s.io "x${name}" is invalid: value: Forbidden: maximum allowed value of a user defined priority is 1000000000`,
    );
  },

  "the roleRef of a binding is immutable, and a rule needs verbs": async (api) => {
    await api.created("rbac.authorization.k8s.io/v1/roles", {
      metadata: { name: "r" },
      rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
    });
    await api.created("rbac.authorization.k8s.io/v1/rolebindings", {
      metadata: { name: "b" },
      roleRef: { kind: "Role", name: "r", apiGroup: "rbac.authorization.k8s.io" },
      subjects: [{ kind: "User", name: "u" }],
    });
    (await api.get("rbac.authorization.k8s.io/v1/rolebindings/b")).has("subjects", [
      { kind: "User", name: "u", apiGroup: "rbac.authorization.k8s.io" },
    ]);
    (await api.mergePatch("rbac.authorization.k8s.io/v1/rolebindings/b", { roleRef: { name: "x" } })).refuses(
      422,
      "Invalid",
      'RoleBinding.rbac.authorization.k8s.io "b" is invalid: roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"x"}: cannot change roleRef',
    );
    (
      await api.post("rbac.authorization.k8s.io/v1/roles", { metadata: { name: "s" }, rules: [{ apiGroups: [""], resources: ["pods"] }] })
    ).refuses(
      422,
      "Invalid",
      'Role.rbac.authorization.k8s.io "s" is invalid: rules[0].verbs: Required value: verbs must contain at least one value',
    );
  },

  "minAvailable and maxUnavailable of a PodDisruptionBudget exclude each other": async (api) => {
    (
      await api.post("policy/v1/poddisruptionbudgets", {
        metadata: { name: "a" },
        spec: { minAvailable: 1, maxUnavailable: 1, selector: {} },
      })
    ).refuses(
      422,
      "Invalid",
      'PodDisruptionBudget.policy "a" is invalid: spec: Invalid value: {"MinAvailable":1,"Selector":{},"MaxUnavailable":1,"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set',
    );
  },

  "a LimitRange sets defaults from its own values": async (api) => {
    (await api.created("limitranges", { metadata: { name: "a" }, spec: { limits: [{ type: "Container", max: { cpu: "2" } }] } })).has(
      "spec.limits",
      [{ type: "Container", max: { cpu: "2" }, default: { cpu: "2" }, defaultRequest: { cpu: "2" } }],
    );
    (
      await api.post("limitranges", {
        metadata: { name: "b" },
        spec: { limits: [{ type: "Container", max: { cpu: "1" }, min: { cpu: "2" } }] },
      })
    ).gives(422, { reason: "Invalid" });
  },

  "a Node's podCIDR is immutable once set": async (api) => {
    const name = `node-${api.id}`;
    (await api.post("/api/v1/nodes", { metadata: { name }, spec: { podCIDR: "10.9.0.0/24" } })).gives(201, {
      spec: { podCIDR: "10.9.0.0/24", podCIDRs: ["10.9.0.0/24"] },
    });
    (await api.mergePatch(`/api/v1/nodes/${name}`, { spec: { unschedulable: true } })).gives(200, { spec: { unschedulable: true } });
    const moved = await api.mergePatch(`/api/v1/nodes/${name}`, { spec: { podCIDR: "10.8.0.0/24" } });
    moved.gives(422);
    expect(moved.textAt("message")).toContain('spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid');
  },

  "the address type of an EndpointSlice is immutable": async (api) => {
    const slice = { metadata: { name: "a" }, addressType: "IPv4", endpoints: [{ addresses: ["10.1.2.3"] }], ports: [{ port: 80 }] };
    (await api.created("discovery.k8s.io/v1/endpointslices", slice)).gives(201, { ports: [{ name: "", port: 80, protocol: "TCP" }] });
    (await api.mergePatch("discovery.k8s.io/v1/endpointslices/a", { addressType: "FQDN" })).gives(422);
    (
      await api.post("discovery.k8s.io/v1/endpointslices", {
        ...slice,
        metadata: { name: "b" },
        endpoints: [{ addresses: ["10.1.2.300"] }],
      })
    ).gives(422);
  },

  "an Event must be in the namespace of its object": async (api) => {
    const event = (namespace: string | undefined) => ({
      metadata: { name: `e-${namespace ?? "none"}`.slice(0, 20) },
      involvedObject: { kind: "Pod", name: "p", namespace },
      reason: "Seen",
      type: "Normal",
      message: "m",
    });
    (await api.created("events", event(api.namespace))).gives(201, {
      reason: "Seen",
      source: {},
      firstTimestamp: null,
      lastTimestamp: null,
      eventTime: null,
      reportingComponent: "",
      reportingInstance: "",
    });
    (await api.post("events", event("default"))).refuses(
      422,
      "Invalid",
      'Event "e-default" is invalid: involvedObject.namespace: Invalid value: "default": does not match event.namespace',
    );
    (await api.get(`events.k8s.io/v1/events/${`e-${api.namespace}`.slice(0, 20)}`)).gives(200, {
      regarding: { kind: "Pod" },
      note: "m",
      deprecatedSource: {},
    });
  },

  "a CertificateSigningRequest needs a request, a signer and usages": async (api) => {
    const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    const pem = (body: string) =>
      Buffer.from(`-----BEGIN CERTIFICATE REQUEST-----\n${body}-----END CERTIFICATE REQUEST-----\n`).toString("base64");
    const spec = { request: pem(""), signerName: "example.test/s", usages: ["client auth"] };
    const refused = async (more: object) =>
      (await api.post(requests, { metadata: { name: `r-${api.id}` }, spec: { ...spec, ...more } })).gives(422).textAt("message");
    expect(await refused({})).toContain("spec.request: Invalid value: ");
    expect(await refused({})).toContain("asn1: syntax error: sequence truncated");
    expect(await refused({ request: Buffer.from("x").toString("base64") })).toContain("PEM block type must be CERTIFICATE REQUEST");
    expect(await refused({ usages: [] })).toContain("spec.usages: Required value");
    expect(await refused({ usages: ["fun"] })).toContain('spec.usages[0]: Unsupported value: "fun": supported values: "any", "cert sign"');
    expect(await refused({ signerName: "invalid" })).toContain(
      "must be a fully qualified domain and path of the form 'example.com/signer-name'",
    );
    expect(await refused({ expirationSeconds: 5 })).toContain("may not specify a duration less than 600 seconds (10 minutes)");
  },

  "a CertificateSigningRequest records its user, and is approved through its own path": async (api) => {
    const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    const name = `csr-${api.id}`;
    const spec = { request: SIGNING_REQUEST, signerName: "example.test/s", usages: ["client auth"], username: "eve", groups: ["g"] };
    const made = await api.post(requests, { metadata: { name }, spec });
    made.gives(201, { spec: { username: "admin", groups: ["system:masters", "system:authenticated"] } }).has("status", {});
    const condition = { type: "Approved", status: "True", reason: "Seen", message: "fine" };
    (await api.mergePatch(`${requests}/${name}`, { spec: { username: "eve" }, status: { conditions: [condition] } }))
      .gives(200, { spec: { username: "admin" } })
      .has("status", {});
    (await api.mergePatch(`${requests}/${name}/status`, { status: { conditions: [condition] } })).gives(422);
    (await api.mergePatch(`${requests}/${name}/approval`, { status: { conditions: [condition] } })).gives(200, {
      status: { conditions: [condition] },
    });
    (
      await api.mergePatch(`${requests}/${name}/approval`, { status: { conditions: [condition, { type: "Denied", status: "True" }] } })
    ).gives(422);
  },

  "a ServiceAccount is stored as it is sent": async (api) => {
    (
      await api.created("serviceaccounts", {
        metadata: { name: "robot" },
        automountServiceAccountToken: false,
        imagePullSecrets: [{ name: "x" }],
      })
    ).gives(201, { automountServiceAccountToken: false, imagePullSecrets: [{ name: "x" }] });
  },

  "the data of a ControllerRevision are immutable": async (api) => {
    await api.created("apps/v1/controllerrevisions", { metadata: { name: "a" }, revision: 1, data: { spec: { x: 1 } } });
    (await api.mergePatch("apps/v1/controllerrevisions/a", { revision: 2 })).gives(200, { revision: 2 });
    (await api.mergePatch("apps/v1/controllerrevisions/a", { data: { spec: { x: 2 } } })).gives(422);
  },
});
