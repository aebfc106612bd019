/** Flagger's Canary. */
import { describe, expect, test } from "vitest";
import { compileService } from "../compile-service.ts";
import { compiled, mainContainer, mistakes, serviceInput } from "../../../test/builders/service-input.ts";

const http = { ports: { http: { port: 8080 } } };
const canary = (given: Readonly<Record<string, unknown>> = {}, deploy: Readonly<Record<string, unknown>> = {}) =>
  mainContainer({ resources: { requests: { cpu: "1" } } }, { service: http, deploy: { strategy: "canary", ...deploy }, ...given });

const METRICS = [
  { name: "request-success-rate", thresholdRange: { min: 99 }, interval: "1m" },
  { name: "request-duration", thresholdRange: { max: 500 }, interval: "1m" },
];

describe("a canary", () => {
  test("Canary strategy generates Flagger Canary", () => {
    expect(compiled(canary()).find("Canary")).toEqual({
      apiVersion: "flagger.app/v1beta1",
      kind: "Canary",
      metadata: { name: "api", namespace: "prod", labels: { "app.kubernetes.io/name": "api", "app.kubernetes.io/managed-by": "lattice" } },
      spec: {
        provider: "gatewayapi:v1",
        targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "api" },
        revertOnDeletion: true,
        service: { port: 8080, portName: "http", gatewayRefs: [{ group: "", kind: "Service", name: "api", port: 8080 }] },
        analysis: { interval: "1m", threshold: 5, maxWeight: 50, stepWeight: 10, metrics: METRICS },
      },
    });
  });

  test("Rolling strategy does not generate Canary", () => {
    expect(compiled(mainContainer({}, { deploy: { strategy: "rolling" } })).find("Canary")).toBeUndefined();
    expect(compiled(mainContainer({})).find("Canary")).toBeUndefined();
  });

  const ports: readonly { name: string; given: Readonly<Record<string, unknown>>; want: unknown }[] = [
    {
      name: "Service port propagates to Canary",
      given: { http: { port: 80, targetPort: 8080 } },
      want: { port: 80, targetPort: 8080, portName: "http" },
    },
    {
      name: "http goes before others",
      given: { admin: { port: 9000 }, http: { port: 80 } },
      want: { port: 80, portName: "http", portDiscovery: true },
    },
    {
      name: "else the first by name",
      given: { grpc: { port: 1 }, admin: { port: 2 } },
      want: { port: 2, portName: "admin", portDiscovery: true },
    },
    {
      name: "a UDP port is never the one",
      given: { dns: { port: 53, protocol: "UDP" }, web: { port: 80 } },
      want: { port: 80, portName: "web", portDiscovery: true },
    },
    { name: "80 where there is none", given: {}, want: { port: 80 } },
  ];
  test.each(ports)("$name", ({ given, want }) => {
    const spec = compiled(canary({ service: { ports: given } })).find("Canary") as unknown as { spec: { service: { port: number } } };
    const { port } = spec.spec.service;
    expect(spec.spec.service).toEqual({ ...(want as object), gatewayRefs: [{ group: "", kind: "Service", name: "api", port }] });
  });

  test("Canary config values override defaults", () => {
    const metrics = [
      { name: "errors", interval: "30s", thresholdRange: { max: 1 }, templateRef: { name: "errors", namespace: "flagger" } },
    ];
    const given = { interval: "30s", threshold: 2, maxWeight: 80, stepWeight: 20, metrics };
    const grants = { crossNamespace: ["flagger"] };
    expect(compiled(canary({}, { canary: given }), { grants }).find("Canary")).toMatchObject({ spec: { analysis: given } });
  });

  test("a canary cannot measure with another namespace's MetricTemplate", () => {
    const metrics = [{ name: "errors", templateRef: { name: "errors", namespace: "flagger" } }];
    expect(mistakes(canary({}, { canary: { metrics } }))).toEqual([
      "spec.deploy.canary.metrics[0].templateRef.namespace: names namespace flagger, and this service runs in prod\n" +
        "add flagger to spec.crossNamespace of a LatticeEnvironment, and name it in spec.environment of the service",
    ]);
  });

  test("Default metrics included", () => {
    expect(compiled(canary({}, { canary: { stepWeight: 5 } })).find("Canary")).toMatchObject({
      spec: { analysis: { stepWeight: 5, metrics: METRICS } },
    });
  });

  test("with an autoscaler the Canary names it", () => {
    expect(compiled(canary({ replicas: { min: 2, max: 4 } })).find("Canary")).toMatchObject({
      spec: { autoscalerRef: { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", name: "api" } },
    });
  });
});

describe("fields that Flagger rewrites are written only on creation", () => {
  const made = (spec: Readonly<Record<string, unknown>>) => {
    const result = compileService(serviceInput(spec));
    return result.ok ? result.value.objects : [];
  };
  const of = (kind: string, spec: Readonly<Record<string, unknown>>) => made(spec).find(({ object }) => object.kind === kind);

  test("the Service's selector and ports", () => {
    const service = of("Service", canary());
    expect(service?.once).toEqual({
      spec: { selector: { "app.kubernetes.io/name": "api" }, ports: [{ name: "http", port: 8080, targetPort: 8080 }] },
    });
    expect(service?.object).not.toHaveProperty("spec.selector");
    expect(service?.object).not.toHaveProperty("spec.ports");
  });

  test("the Deployment's replicas", () => {
    const deployment = of("Deployment", canary({ replicas: { min: 3 } }));
    expect(deployment?.once).toEqual({ spec: { replicas: 3 } });
    expect(deployment?.object).not.toHaveProperty("spec.replicas");
  });

  test("without a canary Lattice owns both", () => {
    const spec = mainContainer({}, { service: http, replicas: { min: 3 } });
    expect([of("Service", spec)?.once, of("Deployment", spec)?.once]).toEqual([undefined, undefined]);
    expect(of("Deployment", spec)?.object).toMatchObject({ spec: { replicas: 3 } });
  });
});

test("ports that Flagger would change give a warning", () => {
  const ports = {
    http: { port: 80, targetPort: 8080 },
    admin: { port: 9000, targetPort: 9001 },
    peer: { port: 7000 },
    dns: { port: 53, protocol: "UDP" },
    metrics: { port: 9100 },
  };
  expect(compiled(canary({ service: { ports } })).warnings).toEqual([
    "spec.service.ports.admin: under a canary Flagger offers it as 9001, not 9000; make port and targetPort the same",
    "spec.service.ports.dns: is UDP: under a canary Flagger makes it TCP",
  ]);
});

describe("metrics that cannot be scraped cause a warning", () => {
  const warned = (metrics?: readonly object[], ports: object = http.ports) =>
    compiled(canary({ service: { ports } }, metrics === undefined ? {} : { canary: { metrics } })).warnings.filter((text) =>
      text.includes("metrics"),
    );
  const warning = (names: string) =>
    `spec.deploy.canary.metrics: Flagger reads ${names} from http_request_duration_seconds of the application itself; offer it on a port called metrics, or name a templateRef`;

  test("default metrics without a port named metrics", () => expect(warned()).toEqual([warning("request-success-rate, request-duration")]));
  test("a default metric among others", () =>
    expect(warned([{ name: "errors", templateRef: { name: "errors" } }, { name: "request-duration" }])).toEqual([
      warning("request-duration"),
    ]));
  test("not with a port named metrics", () => expect(warned(undefined, { ...http.ports, metrics: { port: 9100 } })).toEqual([]));
  test("not for metrics with a templateRef", () =>
    expect(warned([{ name: "request-duration", templateRef: { name: "mine" } }])).toEqual([]));
  test("not without metrics", () => expect(warned([])).toEqual([]));
});
