import { expect, test } from "vitest";
import { parseYaml } from "#kube";
import { expectOk } from "#base";
import { isTrue, listAt, objectAt, textAt } from "./objects.ts";
import { secretText } from "./secret-data.ts";
import { devClusterYaml, localClusterYaml, type LocalClusterShape } from "../../../test/builders/capi-objects.ts";
import { CapiWorld } from "./capi-world.test-support.ts";
import { isProvisioned, provisioned } from "./capi-steps.test-support.ts";

const shapes: readonly (LocalClusterShape & { readonly machines: number })[] = [
  { controlPlanes: 1, workers: 2, machines: 3 },
  { controlPlanes: 3, workers: 2, machines: 5 },
  { controlPlanes: 1, workers: 0, machines: 1 },
];

test.each(shapes)("$controlPlanes control planes and $workers workers become available", async ({ machines, ...shape }) => {
  await using world = await provisioned(shape);
  expect(await world.nodeNames()).toHaveLength(machines);
  const cluster = await world.read("Cluster", "c1");
  expect(cluster.status).toMatchObject({
    phase: "Provisioned",
    initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true },
    controlPlane: { desiredReplicas: shape.controlPlanes, availableReplicas: shape.controlPlanes, upToDateReplicas: shape.controlPlanes },
    workers: { desiredReplicas: shape.workers, availableReplicas: shape.workers },
  });
  expect(world.host.started.filter(({ bootstrapData }) => bootstrapData.includes("kubeadm init"))).toHaveLength(1);
  expect(world.host.started.filter(({ controlPlane }) => controlPlane)).toHaveLength(shape.controlPlanes ?? 0);
});

test("objects have the owners, labels, finalizers and names of Cluster API", async () => {
  await using world = await provisioned();
  const owners = async (kind: string, name: string) =>
    ((await world.read(kind, name)).metadata.ownerReferences ?? []).map(
      (owner) => `${owner.kind}${owner.controller === true ? " (controller)" : ""}`,
    );
  const [controlPlane, worker] = await machinesByRole(world);
  const set = (await world.all("MachineSet"))[0]?.metadata.name ?? "";
  const found = {
    localCluster: await owners("LocalCluster", "c1"),
    controlPlane: await owners("KubeadmControlPlane", "c1-cp"),
    deployment: await owners("MachineDeployment", "c1-md"),
    set: await owners("MachineSet", set),
    template: await owners("LocalMachineTemplate", "c1-md"),
    configTemplate: await owners("KubeadmConfigTemplate", "c1-md"),
    machines: [await owners("Machine", controlPlane), await owners("Machine", worker)],
    config: await owners("KubeadmConfig", worker),
    infrastructure: await owners("LocalMachine", worker),
    data: await owners("Secret", worker),
    authority: await owners("Secret", "c1-ca"),
    kubeconfig: await owners("Secret", "c1-kubeconfig"),
  };
  expect(found).toEqual({
    localCluster: ["Cluster"],
    controlPlane: ["Cluster"],
    deployment: ["Cluster"],
    set: ["MachineDeployment (controller)"],
    template: ["Cluster"],
    configTemplate: ["Cluster"],
    machines: [["KubeadmControlPlane (controller)"], ["MachineSet (controller)"]],
    config: ["Machine (controller)"],
    infrastructure: ["Machine (controller)"],
    data: ["KubeadmConfig (controller)"],
    authority: ["KubeadmControlPlane (controller)"],
    kubeconfig: [],
  });
  expect((await world.read("Machine", worker)).metadata).toMatchObject({
    finalizers: ["machine.cluster.x-k8s.io"],
    labels: {
      "cluster.x-k8s.io/cluster-name": "c1",
      "cluster.x-k8s.io/deployment-name": "c1-md",
      "cluster.x-k8s.io/set-name": set,
      "machine-template-hash": expect.stringMatching(/^\d+-[a-z0-9]{5}$/),
    },
  });
  expect((await world.read("Machine", controlPlane)).metadata.labels).toEqual({
    "cluster.x-k8s.io/cluster-name": "c1",
    "cluster.x-k8s.io/control-plane": "",
    "cluster.x-k8s.io/control-plane-name": "c1-cp",
  });
  expect(await world.read("MachineDeployment", "c1-md")).toMatchObject({
    metadata: { annotations: { "machinedeployment.clusters.x-k8s.io/revision": "1" }, finalizers: ["cluster.x-k8s.io/machinedeployment"] },
    spec: { selector: { matchLabels: { "cluster.x-k8s.io/cluster-name": "c1", "cluster.x-k8s.io/deployment-name": "c1-md" } } },
  });
  expect(await world.read("Machine", worker)).toMatchObject({
    spec: { providerID: `local:///c1/${worker}` },
    status: { nodeRef: { name: worker } },
  });
});

async function machinesByRole(world: CapiWorld): Promise<readonly [string, string]> {
  const names = (await world.all("Machine")).map(({ metadata }) => metadata.name);
  return [names.find((name) => name.startsWith("c1-cp")) ?? "", names.find((name) => name.startsWith("c1-md")) ?? ""];
}

test("the bootstrap data has the files of kubeadm, contents from Secrets, and the commands in order", async () => {
  await using world = await CapiWorld.start();
  await world.parent.add({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "join", namespace: "c1" },
    stringData: { token: "hidden" },
  });
  await world.apply(localClusterYaml("c1", { workers: 1 }));
  const files = [
    { path: "/etc/lattice/token", contentFrom: { secret: { name: "join", key: "token" } }, permissions: "0600" },
    { path: "/etc/lattice/bootstrap.sh", content: "echo\nline\n" },
  ];
  const users = [{ name: "ops", sshAuthorizedKeys: ["ssh-ed25519 a"], passwdFrom: { secret: { name: "join", key: "token" } } }];
  await world.patch("KubeadmControlPlane", "c1-cp", {
    spec: { kubeadmConfigSpec: { files, users, verbosity: 5, ntp: { enabled: true, servers: ["a"] } } },
  });
  await world.giveKubeconfig();
  await world.until(() => isProvisioned(world, 2));
  const [controlPlane, worker] = await machinesByRole(world);
  const text = secretText(await world.read("Secret", controlPlane), "value") ?? "";
  expect(text.startsWith("## template: jinja\n#cloud-config\n")).toBe(true);
  const [document] = expectOk(parseYaml(text));
  const paths = listAt(document, "write_files").map((file) => textAt(file, "path"));
  expect(paths).toEqual([
    ...["ca.crt", "ca.key", "etcd/ca.crt", "etcd/ca.key", "front-proxy-ca.crt", "front-proxy-ca.key", "sa.pub", "sa.key"].map(
      (name) => `/etc/kubernetes/pki/${name}`,
    ),
    "/etc/lattice/token",
    "/etc/lattice/bootstrap.sh",
    "/run/kubeadm/kubeadm.yaml",
    "/run/cluster-api/placeholder",
  ]);
  expect(listAt(document, "write_files")[8]).toEqual({ path: "/etc/lattice/token", permissions: "0600", content: "hidden" });
  expect(listAt(document, "runcmd")).toEqual([
    "echo before",
    "kubeadm init --config /run/kubeadm/kubeadm.yaml --v 5 && echo success > /run/cluster-api/bootstrap-success.complete",
    "echo after",
  ]);
  expect(document).toMatchObject({
    users: [{ name: "ops", passwd: "hidden", ssh_authorized_keys: ["ssh-ed25519 a"] }],
    ntp: { enabled: true, servers: ["a"] },
  });
  const kubeadm = textAt(listAt(document, "write_files")[10], "content") ?? "";
  expect(expectOk(parseYaml(kubeadm))).toMatchObject([
    {
      kind: "ClusterConfiguration",
      clusterName: "c1",
      kubernetesVersion: "v1.36.3",
      controlPlaneEndpoint: "127.0.0.9:6443",
      networking: { dnsDomain: "cluster.local", podSubnet: "192.168.0.0/16", serviceSubnet: "10.128.0.0/12" },
      apiServer: { certSANs: ["localhost", "127.0.0.1"] },
    },
    { kind: "InitConfiguration" },
  ]);
  const joined = expectOk(parseYaml(secretText(await world.read("Secret", worker), "value") ?? ""))[0];
  expect(listAt(joined, "write_files").map((file) => textAt(file, "path"))).toEqual([
    "/run/kubeadm/kubeadm-join-config.yaml",
    "/run/cluster-api/placeholder",
  ]);
  expect(expectOk(parseYaml(textAt(listAt(joined, "write_files")[0], "content") ?? ""))[0]).toMatchObject({
    kind: "JoinConfiguration",
    discovery: { bootstrapToken: { apiServerEndpoint: "127.0.0.9:6443", caCertHashes: [expect.stringMatching(/^sha256:[0-9a-f]{64}$/)] } },
  });
});

test("a file from a Secret that does not exist is named in the conditions, and the machine goes on when it appears", async () => {
  await using world = await CapiWorld.start();
  await world.apply(localClusterYaml("c1", { workers: 0 }));
  const files = [{ path: "/etc/token", contentFrom: { secret: { name: "late", key: "token" } } }];
  await world.patch("KubeadmControlPlane", "c1-cp", { spec: { kubeadmConfigSpec: { files } } });
  await world.giveKubeconfig();
  await world.live(5_000);
  const [config] = await world.all("KubeadmConfig");
  expect(JSON.stringify(config?.status)).toContain("Failed to prepare spec.files: secret not found: c1/late");
  const labels = { "cluster.x-k8s.io/cluster-name": "c1" };
  await world.parent.add({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "late", namespace: "c1", labels },
    stringData: { token: "x" },
  });
  await world.until(() => isProvisioned(world, 1));
});

test("without a host local machines stay pending, and the conditions say why", async () => {
  await using world = await CapiWorld.start({ host: "none" });
  await world.apply(localClusterYaml("c1"));
  await world.giveKubeconfig();
  await world.live(30_000, 2_000);
  const [machine] = await world.all("Machine");
  expect(textAt(machine, "status", "phase")).toBe("Provisioning");
  expect(JSON.stringify(machine?.status)).toContain("This cluster runs no local machines");
});

test("a machine that fails to start keeps its cluster waiting, with the message of the host", async () => {
  await using world = await CapiWorld.start();
  world.host.failing = /cp/;
  await world.apply(localClusterYaml("c1"));
  await world.giveKubeconfig();
  await world.live(10_000, 1_000);
  const machines = await world.all("Machine");
  const first = machines.find(({ metadata }) => metadata.name.startsWith("c1-cp"));
  expect(JSON.stringify(objectAt(first, "status"))).toContain("kubeadm exited with 1");
  expect(isTrue(await world.read("Cluster", "c1"), "ControlPlaneInitialized")).toBe(false);
});

test("machines of the in-memory provider become ready after their startup time, and register no Node", async () => {
  await using world = await CapiWorld.start();
  await world.apply(devClusterYaml("c1"));
  await world.live(10_000, 1_000);
  const [machine] = await world.all("DevMachine");
  expect(machine).toMatchObject({
    metadata: {
      annotations: { "cluster.x-k8s.io/cloned-from-name": "c1-cp" },
      finalizers: ["dockermachine.infrastructure.cluster.x-k8s.io"],
    },
    spec: { providerID: `in-memory://${machine?.metadata.name ?? ""}` },
    status: { initialization: { provisioned: true } },
  });
  // the provider gave an endpoint, so the control plane made the kubeconfig
  expect(await world.read("Cluster", "c1")).toMatchObject({
    spec: { controlPlaneEndpoint: { host: "127.0.0.9", port: 6443 } },
    status: { phase: "Provisioned" },
  });
  expect(secretText(await world.read("Secret", "c1-kubeconfig"), "value")).toContain("server: https://127.0.0.9:6443");
});

test("an existing kubeconfig is never changed, and without one the control plane waits", async () => {
  await using world = await CapiWorld.start();
  await world.apply(localClusterYaml("c1"));
  await world.live(20_000, 2_000);
  expect(await world.all("Machine")).toEqual([]);
  expect(JSON.stringify((await world.read("KubeadmControlPlane", "c1-cp")).status)).toContain(
    "Waiting for the kubeconfig Secret of the Cluster",
  );
  await world.giveKubeconfig();
  const before = await world.read("Secret", "c1-kubeconfig");
  await world.until(() => isProvisioned(world, 3));
  expect(await world.read("Secret", "c1-kubeconfig")).toEqual(before);
});

test("objects that lost their status, as after a move, are taken over: no machine is created, replaced or bootstrapped again", async () => {
  await using world = await provisioned({ controlPlanes: 3, workers: 2 });
  const before = (await world.all("Machine")).map(({ metadata }) => metadata.name);
  await world.stop();
  const kinds = [
    "Cluster",
    "LocalCluster",
    "KubeadmControlPlane",
    "KubeadmConfig",
    "MachineDeployment",
    "MachineSet",
    "Machine",
    "LocalMachine",
  ];
  for (const kind of kinds) await world.loseStatus(kind);
  const configs = (await world.all("KubeadmConfig")).map(({ spec }) => spec);
  await world.begin();
  await world.until(() => isProvisioned(world, 5));
  expect((await world.all("Machine")).map(({ metadata }) => metadata.name)).toEqual(before);
  expect(world.host.started).toHaveLength(5);
  expect((await world.all("KubeadmConfig")).map(({ spec }) => spec)).toEqual(configs);
});

test("without the Provider objects nothing happens", async () => {
  await using world = await CapiWorld.start({ providers: [] });
  await world.apply(localClusterYaml("c1"));
  await world.giveKubeconfig();
  await world.live(10_000, 2_000);
  expect(world.writes).toEqual([]);
});
