/** Types and outputs as the default provisioners of score-k8s and score-compose publish them. */
import { describe, expect, test } from "vitest";
import { entry, resolved } from "./resources.test-support.ts";

const PUBLISHED: readonly { type: string; outputs: readonly string[]; params?: Readonly<Record<string, string>> }[] = [
  { type: "postgres", outputs: ["host", "port", "name", "database", "username", "password"] },
  { type: "mysql", outputs: ["host", "port", "name", "database", "username", "password"] },
  { type: "mongodb", outputs: ["host", "port", "username", "password", "connection"] },
  { type: "redis", outputs: ["host", "port", "username", "password"] },
  { type: "amqp", outputs: ["host", "port", "vhost", "username", "password"] },
  { type: "s3", outputs: ["bucket", "access_key_id", "secret_key", "endpoint", "region", "aws_access_key_id", "aws_secret_key"] },
  { type: "dns", outputs: ["host"] },
  { type: "volume", outputs: ["source"] },
  { type: "service-port", outputs: ["hostname", "port"], params: { workload: "backend", port: "http" } },
];

test.each(PUBLISHED)("$type has the outputs that Score publishes", ({ type, outputs, params = {} }) => {
  const made = resolved([entry("shop", { type, params })]).finish();
  expect(made.errors).toEqual([]);
  expect([...(made.provisioned.get("shop")?.outputs.keys() ?? [])]).toEqual(expect.arrayContaining([...outputs]));
});

const OUTSIDE = { id: "outside" };

describe("values", () => {
  const rows: readonly { type: string; read: string; want: string; given?: object }[] = [
    { type: "postgres", read: "name", want: "shop" },
    { type: "mysql", read: "host", want: "shop-mysql.prod.svc.cluster.local" },
    { type: "mysql", read: "connection_string", want: "secret: mysql://root:m%23@shop-mysql.prod.svc.cluster.local:3306/shop" },
    { type: "mongodb", read: "connection", want: "secret: mongodb://root:m0@shop-mongodb.prod.svc.cluster.local:27017/" },
    { type: "mongodb", read: "url", want: "mongodb://shop-mongodb.prod.svc.cluster.local:27017/" },
    { type: "amqp", read: "vhost", want: "shop" },
    { type: "amqp", read: "connection_string", want: "secret: amqp://guest:q@shop-amqp.prod.svc.cluster.local:5672/shop" },
    { type: "amqp", read: "username", want: "secret: worker", given: { params: { username: "worker" } } },
    { type: "redis", read: "username", want: "secret: default" },
    { type: "redis", read: "password", want: "secret: r3d", given: { id: "cache" } },
    { type: "s3", read: "endpoint", want: "http://shop-s3.prod.svc.cluster.local:9000" },
    { type: "s3", read: "aws_secret_key", want: "secret: SK" },
    { type: "s3", read: "region", want: "us-east-1" },
    { type: "s3", read: "bucket", want: "media", given: { params: { bucket: "media" } } },
    { type: "s3", read: "endpoint", want: "https://s3.eu-central-1.amazonaws.com", given: OUTSIDE },
    { type: "postgres", read: "host", want: "db.example.com", given: OUTSIDE },
    { type: "postgres", read: "port", want: "6432", given: OUTSIDE },
    { type: "postgres", read: "connection_string", want: "secret: postgresql://postgres:o@db.example.com:6432/outside", given: OUTSIDE },
    { type: "environment", read: "GREETING", want: "hello" },
    { type: "service-port", read: "hostname", want: "backend.prod.svc.cluster.local", given: { params: { workload: "backend", port: "admin" } } },
    { type: "service-port", read: "port", want: "9000", given: { params: { workload: "backend", port: "admin" } } },
    { type: "service-port", read: "port", want: "8080", given: { params: { workload: "backend", port: 8080 } } },
  ]; // prettier-ignore
  test.each(rows)("$type $read is $want", ({ type, read, want, given = {} }) => {
    const made = resolved([entry("shop", { type, ...given })]);
    expect(made.read(`\${resources.shop.${read}}`)).toBe(want);
    expect(made.finish().errors).toEqual([]);
  });
});

describe("the peer that is called", () => {
  test.each(["mysql", "mongodb", "amqp", "s3"])("of %s is the service with that suffix", (type) => {
    const peer = resolved([entry("db", { type, params: { port: 4000 } })])
      .finish()
      .provisioned.get("db")?.peer;
    expect(peer).toEqual({ address: { namespace: "prod", name: `db-${type}` }, port: 4000 });
  });

  test("of a service-port is the workload, on that port alone", () => {
    const made = resolved([entry("api", { type: "service-port", params: { workload: "backend", port: "admin" } })]).finish();
    expect(made.provisioned.get("api")?.callee).toEqual({ address: { namespace: "prod", name: "backend" }, ports: ["admin"] });
    expect(made.agreements.get("api")?.ports).toEqual(["admin"]);
  });
});

describe("mistakes", () => {
  test.each([
    { type: "postgres", read: ["host", "port", "url", "connection_string"] },
    { type: "redis", read: ["host", "url"] },
  ])("an external service whose URL has no port is an error of $type that says so", ({ type, read }) => {
    for (const output of read) {
      const made = resolved([entry("odd", { type })]);
      made.read(`\${resources.odd.${output}}`);
      expect(JSON.stringify(made.finish().errors)).toMatch(/has no port, and tcp has no default port|there is no secret/);
    }
  });

  test("each missing value of the environment is reported where it is read", () => {
    const made = resolved([entry("env", { type: "environment" })]);
    expect(made.read("${resources.env.NAME} ${resources.env.OTHER}")).toBe(
      "error: ${resources.env.NAME}: config has no 'NAME'\nset NAME in spec.values of a LatticeServiceConfig, or in spec.defaults.config of the LatticeEnvironment; ${resources.env.OTHER}: config has no 'OTHER'\nset OTHER in spec.values of a LatticeServiceConfig, or in spec.defaults.config of the LatticeEnvironment",
    );
    expect(made.read("${resources.env}")).toContain("names resource 'env' without an output");
    expect(made.finish().errors).toEqual([]);
  });

  const port = (params: Readonly<Record<string, unknown>>) => {
    const made = resolved([entry("api", { type: "service-port", params: params as never })]);
    made.read("${resources.api.hostname}${resources.api.port}");
    return made.finish().errors.map((error) => (error.kind === "provisioner" ? error.message : error.kind));
  };
  const rows: readonly { name: string; given: Readonly<Record<string, unknown>>; want: string }[] = [
    { name: "no workload", given: { port: "http" }, want: "params.workload must be the name of another workload" },
    { name: "no port", given: { workload: "backend" }, want: "params.port must be the name or the number of one of its ports" },
    { name: "a workload that is not there", given: { workload: "gone", port: "http" }, want: "there is no service gone; add it, or correct params.workload" },
    { name: "a port that it has not", given: { workload: "backend", port: "htp" }, want: 'backend has no port htp; did you mean "http"?; there are admin (9000), http (8080)' },
    { name: "a port of a workload without ports", given: { workload: "mute", port: "http" }, want: "mute has no port http; it has none" },
  ]; // prettier-ignore
  test.each(rows)("$name", ({ given, want }) => expect(port(given)).toEqual([want]));
});
