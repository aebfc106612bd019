/** Errors of a resource: reported once, with how to fix them. */
import { describe, expect, test } from "vitest";
import { scopeOf } from "../templates/index.ts";
import { registryWith } from "./registry.ts";
import { resolveResources } from "./resolve.ts";
import { entry, resolved, surroundings } from "./resources.test-support.ts";

describe("mistakes of a resource", () => {
  const other = (message: string) => [{ kind: "provisioner", name: "x", message }];
  const rows: readonly { name: string; given: Parameters<typeof entry>[1]; read?: string; want: readonly object[] }[] = [
    {
      name: "an unknown type",
      given: { type: "postgress" },
      want: [
        {
          kind: "unsupported-resource-type",
          name: "x",
          type: "postgress",
          known: [
            "service",
            "external-service",
            "service-port",
            "postgres",
            "mysql",
            "mongodb",
            "redis",
            "amqp",
            "s3",
            "route",
            "dns",
            "volume",
            "environment",
          ],
        },
      ],
    },
    {
      name: "a callee that is not there, when its address is read",
      given: {},
      read: "url",
      want: [{ kind: "resource-not-found", name: "x", type: "service", id: "prod/x" }],
    },
    { name: "a missing callee is no error while no template reads it", given: {}, want: [] },
    {
      name: "an external service that is not there",
      given: { type: "external-service" },
      read: "url",
      want: [{ kind: "resource-not-found", name: "x", type: "external-service", id: "prod/x" }],
    },
    { name: "an inbound peer is never looked up", given: { type: "whatever", direction: "inbound" }, want: [] },
    {
      name: "a password that is not there, when it is read",
      given: { type: "postgres" },
      read: "password",
      want: other("there is no secret 'postgres/x/password'"),
    },
    { name: "a password that no template reads", given: { type: "postgres" }, want: [] },
    {
      name: "a connection that needs it",
      given: { type: "postgres" },
      read: "connection_string",
      want: other("there is no secret 'postgres/x/password'"),
    },
    {
      name: "a redis connection that needs it",
      given: { type: "redis", params: { auth: "true" } },
      read: "url_with_auth",
      want: other("there is no secret 'redis/x/password'"),
    },
    {
      name: "a port that is none",
      given: { type: "postgres", params: { port: "70000" } },
      want: other('params.port is "70000"; it must be a port from 1 to 65535'),
    },
    {
      name: "a sensitive port",
      given: { type: "redis", params: { port: "${secrets.a.b}" } },
      want: other("params.port is sensitive, and would be readable without access to Secrets"),
    },
    {
      name: "a flag that is none",
      given: { type: "redis", params: { auth: "maybe" } },
      want: other('params.auth is "maybe"; it must be true or false'),
    },
    {
      name: "a text that is a list",
      given: { type: "postgres", params: { database: ["a"] } },
      want: other("params.database must be a text"),
    },
    {
      name: "a route's host that is none",
      given: { type: "route", params: { host: "A B" } },
      want: other('params.host is "A B"; it must be a host name in lower case'),
    },
    {
      name: "a route's path that is none",
      given: { type: "route", params: { path: "x?" } },
      want: other('params.path is "x?"; it must begin with "/", and have no "?", "#", space, "//", "." or ".." in it'),
    },
    {
      name: "an unknown class of volume",
      given: { type: "volume", class: "pvcs" },
      want: other('class "pvcs" is unknown; did you mean "pvc"?; there are pvc, configmap, secret, emptydir'),
    },
    ...["/a//b", "/a/../b", "/a/.", "/a%2fb", "/é", "a", "/a#b", `/${"a".repeat(1_024)}`].map((path) => ({
      name: `a route's path that the Gateway API refuses: ${path.slice(0, 8)}`,
      given: { type: "route", params: { path } },
      want: other(`params.path is ${JSON.stringify(path)}; it must begin with "/", and have no "?", "#", space, "//", "." or ".." in it`),
    })),
    {
      name: "a volume in another namespace",
      given: { type: "volume", id: "elsewhere/data" },
      want: other("id names namespace elsewhere; pods can only mount what is in their own, prod"),
    },
    {
      name: "a size that is none",
      given: { type: "volume", params: { size: "big" } },
      want: other('params.size is "big"; it must be a quantity, such as 10Gi'),
    },
    {
      name: "a size where none belongs",
      given: { type: "volume", class: "secret", params: { size: "1Gi" } },
      want: other("params.size is only for class pvc, and this is secret"),
    },
    {
      name: "an access mode that is none",
      given: { type: "volume", params: { size: "1Gi", accessModes: ["ReadWriteOne"] } },
      want: other(
        'params.accessModes has "ReadWriteOne"; did you mean "ReadWriteOnce"?; there are ReadWriteOnce, ReadOnlyMany, ReadWriteMany, ReadWriteOncePod',
      ),
    },
    {
      name: "access modes that are no texts",
      given: { type: "volume", params: { size: "1Gi", accessModes: [{}] } },
      want: other("params.accessModes must be a list of texts"),
    },
    {
      name: "a broken template in a param",
      given: { type: "postgres", params: { database: "${config.x}" } },
      want: other("params.database: ${config.x}: config has no 'x'"),
    },
    {
      name: "a broken template deep in a param",
      given: { params: { paths: ["${config.x}"] } },
      want: other("params.paths[0]: ${config.x}: config has no 'x'"),
    },
    {
      name: "a secret deep in a param",
      given: { params: { deep: { er: "${secrets.a.b}" } } },
      want: other("params.deep.er is sensitive; only texts directly below params may be"),
    },
  ];
  test.each(rows)("$name", ({ given, read, want }) => {
    const all = resolved([entry("x", given)]);
    if (read !== undefined)
      expect(all.read(`\${resources.x.${read}}`)).toContain("resource 'x' has an error, which is reported separately");
    expect(all.finish().errors).toMatchObject(want);
  });

  test("a route without a host and without an ingress domain", () => {
    const made = resolveResources({
      entries: [entry("web", { type: "route" })],
      registry: registryWith(),
      surroundings: { ...surroundings, ingressDomain: undefined },
      scope: scopeOf([]),
      ownPorts: new Map(),
    });
    expect(made.finish().errors[0]).toMatchObject({
      message: expect.stringContaining("has no host; set params.host, or an ingress domain"),
    });
  });

  test("a URL without a port in a scheme without a default port", () => {
    const odd = {
      ...surroundings,
      findExternalService: () => ({
        endpoints: new Map([
          ["a", "amqp://queue"],
          ["b", "nonsense"],
        ]),
      }),
    };
    const made = resolveResources({
      entries: [entry("q", { type: "external-service" })],
      registry: registryWith(),
      surroundings: odd,
      scope: scopeOf([]),
      ownPorts: new Map(),
    });
    made.namespace(["q", "port"]);
    expect(made.finish().errors).toMatchObject([
      { kind: "provisioner", name: "q", message: '"amqp://queue" has no port, and amqp has no default port' },
    ]);
  });

  test("an undeclared resource, an inbound one, and an output that does not exist", () => {
    const { read } = resolved([entry("backend", {}), entry("caller", { direction: "inbound" })]);
    expect(read("${resources.backen.url}")).toBe(
      `error: \${resources.backen.url}: resource 'backen' is not declared; did you mean "backend"?`,
    );
    expect(read("${resources.caller.url}")).toContain("is inbound: it calls this service, and has no outputs");
    expect(read("${resources.backend.urll}")).toContain("has no output 'urll'; did you mean \"url\"?; there are host, port, url, name");
    expect(read("${resources.backend}")).toContain("names resource 'backend' without an output");
  });
});

describe("a parameter that the type does not know is an error", () => {
  const rows: readonly { name: string; given: Parameters<typeof entry>[1]; want: string }[] = [
    {
      name: "prots of a caller",
      given: { direction: "inbound", params: { prots: ["http"] } },
      want: 'params.prots: unknown parameter; did you mean "ports"?',
    },
    {
      name: "method of a caller",
      given: { direction: "inbound", params: { method: ["GET"] } },
      want: 'params.method: unknown parameter; did you mean "methods"?',
    },
    { name: "of a callee", given: { params: { prots: ["http"] } }, want: 'params.prots: unknown parameter; did you mean "ports"?' },
    {
      name: "in both directions",
      given: { direction: "both", params: { path: ["/"] } },
      want: 'params.path: unknown parameter; did you mean "paths"?',
    },
    {
      name: "several at once",
      given: { direction: "inbound", params: { prots: [], zebra: 1 } },
      want: 'params.prots: unknown parameter; did you mean "ports"?; params.zebra: unknown parameter; there are ports, methods, paths',
    },
    {
      name: "more than ten",
      given: { direction: "inbound", params: Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`zebra${at}`, 1])) },
      want: `${Array.from({ length: 10 }, (_, at) => `params.zebra${at}: unknown parameter; there are ports, methods, paths`).join("; ")}; params: 2 more unknown parameters`,
    },
    {
      name: "with a name without end",
      given: { direction: "inbound", params: { ["z".repeat(100_000)]: 1 } },
      want: `params.${"z".repeat(64)}…: unknown parameter; there are ports, methods, paths`,
    },
    {
      name: "of an inbound database",
      given: { type: "postgres", direction: "inbound", params: { port: 1 } },
      want: 'params.port: unknown parameter; did you mean "ports"?',
    },
    { name: "of postgres", given: { type: "postgres", params: { prot: 1 } }, want: 'params.prot: unknown parameter; did you mean "port"?' },
    { name: "of redis", given: { type: "redis", params: { atuh: true } }, want: 'params.atuh: unknown parameter; did you mean "auth"?' },
    { name: "of a route", given: { type: "route", params: { hots: "a.b" } }, want: 'params.hots: unknown parameter; did you mean "host"?' },
    { name: "of a volume", given: { type: "volume", params: { siz: "1Gi" } }, want: 'params.siz: unknown parameter; did you mean "size"?' },
    { name: "of dns", given: { type: "dns", params: { host: "a" } }, want: "params.host: unknown parameter; dns has no parameters" },
    {
      name: "of an external service, which nothing narrows",
      given: { type: "external-service", params: { ports: [443] } },
      want: "params.ports: unknown parameter; external-service has no parameters",
    },
  ];
  test.each(rows)("$name", ({ given, want }) => {
    const { errors, agreements, provisioned } = resolved([entry("x", given)]).finish();
    expect(errors.map((error) => ("message" in error ? error.message : error.kind)).join("; ")).toBe(want);
    expect([agreements.has("x"), provisioned.has("x")]).toEqual([false, false]);
  });

  test("a database with direction both has the params of both directions", () => {
    const { errors, agreements } = resolved([
      entry("x", { type: "postgres", direction: "both", params: { database: "d", ports: ["http"] } }),
    ]).finish();
    expect([errors, agreements.get("x")]).toEqual([[], { ports: ["http"], methods: undefined, paths: undefined }]);
  });
});
