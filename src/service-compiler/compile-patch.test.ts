/** The patch of a Deployment that a service in patch mode compiles to. */
import { describe, expect, test } from "vitest";
import { compileService, ignoredFields } from "./index.ts";
import { mistakes, serviceInput, serviceOf, type InputOptions } from "../../test/builders/service-input.ts";

const workloadRef = { name: "nginx", namespace: "prod" };
const around: InputOptions = { secrets: { "s/k": "hunter2" }, bindings: { b: { bindings: { s: { secretRef: { name: "s" } } } } } };

function patchOf(spec: object) {
  const result = compileService(serviceInput({ workloadRef, ...spec }, around));
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

describe("a patch", () => {
  test("of a service that declares nothing changes nothing", () => {
    expect(patchOf({}).patch).toEqual({
      patch: { metadata: {}, spec: { template: { metadata: {}, spec: {} } } },
      envFrom: {},
      variables: {},
    });
  });

  test("refers to variables, in the ConfigMap or the Secret that has the value", () => {
    const { patch, objects } = patchOf({ containers: { main: { variables: { A: "b", KEY: "${secrets.s.k}" } } } });
    expect(patch?.envFrom).toEqual({ main: [{ configMapRef: { name: "api-env" } }, { secretRef: { name: "api-secrets" } }] });
    expect(patch?.variables).toEqual({
      main: {
        A: { configMapKeyRef: { name: "api-env", key: "A" } },
        KEY: { secretKeyRef: { name: "api-secrets", key: "KEY" } },
      },
    });
    expect(objects.map(({ object }) => object.kind)).toEqual(["ConfigMap", "Secret"]);
    expect(JSON.stringify(patch)).toContain("lattice.dev/config-hash");
    expect(JSON.stringify(patch)).not.toContain("hunter2");
  });

  test("has the declared fields of a container and no defaults; a probe removes the other handlers", () => {
    const readinessProbe = { tcpSocket: { port: 80 } };
    const livenessProbe = { periodSeconds: 5 };
    const main = { image: "a:2", args: ["x"], resources: { limits: { cpu: "1" } }, readinessProbe, livenessProbe };
    expect(patchOf({ containers: { main } }).patch?.patch).toMatchObject({
      spec: {
        template: {
          spec: {
            containers: [
              { name: "main", ...main, readinessProbe: { exec: null, grpc: null, httpGet: null, ...readinessProbe }, livenessProbe },
            ],
          },
        },
      },
    });
  });

  test("names volumes so that none of the owner has the name", () => {
    const { patch } = patchOf({
      containers: { main: { files: { "/etc/a": { content: "x" } }, volumes: { "/data": { source: "emptydir" } } } },
    });
    const pod = JSON.stringify(patch?.patch);
    for (const name of ["lattice-files", "lattice-data"]) expect(pod.split(`"${name}"`)).toHaveLength(3);
  });

  test("annotations go to the Deployment and its pods", () => {
    const annotations = { "example.com/team": "a" };
    expect(patchOf({ annotations }).patch?.patch).toEqual({
      metadata: { annotations },
      spec: { template: { metadata: { annotations }, spec: {} } },
    });
  });
});

describe("what a patch may not do", () => {
  const rows = [
    {
      name: "a privileged container",
      given: { securityContext: { privileged: true } },
      want: "spec.containers.main.securityContext.privileged: must not be true",
    },
    { name: "root", given: { securityContext: { runAsUser: 0 } }, want: "spec.containers.main.securityContext.runAsUser: must not be 0" },
  ];
  test.each(rows)("$name is beyond the pod security level", ({ given, want }) => {
    expect(mistakes({ workloadRef, containers: { main: given } }, around)).toEqual([expect.stringContaining(want)]);
  });

  test("a patch that does not fit into a ConfigMap is refused", () => {
    const args = Array.from({ length: 100 }, () => "x".repeat(10_000));
    expect(mistakes({ workloadRef, containers: { main: { args } } }, around)).toEqual([
      expect.stringContaining("spec.containers: the patch would have 10"),
    ]);
  });
});

test("replicas, deploy and before have no effect, each with a warning", () => {
  const spec = { workloadRef, replicas: { min: 2 }, deploy: { strategy: "rolling" }, containers: { a: { before: ["b"] }, b: {} } };
  const fields = ["spec.replicas", "spec.deploy", "spec.containers.a.before"];
  expect(ignoredFields(serviceOf(spec).spec)).toEqual(fields);
  expect(patchOf(spec).warnings.map(({ place }) => place)).toEqual(fields);
});
