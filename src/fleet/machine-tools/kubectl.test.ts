/** kubeadm and kubectl of a machine against an embedded cluster, over a socket. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { err, expectOk, ok, seededRandom, systemClock } from "#base";
import { failWith, startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { configMaps, nodes } from "#kube";
import { openControlSocket, type ControlSocket } from "../control/control-server.ts";
import type { MachineControlRequest, MachineView } from "../fleet-types.ts";
import { kubeadm, kubectl, type ToolIo } from "./index.ts";

let folder = "";
let cluster: EmbeddedCluster;
let control: ControlSocket;
const asked: MachineControlRequest[] = [];
let machine: MachineView;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lattice-tools-"));
  cluster = await startEmbeddedCluster();
  await cluster.listen();
  const kubeconfig = join(folder, "kubeconfig");
  await cluster.writeKubeconfig(kubeconfig);
  for (const name of ["etc", "run"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "etc/admin.conf"), readFileSync(kubeconfig));
  machine = { name: "m1", namespace: "capi-child", cluster: "child", controlPlane: true, version: "v1.35.1", kubeconfig };
  const unused = () => Promise.resolve(err("unused"));
  const answer = (request: MachineControlRequest) => {
    asked.push(request);
    return Promise.resolve(request.token === "secret" ? ok(machine) : err("no machine of this fleet has this token"));
  };
  control = expectOk(
    await openControlSocket({
      path: join(folder, "s"),
      clock: systemClock,
      fleet: { clusters: () => [], start: unused, stop: unused, machine: answer },
    }),
  );
});
afterAll(async () => {
  await control.close();
  await cluster.close();
  rmSync(folder, { recursive: true, force: true });
});

function toolIo(env: Readonly<Record<string, string>> = {}) {
  const output: string[] = [];
  const io: ToolIo = {
    env: { LATTICE_ROOT: folder, LATTICE_FLEET_SOCKET: join(folder, "s"), LATTICE_MACHINE_TOKEN: "secret", ...env },
    cwd: folder,
    clock: systemClock,
    random: seededRandom(1),
    stdout: (text) => output.push(text),
    signal: new AbortController().signal,
  };
  return { io, output };
}

async function run(args: string, env?: Readonly<Record<string, string>>) {
  const { io, output } = toolIo(env);
  const done = await kubectl(io, args.split(" "));
  return done.ok ? output.join("") : `error: ${done.error}`;
}

const AS = "--kubeconfig /etc/admin.conf";

describe("kubectl of a machine", () => {
  test.each([
    { args: `${AS} get namespace kube-system -o name`, want: "namespace/kube-system\n" },
    { args: `${AS} get ns/kube-system --output=name --request-timeout=5s`, want: "namespace/kube-system\n" },
    { args: `${AS} get Namespaces default --request-timeout 5`, want: "NAME\ndefault\n" },
    { args: `get deployments.apps web -n a ${AS}`, want: 'error: deployments.apps "web" not found' },
    { args: `${AS} get widget web`, want: `error: the server doesn't have a resource type "widget"` },
    { args: "get ns default", want: "error: kubectl of a local machine needs --kubeconfig FILE" },
    {
      args: `${AS} get ns default --request-timeout=soon`,
      want: 'error: --request-timeout: "soon" is not a duration; write it as "30s", "5m" or "1h30m"',
    },
    { args: `${AS} apply --server-side -f /etc/absent`, want: /^error: \/etc\/absent cannot be read: / },
    { args: "--kubeconfig /etc/absent get ns default", want: /^error: .*absent/ },
  ])("$args", async ({ args, want }) => {
    const shown = await run(args);
    if (typeof want === "string") expect(shown).toBe(want);
    else expect(shown).toMatch(want);
  });

  test.each([
    "delete ns a",
    "get ns",
    "get ns a b c",
    "get ns default -o json",
    "apply -f /etc/a",
    "apply --server-side",
    "logs --follow x",
    "",
  ])("explains what it can do: %s", async (args) => {
    expect(await run(args)).toMatch(/^error: .*kubectl of a local machine can only do: get KIND NAME .*$/);
  });

  const WIDGETS = `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: made}, data: {key: value}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: w, namespace: made}
spec: {size: 3}
---
{apiVersion: v1, kind: Namespace, metadata: {name: made}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget, shortNames: [wi]}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`;

  it("applies a stream: definitions first, then namespaces, then the rest; and the same again", async () => {
    writeFileSync(join(folder, "run/all.yaml"), WIDGETS);
    const applied = [
      "customresourcedefinition.apiextensions.k8s.io/widgets.example.com",
      "namespace/made",
      "configmap/a",
      "configmap/b",
      "widget.example.com/w",
    ];
    const want = applied.map((name) => `${name} serverside-applied\n`).join("");
    expect(await run(`${AS} apply --server-side --force-conflicts --filename /run/all.yaml`)).toBe(want);
    expect(await run(`${AS} apply --server-side -f run/all.yaml --namespace default`)).toBe(want);
    expect(await run(`get wi w -n made -o name`, { KUBECONFIG: "/etc/admin.conf" })).toBe("widget.example.com/w\n");
    expect(expectOk(await cluster.client.get(configMaps, { namespace: "default", name: "b" })).metadata.name).toBe("b");
  });

  test.each([
    { name: "no YAML", text: "a: [", want: /^error: the manifests are not valid YAML: / },
    {
      name: "no name",
      text: "kind: ConfigMap\napiVersion: v1\n",
      want: /^error: manifest 1: must have apiVersion, kind and metadata.name$/,
    },
    {
      name: "an invalid object",
      text: "kind: ConfigMap\napiVersion: v1\nmetadata: {name: A_}\n",
      want: /^error: ConfigMap A_ was refused: /,
    },
    {
      name: "a kind that is not served",
      text: "kind: Nothing\napiVersion: example.org/v1\nmetadata: {name: a}\n",
      want: /^error: the server has no kind Nothing in example.org\/v1; apply its definition first$/,
    },
  ])("refuses manifests with $name", async ({ text, want }) => {
    writeFileSync(join(folder, "run/wrong.yaml"), text);
    expect(await run(`${AS} apply --server-side -f /run/wrong.yaml`)).toMatch(want);
  });
});

describe("kubeadm of a machine", () => {
  const INIT = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nclusterName: child\nkubernetesVersion: v1.35.1\n";
  const JOIN = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\n";
  const runAdm = async (args: string, text: string, env?: Readonly<Record<string, string>>) => {
    writeFileSync(join(folder, "run/kubeadm.yaml"), text);
    const { io, output } = toolIo(env);
    asked.length = 0;
    const done = await kubeadm(io, args.split(" "));
    return done.ok ? output.join("") : `error: ${done.error}`;
  };

  it("init registers the Node, writes the administrator's kubeconfig, and can be repeated", async () => {
    for (let attempt = 0; attempt < 2; attempt += 1) {
      expect(await runAdm("init --config /run/kubeadm.yaml -v 5 --v=2", INIT)).toBe(
        "[init] the API server of cluster child runs\n[kubelet] Node m1 is registered\n",
      );
      expect(asked).toEqual([
        { command: "machine-init", token: "secret", cluster: "child", version: "v1.35.1" },
        { command: "machine-node", token: "secret", node: "m1" },
      ]);
    }
    expect(readFileSync(join(folder, "etc/kubernetes/admin.conf"), "utf8")).toBe(readFileSync(machine.kubeconfig, "utf8"));
    expect(expectOk(await cluster.client.get(nodes, { name: "m1" })).spec).toMatchObject({ providerID: "local:///capi-child/m1" });
    expect(expectOk(await cluster.client.get(configMaps, { namespace: "kube-system", name: "kubeadm-config" }))).toMatchObject({
      data: { ClusterConfiguration: expect.stringContaining("clusterName: child") as string },
    });
  });

  it("join registers the Node of a worker, which gets no credentials", async () => {
    machine = { ...machine, name: "m2", controlPlane: false };
    rmSync(join(folder, "etc/kubernetes"), { recursive: true });
    expect(await runAdm("join --config=/run/kubeadm.yaml", JOIN)).toBe("[kubelet] Node m2 is registered\n");
    expect([asked[0], existsSync(join(folder, "etc/kubernetes"))]).toEqual([{ command: "machine-join", token: "secret" }, false]);
    expect(await runAdm("join --config /run/kubeadm.yaml", `${JOIN}controlPlane: {}\n`)).toBe(
      "error: JoinConfiguration.controlPlane: machine m2 is no control-plane machine",
    );
  });

  test.each([
    { args: "reset", text: INIT, want: /^error: kubeadm of a local machine can only do: / },
    { args: "init --upload-certs", text: INIT, want: /^error: --upload-certs: kubeadm of a local machine can only do: / },
    { args: "init --config", text: INIT, want: /^error: kubeadm of a local machine can only do: / },
    { args: "init --config /run/absent.yaml", text: INIT, want: /^error: \/run\/absent.yaml cannot be read: / },
    { args: "init --config /run/kubeadm.yaml", text: JOIN, want: /^error: the file has no ClusterConfiguration$/ },
    { args: "join --config /run/kubeadm.yaml", text: INIT, want: /^error: the file has no JoinConfiguration$/ },
    {
      args: "init --config /run/kubeadm.yaml",
      text: INIT,
      env: { LATTICE_MACHINE_TOKEN: "x" },
      want: /^error: no machine of this fleet has this token$/,
    },
    {
      args: "join --config /run/kubeadm.yaml",
      text: JOIN,
      env: { LATTICE_MACHINE_TOKEN: "x" },
      want: /^error: no machine of this fleet has this token$/,
    },
    {
      args: "join --config /run/kubeadm.yaml",
      text: JOIN,
      env: { LATTICE_MACHINE_TOKEN: "" },
      want: /^error: kubeadm runs on local machines of lattice up only$/,
    },
    {
      args: "join --config /run/kubeadm.yaml",
      text: JOIN,
      env: { LATTICE_FLEET_SOCKET: "/absent" },
      want: /^error: lattice up does not answer at \/absent: /,
    },
  ])("$args is refused with one sentence: $want", async ({ args, text, env, want }) => {
    expect(await runAdm(args, text, env ?? {})).toMatch(want);
  });

  test.each([
    { resource: "nodes", want: /^error: Node m3 was refused: / },
    { resource: "configmaps", want: /^error: ConfigMap kubeadm-config was refused: / },
  ])("an error of the server about $resource is one sentence", async ({ resource, want }) => {
    machine = { ...machine, name: "m3", controlPlane: true };
    const fault = cluster.intercept({ verb: "create", resource }, failWith("forbidden"));
    expect(await runAdm("init --config /run/kubeadm.yaml", INIT)).toMatch(want);
    fault.remove();
  });
});
