/** The pod: its containers, their order, and what they may do. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "#kube";
import { compiled, mainContainer } from "../../../test/builders/service-input.ts";

const RESTRICTED = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  capabilities: { drop: ["ALL"] },
  seccompProfile: { type: "RuntimeDefault" },
};

test("a container with the defaults of the restricted standard", () => {
  const given = {
    command: ["/app"],
    args: ["--verbose"],
    resources: { requests: { cpu: "100m" }, limits: { memory: "1Gi" } },
    livenessProbe: { exec: { command: ["true"] } },
    startupProbe: { grpc: { port: 9000 } },
  };
  const { pod } = compiled(
    mainContainer(given, { service: { ports: { http: { port: 80, targetPort: 8080 }, dns: { port: 53, protocol: "UDP" } } } }),
  );
  expect(pod()).toEqual({
    serviceAccountName: "api",
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    containers: [
      {
        name: "main",
        image: "myapp:v1.0",
        ...given,
        ports: [
          { name: "dns", containerPort: 53, protocol: "UDP" },
          { name: "http", containerPort: 8080 },
        ],
        securityContext: RESTRICTED,
      },
    ],
  });
});

describe("ports", () => {
  test("of a service with the same target port are listed once", () => {
    const ports = {
      web: { port: 80, targetPort: 8080 },
      alt: { port: 81, targetPort: 8080 },
      udp: { port: 82, targetPort: 8080, protocol: "UDP" },
    };
    const { main, find } = compiled(mainContainer({}, { service: { ports } }));
    expect(main("ports")).toEqual([
      { name: "alt", containerPort: 8080 },
      { name: "udp", containerPort: 8080, protocol: "UDP" },
    ]);
    expect(find("Service")).toMatchObject({
      spec: {
        ports: [
          { name: "alt", port: 81 },
          { name: "udp", port: 82 },
          { name: "web", port: 80 },
        ],
      },
    });
  });

  test("belong to main, else to the first container that is not an init container", () => {
    const ports = { http: { port: 80 } };
    const has = (names: readonly string[]) => {
      const { pod } = compiled({ containers: Object.fromEntries(names.map((name) => [name, { image: "i:1" }])), service: { ports } });
      return (pod("containers") as readonly JsonObject[]).filter((container) => container["ports"] !== undefined).map(({ name }) => name);
    };
    expect([has(["aaa", "main"]), has(["web", "side"])]).toEqual([["main"], ["side"]]);
  });

  test("that a probe names become numbers", () => {
    const ports = { http: { port: 80, targetPort: 8080 }, raw: { port: 90 } };
    const containers = {
      main: { image: "i:1", readinessProbe: { httpGet: { path: "/ok", port: "http" } }, livenessProbe: { tcpSocket: { port: "raw" } } },
      side: { image: "i:1", readinessProbe: { tcpSocket: { port: "raw" }, periodSeconds: 3 } },
    };
    const { pod } = compiled({ containers, service: { ports } });
    expect(pod("containers")).toMatchObject([
      { readinessProbe: { httpGet: { path: "/ok", port: 8080 } }, livenessProbe: { tcpSocket: { port: 90 } } },
      { readinessProbe: { tcpSocket: { port: 90 }, periodSeconds: 3 } },
    ]);
  });
});

describe("securityContext", () => {
  const rows: readonly { name: string; given: JsonObject; want: JsonObject }[] = [
    {
      name: "what it says, counts",
      given: { runAsUser: 10, readOnlyRootFilesystem: true },
      want: { ...RESTRICTED, runAsUser: 10, readOnlyRootFilesystem: true },
    },
    {
      name: "capabilities are added to none",
      given: { capabilities: { add: ["NET_BIND_SERVICE"] } },
      want: { ...RESTRICTED, capabilities: { drop: ["ALL"], add: ["NET_BIND_SERVICE"] } },
    },
    {
      name: "root is root when it is asked for",
      given: { runAsUser: 0 },
      want: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] }, seccompProfile: { type: "RuntimeDefault" }, runAsUser: 0 },
    },
    {
      name: "privileged is privileged",
      given: { privileged: true },
      want: { runAsNonRoot: true, seccompProfile: { type: "Unconfined" }, privileged: true },
    },
    ...["SYS_ADMIN", "CAP_SYS_ADMIN"].map((name) => ({
      name: `${name} may gain rights, or the API refuses it`,
      given: { capabilities: { add: [name] } },
      want: { runAsNonRoot: true, capabilities: { drop: ["ALL"], add: [name] }, seccompProfile: { type: "RuntimeDefault" } },
    })),
  ];
  test.each(rows)("$name", ({ given, want }) =>
    expect(compiled(mainContainer({ securityContext: given }), { grants: { podSecurity: "privileged" } }).main("securityContext")).toEqual(
      want,
    ),
  );
});

describe("containers that start before others", () => {
  const order = (containers: Readonly<Record<string, unknown>>) => {
    const { pod } = compiled({ containers });
    const names = (list: unknown) =>
      ((list ?? []) as readonly { name: string; restartPolicy?: string }[]).map(({ name, restartPolicy }) =>
        restartPolicy === undefined ? name : `${name}*`,
      );
    return [names(pod("initContainers")), names(pod("containers"))];
  };
  const image = "i:1";
  const rows: readonly { name: string; given: Readonly<Record<string, unknown>>; want: unknown }[] = [
    { name: "none: side by side, by name", given: { b: { image }, a: { image } }, want: [[], ["a", "b"]] },
    {
      name: "one that ends is an init container",
      given: { main: { image }, setup: { image, before: ["main"] } },
      want: [["setup"], ["main"]],
    },
    {
      name: "one with a probe stays, as a sidecar",
      given: { main: { image }, proxy: { image, before: ["main"], startupProbe: { tcpSocket: { port: 1 } } } },
      want: [["proxy*"], ["main"]],
    },
    {
      name: "chains are in their order, whatever their names",
      given: { main: { image }, a: { image, before: ["main"] }, b: { image, before: ["a"] }, c: { image, before: ["b", "main"] } },
      want: [["c", "b", "a"], ["main"]],
    },
    {
      name: "a diamond is fine",
      given: { main: { image }, l: { image, before: ["main"] }, r: { image, before: ["main"] }, top: { image, before: ["l", "r"] } },
      want: [["top", "l", "r"], ["main"]],
    },
  ];
  test.each(rows)("$name", ({ given, want }) => expect(order(given)).toEqual(want));
});
