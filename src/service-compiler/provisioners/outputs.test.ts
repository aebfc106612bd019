/** The outputs of each resource type, and which of them are sensitive. */
import { describe, expect, test } from "vitest";
import { isSensitive } from "../templates/index.ts";
import { entry, resolved } from "./resources.test-support.ts";
import type { ResourceEntry } from "./resolve.ts";

const POSTGRES = entry("db", { type: "postgres", id: "main-db" });
const REDIS = entry("cache", { type: "redis", params: { auth: true } });

describe("outputs", () => {
  const rows: readonly { name: string; given: ResourceEntry; read: string; want: string }[] = [
    {
      name: "ServiceProvisioner resolves to correct FQDN and port from graph",
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
      name: "ExternalServiceProvisioner resolves URL from LatticeExternalService",
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
      name: "Custom params override defaults",
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
      name: "Redis with a user of its own has that user in url_with_auth",
      given: entry("cache", { type: "redis", params: { username: "app" } }),
      read: "url_with_auth",
      want: "secret: redis://app:r3d@cache-redis.prod.svc.cluster.local:6379",
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

  const groups: readonly { name: string; given: ResourceEntry; open: readonly string[]; sensitive: readonly string[] }[] = [
    {
      name: "ServiceProvisioner all outputs are non-sensitive",
      given: entry("backend", {}),
      open: ["host", "port", "url", "name"],
      sensitive: [],
    },
    {
      name: "ExternalServiceProvisioner all outputs are non-sensitive",
      given: entry("stripe", { type: "external-service" }),
      open: ["host", "port", "url", "name"],
      sensitive: [],
    },
    ...["Postgres host, port, database, url in outputs (non-sensitive)", "Postgres username, password, connection_string in sensitive"].map(
      (name) => ({
        name,
        given: POSTGRES,
        open: ["host", "port", "name", "database", "url"],
        sensitive: ["username", "password", "connection_string"],
      }),
    ),
    {
      name: "Redis without auth has all fields in outputs",
      given: entry("cache", { type: "redis", params: { auth: false } }),
      open: ["host", "port", "url"],
      sensitive: [],
    },
    {
      name: "Redis with auth has password and url_with_auth in sensitive",
      given: REDIS,
      open: ["host", "port", "url"],
      sensitive: ["username", "password", "url_with_auth"],
    },
    {
      name: "Route has all fields in outputs (entirely non-sensitive)",
      given: entry("web", { type: "route" }),
      open: ["host", "path", "url"],
      sensitive: [],
    },
    { name: "a volume has no secret", given: entry("data", { type: "volume" }), open: ["name", "ref", "source", "class"], sensitive: [] },
    { name: "a name under the ingress domain is none either", given: entry("shop", { type: "dns" }), open: ["host"], sensitive: [] },
  ];
  test.each(groups)("$name", ({ given, open, sensitive }) => {
    const outputs = [...(resolved([given]).finish().provisioned.get(given.name)?.outputs ?? [])];
    const found = outputs.map(([name, output]) => [name, output()] as const);
    const named = (kind: boolean) => found.flatMap(([name, value]) => (value.ok && isSensitive(value.value) === kind ? [name] : []));
    expect([named(false), named(true)]).toEqual([open, sensitive]);
  });

  test("each output is sensitive or not as its type declares", () => {
    const { namespace } = resolved([POSTGRES]);
    const flags = ["host", "password"].map((output) => {
      const found = namespace(["db", output]);
      return found.ok && isSensitive(found.value.value);
    });
    expect(flags).toEqual([false, true]);
  });

  test("Redis without auth has no password output", () => {
    expect(resolved([entry("cache", { type: "redis", params: { auth: false } })]).read("${resources.cache.password}")).toBe(
      "error: ${resources.cache.password}: redis 'cache' has no output 'password'; there are host, port, url",
    );
  });
});

test("routes, claims and callees of a resource", () => {
  const { provisioned } = resolved([
    POSTGRES,
    entry("web", { type: "route", params: { port: 8080 } }),
    entry("data", { type: "volume", params: { size: "1Gi", storageClass: "fast", accessModes: "ReadWriteMany" } }),
  ]).finish();
  expect(provisioned.get("db")?.peer).toEqual({ address: { namespace: "prod", name: "main-db-postgres" }, port: 5432 });
  expect(provisioned.get("web")?.route).toEqual({ host: "web.example.com", path: "/", port: 8080 });
  expect(provisioned.get("data")?.claim).toEqual({ name: "data", size: "1Gi", storageClassName: "fast", accessModes: ["ReadWriteMany"] });
});
