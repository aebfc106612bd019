/** Status, scale, eviction and the other subresources. */
import { expect } from "vitest";
import { area } from "../contract.ts";
import { deployment, pod, service } from "./objects.ts";

const budget = (name: string) => ({ metadata: { name }, spec: { minAvailable: 1, selector: { matchLabels: { app: name } } } });
const budgets = "policy/v1/poddisruptionbudgets";

export const subresources = area("subresources", {
  "a write to the status path changes only the status": async (api) => {
    await api.created(budgets, budget("a"));
    const disruptedPods = { p: "2020-01-01T00:00:00Z" };
    (await api.mergePatch(`${budgets}/a/status`, { spec: { minAvailable: 5 }, status: { disruptedPods } })).gives(200, {
      spec: { minAvailable: 1 },
      status: { disruptedPods },
    });
  },

  "a write to the main path does not change the status": async (api) => {
    const made = await api.post(budgets, { ...budget("a"), status: { disruptedPods: { p: "2020-01-01T00:00:00Z" } } });
    made.gives(201).has("status.disruptedPods", undefined);
    (await api.mergePatch(`${budgets}/a`, { status: { disruptedPods: { p: "2020-01-01T00:00:00Z" } } }))
      .gives(200)
      .has("status.disruptedPods", undefined);
  },

  "a status write does not increment the generation": async (api) => {
    await api.created(budgets, budget("a"));
    (await api.mergePatch(`${budgets}/a/status`, { status: { disruptedPods: { p: "2020-01-01T00:00:00Z" } } })).has(
      "metadata.generation",
      1,
    );
  },

  "the status path returns the whole object": async (api) => {
    await api.created(budgets, budget("a"));
    (await api.get(`${budgets}/a/status`)).gives(200, { kind: "PodDisruptionBudget", spec: { minAvailable: 1 } });
    (await api.put(`${budgets}/no/status`, budget("no"))).gives(404);
    (await api.post(`${budgets}/a/status`, budget("a"))).gives(405);
  },

  "a scale is a view of the replicas": async (api) => {
    await api.created("apps/v1/replicasets", deployment("a", { replicas: 0 }));
    (await api.get("apps/v1/replicasets/a/scale")).gives(200, {
      kind: "Scale",
      apiVersion: "autoscaling/v1",
      metadata: { name: "a" },
      spec: {},
      status: { replicas: 0, selector: "app=a" },
    });
    const put = await api.put("apps/v1/replicasets/a/scale", { metadata: { name: "a", namespace: api.namespace }, spec: { replicas: 2 } });
    put.gives(200, { kind: "Scale", spec: { replicas: 2 } });
    (await api.get("apps/v1/replicasets/a")).gives(200, { spec: { replicas: 2 }, metadata: { generation: 2 } });
  },

  "a scale rejects negative numbers and stale versions": async (api) => {
    await api.created("apps/v1/replicasets", deployment("a", { replicas: 0 }));
    (await api.mergePatch("apps/v1/replicasets/a/scale", { spec: { replicas: -1 } })).refuses(
      422,
      "Invalid",
      'Scale.autoscaling "a" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    );
    (
      await api.put("apps/v1/replicasets/a/scale", {
        metadata: { name: "a", namespace: api.namespace, resourceVersion: "1" },
        spec: { replicas: 3 },
      })
    ).gives(409, { reason: "Conflict" });
    (await api.get("apps/v1/replicasets/no/scale")).gives(404);
  },

  "kinds without a scale subresource return 404": async (api) => {
    await api.created("services", service("a"));
    (await api.get("services/a/scale")).gives(404);
    (await api.get("configmaps/a/scale")).gives(404);
  },

  "a Pod has at most one IP of each family": async (api) => {
    await api.created("pods", pod("a"));
    const status = (patch: object) => api.mergePatch("pods/a/status", { status: patch });
    (await status({ podIP: "1.2.3.4" })).gives(200).has("status.podIPs", [{ ip: "1.2.3.4" }]);
    (await status({ podIPs: [{ ip: "1.2.3.4" }, { ip: "1.2.3.5" }] })).refuses(
      422,
      "Invalid",
      'Pod "a" is invalid: status.podIPs: Invalid value: [{"IP":"1.2.3.4"},{"IP":"1.2.3.5"}]: may specify no more than one IP for each IP family',
    );
    (await status({ podIPs: [{ ip: "1.2.3.4" }, { ip: "1.2.3.4" }] }))
      .gives(422)
      .because(['status.podIPs: Invalid value: [{"IP":"1.2.3.4"},{"IP":"1.2.3.4"}]: may specify no more than one IP for each IP family']);
    (await status({ podIP: "x" })).refuses(
      422,
      "Invalid",
      'Pod "a" is invalid: status.podIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    );
    (await status({ podIPs: [{ ip: "1.2.3.4" }, { ip: "2001:db8::1" }] })).gives(200);
  },

  "the query parameters of logs are validated": async (api) => {
    await api.created("pods", pod("a", { schedulingGates: [{ name: "x.io/y" }] }));
    (await api.get("pods/a/log?sinceTime=bad")).refuses(
      400,
      "BadRequest",
      'parsing time "bad" as "2006-01-02T15:04:05Z07:00": cannot parse "bad" as "2006"',
    );
    (await api.get("pods/a/log?stream=Stdout")).refuses(
      422,
      "Invalid",
      'PodLogOptions "a" is invalid: stream: Forbidden: may not be specified',
    );
  },

  "the proxy accepts a scheme and a port with the name": async (api) => {
    await api.created("pods", pod("a", { schedulingGates: [{ name: "x.io/y" }] }));
    (await api.get("pods/a/proxy")).refuses(400, "BadRequest", "address not allowed");
    (await api.get("pods/http:a:80/proxy")).refuses(400, "BadRequest", "address not allowed");
    (await api.get("pods/ftp:a:80/proxy")).refuses(400, "BadRequest", 'invalid pod request "ftp:a:80"');
    (await api.get("services/https:none:1/proxy")).refuses(404, "NotFound", 'services "none" not found');
    (await api.get("services/a:b:c:d/proxy")).refuses(400, "BadRequest", 'invalid service request "a:b:c:d"');
  },

  "a Binding sets the node of a Pod once": async (api) => {
    await api.created("pods", pod("a"));
    const binding = { metadata: { name: "a" }, target: { kind: "Node", name: "n1" } };
    (await api.post("pods/a/binding", binding)).gives(201, { kind: "Status", status: "Success" });
    (await api.get("pods/a")).gives(200, { spec: { nodeName: "n1" }, status: { conditions: [{ type: "PodScheduled", status: "True" }] } });
    (await api.post("pods/a/binding", binding)).refuses(
      409,
      "Conflict",
      'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "n1"',
    );
  },

  "an eviction deletes a Pod without a disruption budget": async (api) => {
    await api.created("pods", pod("a"));
    (await api.post("pods/a/eviction", { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "a" } })).gives(201, {
      kind: "Status",
      status: "Success",
    });
    (await api.get("pods/a")).gives(404);
    (await api.post("pods/no/eviction", { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "no" } })).gives(404);
  },

  "an eviction with another name is a bad request": async (api) => {
    await api.created("pods", pod("a"));
    (await api.post("pods/a/eviction", { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "b" } })).gives(400, {
      reason: "BadRequest",
    });
  },

  "ephemeral containers are added through their own path": async (api) => {
    await api.created("pods", pod("a"));
    const ephemeralContainers = [{ name: "debug", image: "d" }];
    (await api.strategicPatch("pods/a", { spec: { ephemeralContainers } })).gives(422);
    (await api.strategicPatch("pods/a/ephemeralcontainers", { spec: { ephemeralContainers } })).gives(200, {
      spec: { ephemeralContainers: [{ name: "debug", terminationMessagePolicy: "File" }] },
    });
  },

  "only images, deadlines and a few other fields of a Pod's spec can be changed": async (api) => {
    await api.created("pods", pod("a"));
    (
      await api.strategicPatch("pods/a", {
        spec: { containers: [{ name: "web", image: "example.test/web:2" }], activeDeadlineSeconds: 60 },
      })
    ).gives(200, { metadata: { generation: 2 } });
    const refused = await api.strategicPatch("pods/a", { spec: { containers: [{ name: "web", command: ["x"] }] } });
    refused.gives(422);
    expect(refused.textAt("message")).toMatch(
      /^Pod "a" is invalid: spec: Forbidden: pod updates may not change fields other than `spec\.containers\[\*\]\.image`,`spec\.initContainers\[\*\]\.image`,`spec\.activeDeadlineSeconds`,`spec\.tolerations` \(only additions to existing tolerations\),`spec\.terminationGracePeriodSeconds` \(allow it to be set to 1 if it was previously negative\)\n@@ /,
    );
  },

  "PUT of a Pod may omit the fields that admission added": async (api) => {
    await api.created("pods", pod("a"));
    (await api.put("pods/a", pod("a", { serviceAccountName: "default" }, { labels: { l: "1" } }))).gives(200, {
      metadata: { generation: 1 },
      spec: { priority: 0, tolerations: [{}, {}] },
    });
  },

  "resources of a running Pod are changed through resize": async (api) => {
    await api.created("pods", pod("a", { containers: [{ name: "c", image: "i", resources: { requests: { cpu: "1" } } }] }));
    (await api.strategicPatch("pods/a/resize", { spec: { containers: [{ name: "c", resources: { requests: { cpu: "2" } } }] } })).gives(
      200,
      { spec: { containers: [{ resources: { requests: { cpu: "2" } } }] } },
    );
    (await api.strategicPatch("pods/a/resize", { spec: { containers: [{ name: "c", image: "j" }] } }))
      .gives(200)
      .has("spec.containers.0.image", "i");
  },

  "the conditions of a Pod are merged by type": async (api) => {
    await api.created("pods", pod("a"));
    const condition = (type: string) => ({ type, status: "True" });
    await api.strategicPatch("pods/a/status", { status: { conditions: [condition("example.test/A")] } });
    const answer = await api.strategicPatch("pods/a/status", { status: { conditions: [condition("example.test/B")], phase: "Running" } });
    answer.gives(200, { status: { phase: "Running" } });
    const types = (answer.at("status.conditions") as readonly { type: string }[]).map(({ type }) => type).toSorted();
    expect(types).toEqual(["example.test/A", "example.test/B"]);
  },

  "a node's status has capacity and addresses": async (api) => {
    const name = `node-${api.id}`;
    await api.created("/api/v1/nodes", { metadata: { name } });
    (await api.mergePatch(`/api/v1/nodes/${name}/status`, { status: { capacity: { cpu: "4" } } })).gives(200, {
      status: { capacity: { cpu: "4" } },
    });
  },

  "a namespace's spec.finalizers are changed through finalize": async (api) => {
    const name = `fin-${api.id}`;
    await api.created("/api/v1/namespaces", { metadata: { name }, spec: { finalizers: ["example.test/f", "kubernetes"] } });
    const done = await api.put(`/api/v1/namespaces/${name}/finalize`, { metadata: { name }, spec: { finalizers: ["kubernetes"] } });
    done.gives(200).has("spec.finalizers", ["kubernetes"]);
    (await api.mergePatch(`/api/v1/namespaces/${name}`, { spec: { finalizers: [] } })).gives(200).has("spec.finalizers", ["kubernetes"]);
  },

  "a CertificateSigningRequest is approved through approval": async (api) => {
    (
      await api.put(`/apis/certificates.k8s.io/v1/certificatesigningrequests/no-${api.id}/approval`, { metadata: { name: `no-${api.id}` } })
    ).gives(404);
  },

  "a status patch with labels and annotations is accepted": async (api) => {
    await api.created("apps/v1/statefulsets", deployment("a", { serviceName: "x", replicas: 0 }));
    const answer = await api.mergePatch("apps/v1/statefulsets/a/status", {
      metadata: { labels: { l: "1" }, annotations: { n: "1" } },
      status: { replicas: 0, currentRevision: "r" },
    });
    answer.gives(200, { status: { currentRevision: "r" } });
  },

  "a terminating Pod cannot be bound, and a Binding may have a resourceVersion": async (api) => {
    const binding = (name: string, more = {}) => ({ metadata: { name, ...more }, target: { kind: "Node", name: "n1" } });
    await api.created("pods", pod("a", { schedulingGates: [{ name: "x.io/y" }] }));
    (await api.post("pods/a/binding", binding("a", { resourceVersion: "1" }))).refuses(
      409,
      "Conflict",
      expect.stringMatching(
        /^Operation cannot be fulfilled on pods "a": .*ResourceVersion in precondition: 1, ResourceVersion in object meta: \d+$/,
      ),
    );
    await api.mergePatch("pods/a", { metadata: { finalizers: ["example.test/f"] } });
    await api.delete("pods/a");
    (await api.post("pods/a/binding", binding("a"))).refuses(
      409,
      "Conflict",
      'Operation cannot be fulfilled on pods/binding "a": pod a is being deleted, cannot be assigned to a host',
    );
    await api.mergePatch("pods/a", { metadata: { finalizers: null } });
  },

  "a rejected eviction does not change the Pod": async (api) => {
    await api.created("pods", pod("a", { schedulingGates: [{ name: "x.io/y" }] }));
    const deleteOptions = { preconditions: { uid: "00000001-2222-3333-4444-555555555555" } };
    (await api.post("pods/a/eviction", { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "a" }, deleteOptions })).gives(409);
    const conditions = (await api.get("pods/a")).gives(200).at("status.conditions") as readonly { readonly type: string }[] | undefined;
    expect((conditions ?? []).map(({ type }) => type)).not.toContain("DisruptionTarget");
  },

  "an image in a patch of resize or ephemeralcontainers is owned, and not changed": async (api) => {
    await api.created("pods?fieldManager=maker", pod("a", { schedulingGates: [{ name: "x.io/y" }] }));
    for (const subresource of ["resize", "ephemeralcontainers"]) {
      const patch = { spec: { containers: [{ name: "web", image: `example.test/${subresource}` }] } };
      const answer = (await api.strategicPatch(`pods/a/${subresource}?fieldManager=visitor`, patch)).gives(200);
      expect(answer.textAt("spec.containers.0.image")).not.toContain(subresource);
      const managers = answer.at("metadata.managedFields") as readonly { readonly subresource?: string; readonly fieldsV1: object }[];
      const fieldsV1 = managers.find((entry) => entry.subresource === subresource)?.fieldsV1;
      expect(fieldsV1).toEqual({ "f:spec": { "f:containers": { 'k:{"name":"web"}': { "f:image": {} } } } });
    }
  },

  "exec needs a container name if there are several, and PUT is not allowed for exec, attach and portforward": async (api) => {
    const containers = ["a", "b"].map((name) => ({ name, image: "i" }));
    await api.created("pods", pod("a", { containers, schedulingGates: [{ name: "x.io/y" }] }));
    (await api.get("pods/a/exec?command=ls&stdout=true")).refuses(
      400,
      "BadRequest",
      "a container name must be specified for pod a, choose one of: [a b]",
    );
    for (const way of ["exec", "attach", "portforward"]) (await api.put(`pods/a/${way}`, {})).gives(405);
  },

  "paths below a subresource are 404": async (api) => {
    await api.created("pods", pod("a", { schedulingGates: [{ name: "x.io/y" }] }));
    (await api.get("pods/a/status/x")).refuses(404, "NotFound", "the server could not find the requested resource");
    (await api.mergePatch("pods/a/status/x", {})).gives(404);
    (await api.delete("pods/a/status/x")).gives(404);
  },

  "the proxy returns 404 without an Endpoints object, and 503 without the port or an address": async (api) => {
    await api.created("services", {
      metadata: { name: "s" },
      spec: { type: "ExternalName", externalName: "example.test", ports: [{ port: 80 }] },
    });
    (await api.get("services/s/proxy/")).refuses(404, "NotFound", 'services "s" not found');
    (await api.get("services/s:81/proxy/")).refuses(503, "ServiceUnavailable", 'no service port 81 found for service "s"');
    await api.created("endpoints", { metadata: { name: "s" } });
    (await api.get("services/s:80/proxy/")).refuses(503, "ServiceUnavailable", 'no endpoints available for service "s"');
  },

  "the status of a finished Job is validated, and cannot be reverted": async (api) => {
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
    const job = { apiVersion: "batch/v1", kind: "Job", metadata: { name: "j" }, spec: { suspend: true, template } };
    await api.created("batch/v1/jobs", job);
    const write = (status: object) => api.mergePatch("batch/v1/jobs/j/status", { status });
    const [start, end] = ["2026-01-01T00:00:10Z", "2026-01-01T00:00:20Z"];
    const conditions = (...types: readonly string[]) => types.map((type) => ({ type, status: "True" }));
    const about = "status.conditions: Invalid value: cannot";
    (await write({ conditions: conditions("Complete", "Failed"), active: 1, ready: 2, completedIndexes: "1", failedIndexes: "2" })).because(
      [
        `${about} set Complete=True and Failed=true conditions`,
        "status.completionTime: Required value: completionTime is required for Complete jobs",
        `${about} set Failed=True condition without the FailureTarget=true condition`,
        `${about} set Complete=True condition without the SuccessCriteriaMet=true condition`,
        "status.active: Invalid value: 1: active>0 is invalid for finished job",
        "status.startTime: Required value: startTime is required for finished job",
        `status.completedIndexes: Invalid value: "1": error parsing completedIndexes: too large index: "1"`,
        `status.completedIndexes: Invalid value: "1": cannot set non-empty completedIndexes when non-indexed completion mode`,
        `status.failedIndexes: Invalid value: "2": cannot set non-null failedIndexes when backoffLimitPerIndex is null`,
        "status.ready: Invalid value: 2: cannot set more ready pods than active",
      ],
    );
    (await write({ uncountedTerminatedPods: { succeeded: ["a", "a"], failed: [""] }, completionTime: end, startTime: end })).because([
      `status.uncountedTerminatedPods.succeeded[1]: Duplicate value: "a"`,
      `status.uncountedTerminatedPods.failed[0]: Invalid value: "": must not be empty`,
      `status.completionTime: Invalid value: "${end}": cannot set completionTime when there is no Complete=True condition`,
    ]);
    const succeeded = {
      startTime: start,
      completionTime: end,
      conditions: conditions("SuccessCriteriaMet", "Complete"),
      succeeded: 1,
      failed: 2,
    };
    (
      await write({ ...succeeded, startTime: end, completionTime: start, terminating: 1, uncountedTerminatedPods: { failed: ["a"] } })
    ).because([
      `status.completionTime: Invalid value: "${start}": must be equal to or after \`startTime\``,
      `status.uncountedTerminatedPods: Invalid value: {"Succeeded":null,"Failed":["a"]}: must be empty for finished job`,
      "status.terminating: Invalid value: 1: terminating>0 is invalid for finished job",
    ]);
    (await write(succeeded)).gives(200);
    (await write({ conditions: [], succeeded: 0, failed: 1, completionTime: null })).because([
      `${about} disable the terminal Complete=True condition`,
      `${about} disable the SuccessCriteriaMet=True condition`,
      "status.failed: Invalid value: 1: cannot decrease the failed counter",
      "status.succeeded: Invalid value: 0: cannot decrease the succeeded counter",
    ]);
    (await write({ conditions: conditions("SuccessCriteriaMet", "Complete", "FailureTarget") })).because([
      `${about} set Complete=True and FailureTarget=true conditions`,
      `${about} set SuccessCriteriaMet=True and FailureTarget=true conditions`,
    ]);
    (await write({ completionTime: "2026-01-01T00:00:30Z" })).because([
      `status.completionTime: Invalid value: "2026-01-01T00:00:30Z": field is immutable`,
    ]);
  },

  "the indexes in a Job's status are validated": async (api) => {
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
    const spec = { suspend: true, completions: 9, parallelism: 9, completionMode: "Indexed", backoffLimitPerIndex: 1, template };
    await api.created("batch/v1/jobs", { apiVersion: "batch/v1", kind: "Job", metadata: { name: "j" }, spec });
    const why = async (status: object) => {
      const answer = (await api.mergePatch("batch/v1/jobs/j/status", { status })).gives(422);
      return (answer.at("details.causes") as readonly { message: string }[]).map(({ message }) => message);
    };
    const completed = async (text: string) => why({ completedIndexes: text });
    const parsing = (text: string, problem: string) => [`Invalid value: "${text}": error parsing completedIndexes: ${problem}`];
    expect(await completed("1,1")).toEqual(parsing("1,1", "non-increasing order, previous: 1, current: 1"));
    expect(await completed("3-2")).toEqual(parsing("3-2", "non-increasing order, previous: 3, current: 2"));
    expect(await completed("x")).toEqual(parsing("x", 'cannot convert string to integer for index: "x"'));
    expect(await completed("1-y")).toEqual(parsing("1-y", 'cannot convert string to integer for index: "y"'));
    expect(await completed("1-9")).toEqual(parsing("1-9", 'too large index: "9"'));
    const parts = `the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by '-'`;
    expect(await completed("1-2-3")).toEqual(parsing("1-2-3", parts));
    expect(await why({ completedIndexes: "1,3-5", failedIndexes: "2,4" })).toEqual([
      'Invalid value: "2,4": failedIndexes and completedIndexes overlap at index: 4',
    ]);
    expect(await why({ failedIndexes: "9" })).toEqual(['Invalid value: "9": error parsing failedIndexes: too large index: "9"']);
    (await api.mergePatch("batch/v1/jobs/j/status", { status: { completedIndexes: "1,3-5", failedIndexes: "2,7-8" } })).gives(200);
  },
});
