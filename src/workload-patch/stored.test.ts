/** An API server stores the patched values as they are recorded: its defaults do not look like changes by the owner. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk } from "#base";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { canonicalJson, deployments, field, type KubeObject } from "#kube";
import { AT, ownedDeployment, podPatch } from "../../test/builders/workload-patches.ts";
import { applyWorkloadPatch, revertWorkloadPatch } from "./index.ts";

let cluster: EmbeddedCluster;
beforeAll(async () => {
  cluster = await startEmbeddedCluster({ controllers: false });
});
afterAll(() => cluster.close());

const KEY = { name: "web-env", key: "k" };

/** Every part that a service can set, as it is written by hand: without defaults, with zero values and other forms of quantities. */
const PATCH = podPatch(
  {
    containers: [
      {
        name: "main",
        image: "web:2",
        command: ["run"],
        args: [],
        workingDir: "",
        env: [
          { name: "EMPTY", value: "" },
          { name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
          { name: "OWN", valueFrom: { configMapKeyRef: KEY } },
        ],
        ports: [{ containerPort: 8080 }, { containerPort: 53, protocol: "UDP", name: "dns", hostPort: 0 }],
        volumeMounts: [{ name: "files", mountPath: "/etc/web", readOnly: false, subPath: "" }, { name: "scratch", mountPath: "/tmp", readOnly: true }],
        resources: { limits: { cpu: "1000m", memory: "1024Mi" }, requests: { cpu: "1500u", memory: "1e6" } },
        livenessProbe: { httpGet: { port: 8080 }, initialDelaySeconds: 0 },
        readinessProbe: { grpc: { port: 9000 }, periodSeconds: 3 },
        startupProbe: { exec: { command: ["ok"] } },
        lifecycle: { preStop: { httpGet: { path: "/stop", port: "http" } } },
        securityContext: { runAsNonRoot: true, allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] }, seLinuxOptions: { user: "", level: "s0" } },
      },
    ],
    volumes: [
      { name: "files", configMap: { name: "web-files", items: [{ key: "a", path: "a" }] } },
      { name: "keys", secret: { secretName: "web-keys" } },
      { name: "scratch", emptyDir: {} },
    ],
    securityContext: { fsGroup: 1 },
  },
  { envFrom: { main: [{ configMapRef: { name: "web-env" } }, { secretRef: { name: "web-env" } }] } },
); // prettier-ignore

async function stored(deployment: KubeObject): Promise<KubeObject> {
  const { name, namespace } = deployment.metadata;
  expectOk(await cluster.client.update(deployments, deployment as never));
  return expectOk(await cluster.client.get(deployments, { namespace: namespace ?? "", name }));
}

const OWNERS = [
  { name: "plain", given: ownedDeployment() },
  {
    name: "with-fields",
    given: ownedDeployment({
      args: ["own"],
      workingDir: "/own",
      env: [{ name: "OWN", value: "1" }],
      envFrom: [{ configMapRef: { name: "own" } }],
      livenessProbe: { exec: { command: ["own"] } },
      resources: { limits: { cpu: "2000m" } },
      lifecycle: { preStop: { exec: { command: ["own"] } } },
    }),
  },
];

test.each(OWNERS)(
  "a Deployment that is stored, patched and read again has the patch, and is reverted exactly: $name",
  async ({ name, given }) => {
    const object = { ...given, metadata: { ...given.metadata, name, namespace: "default" } };
    expectOk(await cluster.client.create(deployments, object as never));
    const created: KubeObject = expectOk(await cluster.client.get(deployments, { namespace: "default", name }));
    const patched = await stored(expectOk(applyWorkloadPatch(created, PATCH, { at: AT })).deployment);
    const again = expectOk(applyWorkloadPatch(patched, PATCH, { at: AT, previous: patched }));
    expect(again.deployment).toEqual(patched);
    expect(again.changed).toBe(false);
    const { deployment, kept } = revertWorkloadPatch(patched);
    expect(kept).toEqual([]);
    expect(canonicalJson(field(await stored(deployment), "spec"))).toBe(canonicalJson(field(created, "spec")));
  },
);
