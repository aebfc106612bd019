/** Fields that the schema accepts and that Kubernetes, the Gateway API, Istio or Flagger treat differently than intended. */
import { describe, expect, test } from "vitest";
import { compiled, mainContainer, mistakes, type InputOptions } from "../../../test/builders/service-input.ts";

type Row = {
  name: string;
  given: Readonly<Record<string, unknown>>;
  around?: InputOptions;
  warns?: readonly string[];
  refuses?: readonly string[];
};

function check({ given, around = {}, warns = [], refuses = [] }: Row): void {
  expect(mistakes(given, around)).toEqual(refuses);
  if (refuses.length === 0) expect(compiled(given, around).warnings).toEqual(warns);
}

const http = { service: { ports: { http: { port: 80, targetPort: 8080 }, dns: { port: 53, protocol: "UDP" } } } };
const probe = (handler: object, spec: object = http) => mainContainer({ readinessProbe: handler }, { ...spec });
const at = "spec.containers.main.readinessProbe";

describe("a probe on a port that the service does not have", () => {
  const rows: readonly Row[] = [
    { name: "the port of the container is right", given: probe({ httpGet: { port: 8080 } }) },
    { name: "the name of a port is right", given: probe({ tcpSocket: { port: "http" } }) },
    { name: "a service without ports may be probed anywhere", given: probe({ httpGet: { port: 9999 } }, {}) },
    {
      name: "a probe of another host is not checked",
      given: probe({ httpGet: { port: 9999, host: "10.0.0.1" } }),
      around: { grants: { podSecurity: "privileged" } },
    },
    {
      name: "a number that is not a target port gives a warning",
      given: probe({ httpGet: { port: 9999 } }),
      warns: [
        `${at}.httpGet.port: no port of service.ports leads to 9999 of the container; correct it, or add the port; there are http (8080)`,
      ],
    },
    {
      name: "the port of the Service is not that of the container",
      given: probe({ grpc: { port: 80 } }),
      warns: [`${at}.grpc.port: 80 is port http of the Service, and the container listens on its targetPort; write 8080`],
    },
    {
      name: "an unknown port name is refused, since the probe would never succeed",
      given: probe({ httpGet: { port: "htpp" } }),
      refuses: [`${at}.httpGet.port: service.ports has no port "htpp"; did you mean "http"?; there are dns, http`],
    },
    {
      name: "a name without any ports",
      given: probe({ tcpSocket: { port: "http" } }, {}),
      refuses: [`${at}.tcpSocket.port: service.ports has no port "http"; it has none at all: add the port, or write the number`],
    },
    {
      name: "a port that is not TCP",
      given: probe({ tcpSocket: { port: "dns" } }),
      warns: [`${at}.tcpSocket.port: port dns is UDP, and a probe connects over TCP; probe another port, or use exec`],
    },
    {
      name: "a sidecar has ports of its own, and no names",
      given: {
        ...http,
        containers: {
          main: { image: "a:1" },
          side: { image: "b:1", livenessProbe: { httpGet: { port: 15_021 } }, readinessProbe: { httpGet: { port: "admin" } } },
        },
      },
      refuses: ['spec.containers.side.readinessProbe.httpGet.port: service.ports has no port "admin"; there are dns, http'],
    },
  ];
  test.each(rows)("$name", check);
});

const routed = (ports: object, params: object = {}) =>
  mainContainer({}, { service: { ports }, resources: { web: { type: "route", params: { host: "a.example.com", ...params } } } });
const granted: InputOptions = { settings: { ingressDomain: "example.com" } };
const refused = (message: string) => [`spec.resources.web: resource 'web' provisioner error: ${message}`];

describe("the port that a route publishes", () => {
  const [admin, web, metrics] = [{ port: 9000 }, { port: 8080 }, { port: 9090 }];
  const rows: readonly Row[] = [
    { name: "the only one", given: routed({ web }) },
    { name: "the one called http", given: routed({ admin, http: web }) },
    { name: "the one that it names", given: routed({ admin, web }, { port: "admin" }) },
    {
      name: "never the first of several",
      given: routed({ admin, web }),
      refuses: refused("params.port: is required: service.ports has admin, web, none is called http, so the port to publish must be named"),
    },
    {
      name: "one for metrics only when it is named",
      given: routed({ metrics }),
      warns: [
        "spec.resources.web: publishes port metrics, the only one of the service; if it is the intended one, set params.port: metrics, else add the intended port",
      ],
    },
    { name: "one for metrics that is named", given: routed({ metrics }, { port: 9090 }) },
  ];
  test.each(rows)("$name", (row) => check({ ...row, around: granted }));
});

describe("a ReadWriteOnce claim with several pods", () => {
  const volume = (params: object = {}) => ({ data: { type: "volume", params: { size: "1Gi", ...params } } });
  const mounted = (spec: object, params: object = {}) =>
    mainContainer({ volumes: { "/data": { source: "${resources.data.ref}" } } }, { resources: volume(params), ...spec });
  const text = (pods: string, mode = "ReadWriteOnce") =>
    `spec.resources.data: a claim with access mode ${mode} is mounted on one node at a time, and ${pods}: pods on other nodes do not start, and an update waits for them; set params.accessModes: [ReadWriteMany], or run one pod`;
  const rows: readonly Row[] = [
    { name: "one pod gives no warning", given: mounted({}) },
    { name: "a ReadWriteMany claim gives no warning", given: mounted({ replicas: { min: 3 } }, { accessModes: ["ReadWriteMany"] }) },
    {
      name: "a claim that no container mounts gives no warning",
      given: mainContainer({}, { resources: volume(), replicas: { min: 3 } }),
    },
    { name: "several pods", given: mounted({ replicas: { min: 3 } }), warns: [text("there are 3 pods (spec.replicas.min)")] },
    {
      name: "an autoscaler",
      given: mainContainer(
        { volumes: { "/data": { source: "data" } }, resources: { requests: { cpu: "1" } } },
        { resources: volume({ accessModes: ["ReadWriteOncePod"] }), replicas: { min: 1, max: 4 } },
      ),
      warns: [text("there are up to 4 pods (spec.replicas.max)", "ReadWriteOncePod")],
    },
    {
      name: "the defaults of the environment",
      given: mounted({}),
      around: { environment: { defaults: { replicas: { min: 2 } } } },
      warns: [text("there are 2 pods (spec.replicas.min)")],
    },
    {
      name: "a canary, which runs in parallel to the primary",
      given: mounted({ deploy: { strategy: "canary", canary: { metrics: [] } } }),
      warns: [text("a canary runs beside the primary (spec.deploy.strategy)")],
    },
  ];
  test.each(rows)("$name", check);
});

describe("paths that are resolved before they are used", () => {
  const paths = (...list: readonly string[]) =>
    mainContainer({}, { resources: { web: { direction: "inbound", params: { paths: list } } } });
  const routePath = 'it must begin with "/", and have no "?", "#", space, "//", "." or ".." in it';
  const rows: readonly Row[] = [
    ...["/a/../b", "/a/..", "/./a", "/a/%2e%2E/b", "/a//b", "/a%2Fb", "/a#b"].map((path): Row => ({
      name: `the route ${path}`,
      given: routed({ http: { port: 80 } }, { path }),
      around: granted,
      refuses: refused(`params.path is ${JSON.stringify(path)}; ${routePath}`),
    })),
    ...(
      [
        ["/a/../b", "/b"],
        ["/a/./b/*", "/a/b/*"],
        ["/a/%2e%2e/b", "/b"],
        ["/a\\b", "/a/b"],
      ] as const
    ).map(([path, instead]): Row => ({
      name: `the inbound path ${path}`,
      given: paths(path),
      refuses: refused(
        `params.paths[0]: ${JSON.stringify(path)} matches no request: the mesh resolves ".", ".." and "\\\\" in requests first; write ${instead}`,
      ),
    })),
    {
      name: "the inbound path /a//b",
      given: paths("/ok", "/a//b"),
      warns: [`spec.resources.web: params.paths[1]: "/a//b" matches only requests with two slashes; write /a/b if one is meant`],
    },
    {
      name: "a probe",
      given: probe({ httpGet: { port: 8080, path: "/a/../health//x" } }),
      warns: [`${at}.httpGet.path: "/a/../health//x" is requested as written, and servers redirect it or answer 404; write /health/x`],
    },
    {
      name: "a file and a volume",
      given: mainContainer({
        files: { "/etc/./a": { content: "x" }, "/etc/b": { content: "y" } },
        volumes: { "/data//x": { source: "emptydir" } },
      }),
      warns: [
        'spec.containers.main.files["/etc/./a"]: is mounted at /etc/a; write that',
        'spec.containers.main.volumes["/data//x"]: is mounted at /data/x; write that',
      ],
    },
    {
      name: "two paths that resolve to the same path, and the root",
      given: mainContainer({
        files: { "/etc/a": { content: "x" }, "/etc/x/../a": { content: "y" } },
        volumes: { "/a/..": { source: "emptydir" } },
      }),
      refuses: [
        'spec.containers.main.files["/etc/x/../a"]: is mounted at /etc/a, as files["/etc/a"] is; remove one of the two',
        'spec.containers.main.volumes["/a/.."]: is mounted at /, which would hide the image; choose a folder below it',
      ],
    },
  ];
  test.each(rows)("$name", check);
});
