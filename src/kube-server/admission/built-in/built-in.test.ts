import { expect, test } from "vitest";
import type { Json } from "#kube";
import { realServer } from "../../rest/server.test-support.ts";

const PODS = "/api/v1/namespaces/default/pods";
const pod = (spec: object = {}) => ({ metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }], ...spec } });

test("a pod tolerates an unreachable node for a while, and the added tolerations have no field manager", async () => {
  const { ask } = realServer();
  const { body } = await ask("POST", PODS, { body: pod() });
  expect(body).toMatchObject({
    spec: {
      tolerations: [{ key: "node.kubernetes.io/not-ready", tolerationSeconds: 300 }, { key: "node.kubernetes.io/unreachable" }],
      priority: 0,
    },
  });
  expect(JSON.stringify((body as { metadata: Json }).metadata)).not.toContain("tolerations");
});

test("a pod that tolerates everything gets no tolerations", async () => {
  const { ask } = realServer();
  const tolerations = [{ operator: "Exists" }];
  expect((await ask("POST", PODS, { body: pod({ tolerations }) })).body).toMatchObject({ spec: { tolerations } });
});

test("a pod's priority is that of its class, the default class, or a system class", async () => {
  const { ask } = realServer();
  const classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
  const tried = async (spec: object) => (await ask("POST", `${PODS}?dryRun=All`, { body: pod(spec) })).body;
  expect(await tried({ priorityClassName: "nope" })).toMatchObject({
    code: 403,
    message: 'pods "p" is forbidden: no PriorityClass with name nope was found',
  });
  expect(await tried({ priorityClassName: "system-node-critical" })).toMatchObject({ spec: { priority: 2_000_001_000 } });
  await ask("POST", classes, { body: { metadata: { name: "high" }, value: 7, preemptionPolicy: "Never" } });
  await ask("POST", classes, { body: { metadata: { name: "usual" }, value: 3, globalDefault: true } });
  expect(await tried({ priorityClassName: "high" })).toMatchObject({ spec: { priority: 7, preemptionPolicy: "Never" } });
  expect(await tried({})).toMatchObject({ spec: { priority: 3, priorityClassName: "usual" } });
});

test("claims and volumes are protected, and a claim gets the newest default class", async () => {
  const { ask, clock } = realServer();
  const classes = "/apis/storage.k8s.io/v1/storageclasses";
  const claims = "/api/v1/namespaces/default/persistentvolumeclaims";
  const claim = { metadata: { name: "c" }, spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } };
  expect((await ask("POST", `${claims}?dryRun=All`, { body: claim })).body).toMatchObject({
    metadata: { finalizers: ["kubernetes.io/pvc-protection"] },
  });
  const annotations = { "storageclass.kubernetes.io/is-default-class": "true" };
  for (const name of ["old", "new"]) {
    await ask("POST", classes, { body: { metadata: { name, annotations }, provisioner: "x" } });
    await clock.advance(1_000);
  }
  expect((await ask("POST", claims, { body: claim })).body).toMatchObject({ spec: { storageClassName: "new" } });
});

test("the initial namespaces of a cluster cannot be deleted", async () => {
  const { ask } = realServer();
  expect((await ask("DELETE", "/api/v1/namespaces/kube-system")).body).toMatchObject({
    code: 403,
    message: 'namespaces "kube-system" is forbidden: this namespace may not be deleted',
  });
  expect((await ask("DELETE", "/api/v1/namespaces/kube-node-lease")).status).toBe(200);
});

test("a new node gets the not-ready taint, but only once", async () => {
  const { ask } = realServer();
  const taint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };
  expect((await ask("POST", "/api/v1/nodes", { body: { metadata: { name: "a" } } })).body).toMatchObject({ spec: { taints: [taint] } });
  const tainted = { metadata: { name: "b" }, spec: { taints: [taint] } };
  expect((await ask("POST", "/api/v1/nodes", { body: tainted })).body).toMatchObject({ spec: { taints: [taint] } });
});

test("a certificate request has its author as username, whatever its spec contains", async () => {
  const { ask } = realServer();
  const spec = { request: REQUEST, signerName: "example.test/s", usages: ["client auth"], username: "eve", uid: "x", groups: ["g"] };
  const { body } = await ask("POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests", {
    body: { metadata: { name: "a" }, spec },
  });
  expect(body).toMatchObject({ spec: { username: expect.not.stringContaining("eve") } });
});

/** An X.509 certificate request without content. */
const REQUEST = btoa("-----BEGIN CERTIFICATE REQUEST-----\nMAYwADAAMAA=\n-----END CERTIFICATE REQUEST-----\n");
