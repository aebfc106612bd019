import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expectOk } from "#base";
import type { Json, KubeObject, Pod } from "#kube";
import { operatorDeployment } from "#operator";
import { podCommand } from "./pod-command.ts";

const VOLUMES = "/fleet/pods/u-1/volumes";

type Given = { readonly container?: Record<string, Json>; readonly spec?: Record<string, Json>; readonly objects?: readonly KubeObject[] };

function commandOf({ container = {}, spec = {}, objects = [] }: Given) {
  const template = operatorDeployment({ version: "1" }).spec.template.spec;
  const containers = template.containers.map((one) => ({ ...one, ...container }));
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "lattice-operator-1", namespace: "lattice-system", uid: "u-1", labels: { a: "b" } },
    spec: { ...template, nodeName: "node-1", containers, ...spec },
  } as unknown as Pod;
  const find = (kind: string, name: string) => objects.find((object) => object.kind === kind && object.metadata.name === name);
  return podCommand(pod, { volumesFolder: VOLUMES, sources: { find } });
}

const withData = (kind: string, name: string, data: Record<string, string>): KubeObject => {
  const object = { apiVersion: "v1", kind, metadata: { name }, data };
  return object;
};
const SECRET = withData("Secret", "s", { key: btoa("hidden"), broken: "/w==" });
const CONFIG = withData("ConfigMap", "c", { level: "debug" });

describe("the process of the operator's own Deployment", () => {
  it("has its arguments, with paths in the folder of the Pod", () => {
    expect(expectOk(commandOf({}))).toEqual({
      container: "operator",
      args: [
        "operator",
        "--identity-file",
        `${VOLUMES}/state/identity`,
        "--health-address",
        "127.0.0.1:0",
        "--webhook-address",
        "127.0.0.1:0",
      ],
      env: { POD_NAME: "lattice-operator-1", POD_NAMESPACE: "lattice-system" },
      leftOut: [],
      volumes: ["state"],
    });
  });
});

describe("arguments", () => {
  const args = (...more: string[]) => ({ container: { args: ["operator", ...more], env: [{ name: "LEVEL", value: "debug" }] } });

  it.each([
    {
      name: "variables are replaced",
      given: args("--log-level=$(LEVEL)", "$(OTHER)", "$$(LEVEL)"),
      want: ["--log-level=debug", "$(OTHER)", "$(LEVEL)"],
    },
    {
      name: "a path after = is placed too",
      given: args("--identity-file=/var/lib/lattice/a/../b"),
      want: [`--identity-file=${VOLUMES}/state/b`],
    },
    { name: "the mount itself", given: args("/var/lib/lattice"), want: [`${VOLUMES}/state`] },
  ])("$name", ({ given, want }) => {
    expect(expectOk(commandOf(given)).args.slice(1, -2)).toEqual(want);
  });

  it.each([
    { name: "another command", given: { container: { args: ["up"] } }, want: "args[0]: must be operator" },
    { name: "no command", given: { container: { args: [] } }, want: "args[0]: must be operator" },
    { name: "another program", given: { container: { command: ["sh", "-c"] } }, want: "command: the program is always lattice" },
    { name: "a file of the machine", given: args("--identity-file", "/etc/passwd"), want: "args[2]: /etc/passwd is not below a mount" },
    { name: "a path that leaves its mount", given: args("/var/lib/lattice/../../../etc/x"), want: "is not below a mount" },
    { name: "a relative path that leaves the folder", given: args("--x=../../y"), want: "is not below a mount" },
    { name: "a neighbour of a mount", given: args("/var/lib/lattice-other"), want: "is not below a mount" },
    { name: "another kubeconfig", given: args("--kubeconfig=/var/lib/lattice/k"), want: "args[1]: --kubeconfig: the operator gets" },
    { name: "too many", given: args(...Array.from({ length: 300 }, () => "a")), want: "args: there are 301; the limit is 200" },
    { name: "two containers", given: { spec: { containers: [{ name: "a" }, { name: "b" }] } }, want: "has one container" },
    { name: "init containers", given: { spec: { initContainers: [{ name: "a" }] } }, want: "initContainers are not supported" },
  ])("$name is refused", ({ given, want }) => {
    expect(commandOf(given)).toMatchObject({ ok: false, error: expect.stringContaining(want) as string });
  });

  it("never leave the folder of the volumes", () => {
    const segment = fc.constantFrom("..", ".", "", "a", "var", "lib", "lattice");
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 12 }), fc.constantFrom("/var/lib/lattice/", "/", ""), (segments, start) => {
        const command = commandOf(args(`${start}${segments.join("/")}`));
        const placed = command.ok ? (command.value.args[1] ?? "") : "";
        if (placed.startsWith("/")) expect(`${placed}/`.startsWith(`${VOLUMES}/state/`)).toBe(true);
        else expect(placed.split("/")).not.toContain("..");
      }),
    );
  });
});

describe("variables", () => {
  const env = (...entries: Json[]) => ({ container: { env: entries }, objects: [SECRET, CONFIG] });
  const from = (source: Json) => ({ name: "LATTICE_X", valueFrom: source });

  it.each([
    {
      name: "a value with a reference",
      given: [
        { name: "POD_A", value: "1" },
        { name: "LATTICE_X", value: "$(POD_A)2" },
      ],
      want: "12",
    },
    { name: "a label", given: [from({ fieldRef: { fieldPath: "metadata.labels['a']" } })], want: "b" },
    { name: "the node", given: [from({ fieldRef: { fieldPath: "spec.nodeName" } })], want: "node-1" },
    { name: "a key of a ConfigMap", given: [from({ configMapKeyRef: { name: "c", key: "level" } })], want: "debug" },
    { name: "a key of a Secret", given: [from({ secretKeyRef: { name: "s", key: "key" } })], want: "hidden" },
    {
      name: "an optional key that does not exist",
      given: [from({ secretKeyRef: { name: "s", key: "no", optional: true } })],
      want: undefined,
    },
  ])("$name", ({ given, want }) => {
    expect(expectOk(commandOf(env(...given))).env["LATTICE_X"]).toBe(want);
  });

  it("that would change what runs are left out, and named", () => {
    const names = ["NODE_OPTIONS", "PATH", "LD_PRELOAD", "HOME", "KUBECONFIG", "LATTICE_CACHE", "NODE_EXTRA_CA_CERTS"];
    const { env: passed, leftOut } = expectOk(commandOf(env(...[...names, "OTEL_SERVICE_NAME"].map((name) => ({ name, value: "x" })))));
    expect([passed, leftOut]).toEqual([{ OTEL_SERVICE_NAME: "x" }, names]);
  });

  it.each([
    {
      name: "a missing ConfigMap",
      given: from({ configMapKeyRef: { name: "no", key: "a" } }),
      want: "env[0] (LATTICE_X): ConfigMap no does not exist",
    },
    { name: "a missing key", given: from({ configMapKeyRef: { name: "c", key: "a" } }), want: "ConfigMap c has no key a" },
    { name: "an inherited key", given: from({ configMapKeyRef: { name: "c", key: "constructor" } }), want: "has no key constructor" },
    {
      name: "a Secret that is not text",
      given: from({ secretKeyRef: { name: "s", key: "broken" } }),
      want: "key broken of Secret s is no UTF-8 text",
    },
    { name: "an unknown field", given: from({ fieldRef: { fieldPath: "status.podIP" } }), want: "fieldRef status.podIP is not supported" },
    { name: "a resource field", given: from({ resourceFieldRef: { resource: "limits.cpu" } }), want: "is not supported" },
  ])("$name is refused", ({ given, want }) => {
    expect(commandOf(env(given))).toMatchObject({ ok: false, error: expect.stringContaining(want) as string });
  });

  it("of a Secret are refused in arguments, also through another variable", () => {
    const secret = [from({ secretKeyRef: { name: "s", key: "key" } }), { name: "POD_B", value: "a $(LATTICE_X)" }];
    for (const name of ["LATTICE_X", "POD_B"]) {
      const command = commandOf({ container: { env: secret, args: ["operator", `--domain=$(${name})`] }, objects: [SECRET] });
      expect(command).toMatchObject({ ok: false, error: expect.stringContaining(`$(${name}) is the value of a Secret`) as string });
      expect(JSON.stringify(command)).not.toContain("hidden");
    }
  });

  it("that double each other are refused before they are large", () => {
    const entries = Array.from({ length: 60 }, (_, index) => ({
      name: `POD_${index + 1}`,
      value: index === 0 ? "ab" : `$(POD_${index})$(POD_${index})`,
    }));
    expect(commandOf(env(...entries))).toMatchObject({
      ok: false,
      error: expect.stringContaining("is longer than 131072 characters") as string,
    });
  });

  it("of envFrom are refused", () => {
    expect(commandOf({ container: { envFrom: [{ configMapRef: { name: "c" } }] } })).toMatchObject({ ok: false });
  });
});
