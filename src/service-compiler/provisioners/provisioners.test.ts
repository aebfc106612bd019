import { describe, expect, test } from "vitest";
import { err, ok, reveal, type Result } from "#base";
import type { JsonObject, KubeObject } from "#kube";
import { fields, renderText, secret, type Rendered, type TemplateProblem } from "../templates/index.ts";
import { declaredProvisioner } from "./declared.ts";
import type { Surroundings } from "./provisioner.ts";
import { registryWith, type Registry } from "./registry.ts";
import { resolveResources, type ResourceEntry } from "./resolve.ts";

const surroundings: Surroundings = {
  namespace: "prod",
  clusterDomain: "cluster.local",
  ingressDomain: "example.com",
  findService: ({ namespace, name }) =>
    new Map([
      [
        "prod/backend",
        {
          ports: new Map([
            ["admin", 9000],
            ["http", 8080],
          ]),
        },
      ],
      [
        "prod/odd",
        {
          ports: new Map([
            ["zeta", 2],
            ["alpha", 1],
          ]),
        },
      ],
      ["prod/mute", { ports: new Map() }],
      ["other/backend", { ports: new Map([["grpc", 50_051]]) }],
    ]).get(`${namespace}/${name}`),
  findExternalService: ({ namespace, name }) =>
    new Map([
      [
        "prod/stripe",
        {
          endpoints: new Map([
            ["zz", "https://zz.test"],
            ["default", "https://api.stripe.com/v1"],
          ]),
        },
      ],
      [
        "prod/plain",
        {
          endpoints: new Map([
            ["b", "http://b.test"],
            ["a", "tcp://10.0.0.5:5432"],
          ]),
        },
      ],
      ["prod/http", { endpoints: new Map([["a", "http://[fd00::1]/x"]]) }],
    ]).get(`${namespace}/${name}`),
  readSecret: (path) =>
    new Map<string, Result<ReturnType<typeof secret>, string>>([
      ["postgres/main-db/password", ok(secret("p@ss"))],
      ["redis/cache/password", ok(secret("r3d"))],
      ["s3/files/key", ok(secret("k3y"))],
    ]).get(path) ?? err(`there is no secret '${path}'`),
};

function entry(name: string, given: Partial<Omit<ResourceEntry, "name" | "address">> & { readonly id?: string }): ResourceEntry {
  const [first = "", second] = (given.id ?? name).split("/");
  const address = second === undefined ? { namespace: "prod", name: first } : { namespace: first, name: second };
  return { type: "service", direction: "outbound", class: undefined, params: {}, ...given, name, address };
}

const config = fields(
  "config",
  new Map([
    ["port", "6000"],
    ["db", "${not again}"],
  ]),
  "",
);
const secrets = () => ok({ value: secret("s3cret"), source: "secrets" });

function resolved(entries: readonly ResourceEntry[], registry: Registry = registryWith()) {
  const scope = new Map([
    ["config", config],
    ["secrets", secrets],
  ]);
  const made = resolveResources({ entries, registry, surroundings, scope });
  const read = (text: string) => shown(renderText(text, new Map([...scope, ["resources", made.namespace]])));
  return { read, finish: made.finish };
}

function shown(rendered: Result<Rendered, readonly TemplateProblem[]>): string {
  if (!rendered.ok) return `error: ${rendered.error.map(({ message }) => message).join("; ")}`;
  const { value } = rendered.value;
  return value.kind === "plain" ? value.text : value.kind === "sensitive" ? `secret: ${reveal(value.text)}` : "external";
}

const POSTGRES = entry("db", { type: "postgres", id: "main-db" });
const REDIS = entry("cache", { type: "redis", params: { auth: true } });

describe("outputs", () => {
  const rows: readonly { name: string; given: ResourceEntry; read: string; want: string }[] = [
    {
      name: "ServiceProvisioner resolves to correct FQDN",
      given: entry("backend", {}),
      read: "host",
      want: "backend.prod.svc.cluster.local",
    },
    { name: "ServiceProvisioner takes the port from the graph, http first", given: entry("backend", {}), read: "port", want: "8080" },
    { name: "a service's url", given: entry("b", { id: "backend" }), read: "url", want: "http://backend.prod.svc.cluster.local:8080" },
    { name: "a service's name is what it is called, not the entry", given: entry("b", { id: "backend" }), read: "name", want: "backend" },
    { name: "without http, the first port by name", given: entry("odd", {}), read: "port", want: "1" },
    { name: "without ports, 80", given: entry("mute", {}), read: "port", want: "80" },
    {
      name: "a service of another namespace",
      given: entry("b", { id: "other/backend" }),
      read: "url",
      want: "http://backend.other.svc.cluster.local:50051",
    },
    {
      name: "ExternalServiceProvisioner resolves URL",
      given: entry("stripe", { type: "external-service" }),
      read: "url",
      want: "https://api.stripe.com/v1",
    },
    { name: "an external service's host", given: entry("stripe", { type: "external-service" }), read: "host", want: "api.stripe.com" },
    { name: "https without a port is 443", given: entry("stripe", { type: "external-service" }), read: "port", want: "443" },
    {
      name: "without default, the first endpoint by name",
      given: entry("plain", { type: "external-service" }),
      read: "port",
      want: "5432",
    },
    { name: "http without a port is 80", given: entry("http", { type: "external-service" }), read: "port", want: "80" },
    { name: "an address in brackets", given: entry("http", { type: "external-service" }), read: "host", want: "[fd00::1]" },
    { name: "Postgres host is not sensitive", given: POSTGRES, read: "host", want: "main-db-postgres.prod.svc.cluster.local" },
    { name: "Postgres port is not sensitive", given: POSTGRES, read: "port", want: "5432" },
    { name: "Postgres database is not sensitive, and the instance by default", given: POSTGRES, read: "database", want: "main-db" },
    {
      name: "Postgres url is not sensitive",
      given: POSTGRES,
      read: "url",
      want: "postgresql://main-db-postgres.prod.svc.cluster.local:5432/main-db",
    },
    { name: "Postgres username is sensitive", given: POSTGRES, read: "username", want: "secret: postgres" },
    { name: "Postgres password is sensitive", given: POSTGRES, read: "password", want: "secret: p@ss" },
    {
      name: "Postgres connection_string is sensitive, and its parts are encoded",
      given: POSTGRES,
      read: "connection_string",
      want: "secret: postgresql://postgres:p%40ss@main-db-postgres.prod.svc.cluster.local:5432/main-db",
    },
    {
      name: "custom params override defaults",
      given: entry("db", { type: "postgres", id: "main-db", params: { port: 6543, database: "shop", username: "app" } }),
      read: "connection_string",
      want: "secret: postgresql://app:p%40ss@main-db-postgres.prod.svc.cluster.local:6543/shop",
    },
    {
      name: "params may be templates",
      given: entry("db", { type: "postgres", params: { port: "${config.port}" } }),
      read: "port",
      want: "6000",
    },
    {
      name: "what comes out of a template is not read again",
      given: entry("db", { type: "postgres", params: { database: "${config.db}" } }),
      read: "database",
      want: "${not again}",
    },
    {
      name: "a sensitive param makes a sensitive output",
      given: entry("db", { type: "postgres", params: { database: "${secrets.a.b}" } }),
      read: "url",
      want: "secret: postgresql://db-postgres.prod.svc.cluster.local:5432/s3cret",
    },
    {
      name: "Redis without auth has its url open",
      given: entry("c", { type: "redis", id: "cache" }),
      read: "url",
      want: "redis://cache-redis.prod.svc.cluster.local:6379",
    },
    { name: "Redis with auth has its url open too", given: REDIS, read: "url", want: "redis://cache-redis.prod.svc.cluster.local:6379" },
    { name: "Redis with auth has a sensitive password", given: REDIS, read: "password", want: "secret: r3d" },
    {
      name: "Redis with auth has a sensitive url_with_auth",
      given: REDIS,
      read: "url_with_auth",
      want: "secret: redis://:r3d@cache-redis.prod.svc.cluster.local:6379",
    },
    {
      name: "a route's host comes from its name and the ingress domain",
      given: entry("web", { type: "route" }),
      read: "url",
      want: "https://web.example.com/",
    },
    {
      name: "a route's host and path as given",
      given: entry("web", { type: "route", params: { host: "shop.test", path: "/api", port: "http" } }),
      read: "url",
      want: "https://shop.test/api",
    },
    { name: "a volume is a claim by default", given: entry("data", { type: "volume" }), read: "ref", want: "pvc:data" },
    {
      name: "a volume of another class",
      given: entry("data", { type: "volume", class: "configmap", id: "settings" }),
      read: "ref",
      want: "configmap:settings",
    },
    { name: "an empty directory has no name", given: entry("tmp", { type: "volume", class: "emptydir" }), read: "ref", want: "emptydir:" },
    { name: "a volume's class", given: entry("data", { type: "volume", class: "secret" }), read: "class", want: "secret" },
  ];
  test.each(rows)("$name", ({ given, read, want }) => {
    const all = resolved([given]);
    expect(all.read(`\${resources.${given.name}.${read}}`)).toBe(want);
    expect(all.finish().errors).toEqual([]);
  });

  test("Redis without auth has no password at all", () => {
    expect(resolved([entry("cache", { type: "redis" })]).read("${resources.cache.password}")).toBe(
      "error: ${resources.cache.password}: redis 'cache' has no output 'password'; there are host, port, url",
    );
  });
});

describe("mistakes of a resource", () => {
  const other = (message: string) => [{ kind: "provisioner", name: "x", message }];
  const rows: readonly { name: string; given: Parameters<typeof entry>[1]; read?: string; want: unknown }[] = [
    {
      name: "an unknown type",
      given: { type: "postgress" },
      want: [
        {
          kind: "unsupported-resource-type",
          name: "x",
          type: "postgress",
          known: ["service", "external-service", "postgres", "redis", "route", "volume"],
        },
      ],
    },
    {
      name: "a callee that is not there, when its address is read",
      given: {},
      read: "url",
      want: [{ kind: "resource-not-found", name: "x", type: "service", id: "prod/x" }],
    },
    { name: "a callee that is not there is none while nobody reads it", given: {}, want: [] },
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
    { name: "a password that nobody reads", given: { type: "postgres" }, want: [] },
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
      want: other("params.port is sensitive, and would be readable by everybody"),
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
      want: other('params.path is "x?"; it must begin with "/" and have no "?", "#" or space'),
    },
    {
      name: "an unknown class of volume",
      given: { type: "volume", class: "pvcs" },
      want: other('class "pvcs" is unknown; did you mean "pvc"?; there are pvc, configmap, secret, emptydir'),
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
    if (read !== undefined) expect(all.read(`\${resources.x.${read}}`)).toContain("resource 'x' has an error of its own");
    expect(all.finish().errors).toEqual(want);
  });

  test("a route without a host and without an ingress domain", () => {
    const made = resolveResources({
      entries: [entry("web", { type: "route" })],
      registry: registryWith(),
      surroundings: { ...surroundings, ingressDomain: undefined },
      scope: new Map(),
    });
    expect(made.finish().errors[0]).toMatchObject({
      message: expect.stringContaining("has no host; set params.host, or an ingress domain"),
    });
  });

  test("a URL without a port in a scheme that has none", () => {
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
      scope: new Map(),
    });
    made.namespace(["q", "port"]);
    expect(made.finish().errors).toEqual([
      { kind: "provisioner", name: "q", message: '"amqp://queue" has no port, and amqp has no usual one' },
    ]);
  });

  test("an undeclared resource, an inbound one, and an output that is not there", () => {
    const { read } = resolved([entry("backend", {}), entry("caller", { direction: "inbound" })]);
    expect(read("${resources.backen.url}")).toBe(
      `error: \${resources.backen.url}: resource 'backen' is not declared; did you mean "backend"?`,
    );
    expect(read("${resources.caller.url}")).toContain("is inbound: it calls this service, and has no outputs");
    expect(read("${resources.backend.urll}")).toContain("has no output 'urll'; did you mean \"url\"?; there are host, port, url, name");
    expect(read("${resources.backend}")).toContain("names resource 'backend' and none of its outputs");
  });

  test("params that nobody understands are warned about", () => {
    expect(resolved([entry("db", { type: "postgres", params: { prot: 1 } })]).finish().warnings).toEqual([
      "resource 'db': postgres does not know params.prot; did you mean \"port\"?",
    ]);
  });
});

describe("resources that read each other", () => {
  test("params may read the outputs of others, in any order", () => {
    const entries = [
      entry("a", { type: "postgres", params: { database: "${resources.b.database}-copy" } }),
      entry("b", { type: "postgres", params: { database: "shop" } }),
    ];
    expect(resolved(entries).read("${resources.a.database}")).toBe("shop-copy");
  });

  test("a circle is one error that names its path", () => {
    const reads = (other: string): JsonObject => ({ database: `\${resources.${other}.database}` });
    const entries = ["a", "b", "c"].map((name, index) => entry(name, { type: "postgres", params: reads(["b", "c", "a"][index] ?? "") }));
    expect(resolved(entries).finish().errors).toEqual([{ kind: "circular-dependency", of: "resources", path: ["a", "b", "c", "a"] }]);
  });

  test("a resource that reads a broken one says which", () => {
    const entries = [entry("a", { type: "postgres", params: { database: "${resources.b.url}" } }), entry("b", {})];
    expect(resolved(entries).finish().errors).toContainEqual({
      kind: "provisioner",
      name: "a",
      message: "params.database: ${resources.b.url}: resource 'b' has an error of its own",
    });
  });
});

test("what a resource brings beside its outputs", () => {
  const { provisioned } = resolved([
    POSTGRES,
    entry("web", { type: "route", params: { port: 8080 } }),
    entry("data", { type: "volume", params: { size: "1Gi", storageClass: "fast", accessModes: "ReadWriteMany" } }),
  ]).finish();
  expect(provisioned.get("db")?.peer).toEqual({ address: { namespace: "prod", name: "main-db-postgres" }, port: 5432 });
  expect(provisioned.get("web")?.route).toEqual({ host: "web.example.com", path: "/", port: 8080 });
  expect(provisioned.get("data")?.claim).toEqual({ name: "data", size: "1Gi", storageClassName: "fast", accessModes: ["ReadWriteMany"] });
});

describe("a type written down in a ConfigMap", () => {
  const configMap = (text: string): KubeObject =>
    ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "s3", namespace: "lattice-system", labels: { "lattice.dev/provisioner": "s3" } },
      data: { "provisioner.yaml": text },
    }) as KubeObject;
  const S3 = `
type: s3
params: {region: eu-west-1, bucket: null, port: 9000}
outputs:
  endpoint: https://s3.\${params.region}.test
  who: \${resource.name}/\${resource.id}/\${resource.namespace} in \${cluster.domain}
  hidden: {value: "\${params.region}", sensitive: true}
  key: {secret: "s3/\${resource.id}/key"}
  class: \${resource.class}
  nothing: \${params.other}
  bad: {secret: "\${params.pw}"}
  lost: {secret: nowhere}
peer: {name: "\${resource.id}-s3", port: "\${params.port}"}
`;
  const registry = () => {
    const made = declaredProvisioner(configMap(S3));
    return registryWith(made?.ok === true ? [made.value] : []);
  };
  const made = (params: JsonObject = {}) => resolved([entry("store", { type: "s3", id: "files", params })], registry());

  const rows: readonly { name: string; read: string; params?: JsonObject; want: string }[] = [
    { name: "a default", read: "endpoint", want: "https://s3.eu-west-1.test" },
    { name: "a param", read: "endpoint", params: { region: "us" }, want: "https://s3.us.test" },
    { name: "a param that is a number", read: "endpoint", params: { region: 7 }, want: "https://s3.7.test" },
    { name: "the resource itself", read: "who", want: "store/files/prod in cluster.local" },
    { name: "a value that is declared sensitive", read: "hidden", want: "secret: eu-west-1" },
    { name: "a secret", read: "key", want: "secret: k3y" },
  ];
  test.each(rows)("reads $name", ({ read, params, want }) => expect(made(params).read(`\${resources.store.${read}}`)).toBe(want));

  const wrong: readonly { read: string; params?: JsonObject; want: string }[] = [
    { read: "class", want: "resource.class is not set" },
    { read: "nothing", want: "params.other is not given, and has no default" },
    { read: "bad", params: { pw: "${secrets.a.b}" }, want: "the path of a secret must not be sensitive itself" },
    { read: "lost", want: "there is no secret 'nowhere'" },
  ];
  test.each(wrong)("tells what is wrong with $read", ({ read, params, want }) => {
    const all = made(params);
    all.read(`\${resources.store.${read}}`);
    expect(all.finish().errors[0]).toMatchObject({ message: expect.stringContaining(want) });
  });

  test("opens the way to its peer", () => {
    expect(made().finish().provisioned.get("store")?.peer).toEqual({ address: { namespace: "prod", name: "files-s3" }, port: 9000 });
    expect(made({ port: "x" }).finish().errors[0]).toMatchObject({ message: 'peer.port is "x"; it must be a port' });
    expect(made({ port: "${secrets.a.b}" }).finish().errors[0]).toMatchObject({ message: "peer must not be sensitive" });
  });

  const refused: readonly { given: string; want: string }[] = [
    { given: "a: [", want: "provisioner.yaml: " },
    { given: "type: S3", want: "type must be a name in kebab-case" },
    { given: "type: s3", want: "outputs must have at least one entry" },
    { given: "type: s3\noutputs: {a: {value: x, secret: y}}", want: "outputs.a must be a text, {value: …} or {secret: PATH}" },
    { given: "type: s3\noutputs: {a: b}\npeer: {name: x}", want: "peer must have a name and a port" },
  ];
  test.each(refused)("is refused: $want", ({ given, want }) => {
    const read = declaredProvisioner(configMap(given));
    expect(read?.ok === false && read.error).toContain(want);
  });

  test("other ConfigMaps are none", () => {
    expect(declaredProvisioner({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } })).toBeUndefined();
    expect(declaredProvisioner({ ...configMap(""), data: {} } as KubeObject)).toMatchObject({ ok: false });
  });
});
