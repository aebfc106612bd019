/** Mistakes in `spec.resources` and in declared types, with their exact messages. */
import { describe, expect, test } from "vitest";
import { ok } from "#base";
import type { KubeObject } from "#kube";
import { declaredProvisioner, PROVISIONER_LABEL } from "../index.ts";
import { mainContainer, mistakes, type InputOptions } from "../../../test/builders/service-input.ts";

const around: InputOptions = {
  grants: { hosts: ["a.b"] },
  externals: { "prod/odd": { default: "https:///nothing" } },
  bindings: { b: { bindings: { s: { secretRef: { name: "s" } }, v: { external: { storeRef: { name: "vault" }, key: "k" } } } } },
  secrets: { "s/k": "CANARY-VALUE", "postgres/db/password": "CANARY-VALUE" },
};

type Row = { name: string; given: Readonly<Record<string, unknown>>; read?: string; want: string; more?: readonly string[] };

describe("a resource", () => {
  const port = "it must be a port from 1 to 65535";
  const path = `it must begin with "/", and have no "?", "#", space, "//", "." or ".." in it`;
  const classes = "there are pvc, configmap, secret, emptydir";
  const rows: readonly Row[] = [
    { name: "port 0", given: { type: "postgres", params: { port: 0 } }, want: `params.port is "0"; ${port}` },
    { name: "port 65536", given: { type: "postgres", params: { port: 65_536 } }, want: `params.port is "65536"; ${port}` },
    { name: "port 5432.5", given: { type: "redis", params: { port: 5432.5 } }, want: `params.port is "5432.5"; ${port}` },
    { name: "port -1", given: { type: "redis", params: { port: -1 } }, want: `params.port is "-1"; ${port}` },
    { name: "port as text", given: { type: "postgres", params: { port: "http" } }, want: `params.port is "http"; ${port}` },
    { name: "port as a list", given: { type: "postgres", params: { port: [1] } }, want: "params.port must be a text" },
    { name: "port as null", given: { type: "postgres", params: { port: null } }, want: "params.port must be a text" },
    {
      name: "a sensitive port",
      given: { type: "postgres", params: { port: "${secrets.s.k}" } },
      want: "params.port is sensitive, and would be readable without access to Secrets",
    },
    {
      name: "a port that only a store knows",
      given: { type: "redis", params: { port: "${secrets.v.k}" } },
      want: "params.port is sensitive, and would be readable without access to Secrets",
    },
    {
      name: "a database that is a map",
      given: { type: "postgres", params: { database: { a: 1 } } },
      want: "params.database must be a text",
    },
    { name: "a username that is a list", given: { type: "postgres", params: { username: [] } }, want: "params.username must be a text" },
    {
      name: "auth that is neither",
      given: { type: "redis", params: { auth: "yes" } },
      want: 'params.auth is "yes"; it must be true or false',
    },
    { name: "auth as a number", given: { type: "redis", params: { auth: 1 } }, want: 'params.auth is "1"; it must be true or false' },
    {
      name: "a password that is not there",
      given: { type: "postgres", id: "main" },
      read: "password",
      want: "there is no secret 'postgres/main/password'",
    },
    {
      name: "a user from a store outside and a password from a Secret in one text",
      given: { type: "postgres", id: "db", params: { username: "${secrets.v.k}" } },
      read: "connection_string",
      want: "it would mix a value of External Secrets with one from a Secret",
    },
    {
      name: "a route without a host",
      given: { type: "route" },
      want: "has no host; set params.host, or an ingress domain (ingressDomain of the LatticeEnvironment, --ingress-domain)",
    },
    {
      name: "a name without a domain",
      given: { type: "dns" },
      want: "has no domain to be in; set ingressDomain of the LatticeEnvironment, or --ingress-domain",
    },
    {
      name: "a host in upper case",
      given: { type: "route", params: { host: "Shop.Test" } },
      want: 'params.host is "Shop.Test"; it must be a host name in lower case',
    },
    {
      name: "a host with a port",
      given: { type: "route", params: { host: "a.b:80" } },
      want: 'params.host is "a.b:80"; it must be a host name in lower case',
    },
    {
      name: "a host with a scheme",
      given: { type: "route", params: { host: "https://a.b" } },
      want: 'params.host is "https://a.b"; it must be a host name in lower case',
    },
    {
      name: "a host in unicode",
      given: { type: "route", params: { host: "ünï.test" } },
      want: 'params.host is "ünï.test"; it must be a host name in lower case',
    },
    {
      name: "a sensitive host",
      given: { type: "route", params: { host: "${secrets.s.k}" } },
      want: "params.host is sensitive, and would be readable without access to Secrets",
    },
    { name: "a host that is a list", given: { type: "route", params: { host: ["a.b"] } }, want: "params.host must be a text" },
    {
      name: "a path without its slash",
      given: { type: "route", params: { host: "a.b", path: "api" } },
      want: `params.path is "api"; ${path}`,
    },
    {
      name: "a path with a query",
      given: { type: "route", params: { host: "a.b", path: "/a?b" } },
      want: `params.path is "/a?b"; ${path}`,
    },
    {
      name: "a path that climbs",
      given: { type: "route", params: { host: "a.b", path: "/a/.." } },
      want: `params.path is "/a/.."; ${path}`,
    },
    { name: "a path that is a map", given: { type: "route", params: { host: "a.b", path: {} } }, want: "params.path must be a text" },
    { name: "a port that is a list", given: { type: "route", params: { host: "a.b", port: [] } }, want: "params.port must be a text" },
    {
      name: "a route to a port that is not there",
      given: { type: "route", params: { host: "a.b", port: "grpc" } },
      want: 'params.port is "grpc", which service.ports does not have; there are http',
    },
    {
      name: "a route to a number that is not there",
      given: { type: "route", params: { host: "a.b", port: 9 } },
      want: "params.port is 9, which service.ports does not have; there are http",
    },
    {
      name: "a route to what JavaScript calls so",
      given: { type: "route", params: { host: "a.b", port: "constructor" } },
      want: 'params.port is "constructor", which service.ports does not have; there are http',
    },
    { name: "a class in capitals", given: { type: "volume", class: "nfs" }, want: `class "nfs" is unknown; ${classes}` },
    {
      name: "a class misspelt",
      given: { type: "volume", class: "secrets" },
      want: `class "secrets" is unknown; did you mean "secret"?; ${classes}`,
    },
    {
      name: "a size that is none",
      given: { type: "volume", params: { size: "10 GB" } },
      want: 'params.size is "10 GB"; it must be a quantity, such as 10Gi',
    },
    { name: "a size that is a list", given: { type: "volume", params: { size: [] } }, want: "params.size must be a text" },
    {
      name: "a size for a ConfigMap",
      given: { type: "volume", class: "configmap", params: { size: "1Gi" } },
      want: "params.size is only for class pvc, and this is configmap",
    },
    {
      name: "a mode that is none",
      given: { type: "volume", params: { size: "1Gi", accessModes: ["RWO"] } },
      want: 'params.accessModes has "RWO"; there are ReadWriteOnce, ReadOnlyMany, ReadWriteMany, ReadWriteOncePod',
    },
    {
      name: "modes that are a map",
      given: { type: "volume", params: { size: "1Gi", accessModes: {} } },
      want: "params.accessModes must be a text",
    },
    {
      name: "a class of storage that is a list",
      given: { type: "volume", params: { storageClass: [] } },
      want: "params.storageClass must be a text",
    },
    {
      name: "a volume of another namespace",
      given: { type: "volume", id: "other/data" },
      want: "id names namespace other; pods can only mount what is in their own, prod",
    },
    {
      name: "a broken template",
      given: { type: "postgres", params: { database: "${config.x}" } },
      want: "params.database: ${config.x}: config has no 'x'",
    },
    {
      name: "several, deep down",
      given: { params: { paths: ["${config.x}", { a: "${" }] } },
      want: "params.paths[0]: ${config.x}: config has no 'x'",
      more: ["params.paths[1].a: '${' has no '}'; close it, or write '$${' for a literal '${'"],
    },
    {
      name: "a secret deep down",
      given: { params: { a: { b: "${secrets.s.k}" } } },
      want: "params.a.b is sensitive; only texts directly below params may be",
    },
    { name: "ports that are a map", given: { params: { ports: {} } }, want: "params.ports: must be a list, such as [http]" },
    {
      name: "ports that are sensitive",
      given: { params: { ports: "${secrets.s.k}" } },
      want: "params.ports is sensitive, and would be readable without access to Secrets",
    },
    {
      name: "ports that are lists of lists",
      given: { direction: "inbound", params: { ports: [["http"]] } },
      want: "params.ports[0]: must be a text, as in [http]",
    },
    {
      name: "a method in lower case",
      given: { direction: "inbound", params: { methods: ["get"] } },
      want: 'params.methods[0]: "get" must be an HTTP method in upper case, such as GET; did you mean "GET"?',
    },
    {
      name: "a path that is none",
      given: { direction: "both", params: { paths: "api" } },
      want: "params.paths: must be a list, such as [/api/*]",
    },
    {
      name: "methods of an external service",
      given: { type: "external-service", params: { methods: ["GET"] } },
      want: "params.methods: unknown parameter; external-service has no parameters",
    },
    {
      name: "a broken template of a caller",
      given: { direction: "inbound", params: { ports: "${config.x}" } },
      want: "params.ports: ${config.x}: config has no 'x'",
    },
    {
      name: "itself",
      given: { type: "postgres", params: { database: "${resources.x.host}" } },
      want: "CIRCLE x -> x",
    },
  ];
  test.each(rows)("$name", ({ given, read, want, more = [] }) => {
    const variables = read === undefined ? {} : { V: `\${resources.x.${read}}` };
    const spec = mainContainer({ variables }, { resources: { x: given }, service: { ports: { http: { port: 80 } } } });
    const circle = want.startsWith("CIRCLE ");
    const wanted = circle
      ? `spec.resources: circular dependency detected: ${want.slice(7)}`
      : `spec.resources.x: resource 'x' provisioner error: ${want}`;
    const found = mistakes(spec, around);
    expect(found).toEqual([wanted, ...more.map((text) => `spec.resources.x: resource 'x' provisioner error: ${text}`)]);
    expect(found.join()).not.toContain("CANARY-VALUE");
  });

  test("a route of a service without TCP ports", () => {
    const route = { resources: { web: { type: "route", params: { host: "a.b" } } } };
    const want = ["spec.resources.web: resource 'web' provisioner error: a route needs a TCP port to lead to; add one in service.ports"];
    const grants = { hosts: ["a.b"] };
    expect(mistakes(mainContainer({}, route), { grants })).toEqual(want);
    const datagrams = { ...route, service: { ports: { dns: { port: 53, protocol: "UDP" } } } };
    expect(mistakes(mainContainer({}, datagrams), { grants })).toEqual(want);
  });

  test("an endpoint that is not a URL, when it is read", () => {
    const spec = mainContainer({ variables: { V: "${resources.odd.host}" } }, { resources: { odd: { type: "external-service" } } });
    expect(mistakes(spec, around)).toEqual([`spec.resources.odd: resource 'odd' provisioner error: "https:///nothing" is not a URL`]);
  });

  test("two cycles are two errors", () => {
    const reads = (other: string) => ({ type: "postgres", params: { database: `\${resources.${other}.host}` } });
    expect(mistakes(mainContainer({}, { resources: { a: reads("b"), b: reads("a"), c: reads("d"), d: reads("c") } }))).toEqual([
      "spec.resources: circular dependency detected: a -> b -> a",
      "spec.resources: circular dependency detected: c -> d -> c",
    ]);
  });

  test("a resource that depends on a cycle without being part of it reports the resource that is", () => {
    const reads = (other: string) => ({ type: "postgres", params: { database: `\${resources.${other}.host}` } });
    const found = mistakes(
      mainContainer({ variables: { V: "${resources.z.url}" } }, { resources: { a: reads("b"), b: reads("a"), z: reads("a") } }),
    );
    expect(found).toEqual(["spec.resources: circular dependency detected: a -> b -> a"]);
  });
});

describe("a declared type", () => {
  const declare = (text: string | undefined): KubeObject =>
    ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "own", namespace: "team", labels: { [PROVISIONER_LABEL]: "own" } },
      data: text === undefined ? {} : { "provisioner.yaml": text },
    }) as KubeObject;
  const rows: readonly { name: string; given: string | undefined; want: string }[] = [
    { name: "nothing in it", given: undefined, want: "it has the label lattice.dev/provisioner but no provisioner.yaml" },
    { name: "no type", given: "outputs: {a: b}", want: "provisioner.yaml: type must be a name in kebab-case, such as s3-bucket" },
    {
      name: "a type in capitals",
      given: "type: S3\noutputs: {a: b}",
      want: "provisioner.yaml: type must be a name in kebab-case, such as s3-bucket",
    },
    { name: "no outputs", given: "type: s3", want: "provisioner.yaml: outputs must have at least one entry" },
    { name: "empty outputs", given: "type: s3\noutputs: {}", want: "provisioner.yaml: outputs must have at least one entry" },
    { name: "outputs that are a list", given: "type: s3\noutputs: [a]", want: "provisioner.yaml: outputs must have at least one entry" },
    {
      name: "an output that is a number",
      given: "type: s3\noutputs: {a: 1}",
      want: "provisioner.yaml: outputs.a must be a text, {value: …} or {secret: PATH}",
    },
    {
      name: "an output that is both",
      given: "type: s3\noutputs: {a: {value: x, secret: y}}",
      want: "provisioner.yaml: outputs.a must be a text, {value: …} or {secret: PATH}",
    },
    {
      name: "a peer without a port",
      given: "type: s3\noutputs: {a: b}\npeer: {name: x}",
      want: "provisioner.yaml: peer must have a name and a port",
    },
    {
      name: "a peer that is a text",
      given: "type: s3\noutputs: {a: b}\npeer: x",
      want: "provisioner.yaml: peer must have a name and a port",
    },
  ];
  test.each(rows)("is refused: $name", ({ given, want }) => {
    expect(declaredProvisioner(declare(given))).toEqual({ ok: false, error: `ConfigMap team/own: ${want}` });
  });

  const used: readonly { name: string; outputs: string; params?: Readonly<Record<string, unknown>>; want: string }[] = [
    {
      name: "a param without a value",
      outputs: "v: ${params.region}",
      want: "${params.region}: params.region is not given, and has no default",
    },
    {
      name: "a class without a value",
      outputs: "v: ${resource.class}",
      want: "${resource.class}: resource.class is not set; set it in the resource",
    },
    {
      name: "a name that is none",
      outputs: "v: ${resource.naem}",
      want: `\${resource.naem}: resource has no 'naem'; did you mean "name"?`,
    },
    { name: "a broken template", outputs: 'v: "${"', want: "'${' has no '}'; close it, or write '$${' for a literal '${'" },
    { name: "a secret that is not there", outputs: "v: {secret: s3/key}", want: "there is no secret 's3/key'" },
    {
      name: "a path that is sensitive",
      outputs: 'v: {secret: "${params.p}"}',
      params: { p: "${secrets.s.k}" },
      want: "the path of a secret must not be sensitive itself",
    },
  ];
  test.each(used)("is used wrongly: $name", ({ outputs, params = {}, want }) => {
    const made = declaredProvisioner(declare(`type: s3\noutputs:\n  ${outputs}`)) ?? ok(undefined);
    const provisioners = made.ok && made.value !== undefined ? [made.value] : [];
    const spec = mainContainer({ variables: { V: "${resources.x.v}" } }, { resources: { x: { type: "s3", params } } });
    const found = mistakes(spec, { ...around, provisioners });
    expect(found).toEqual([`spec.resources.x: resource 'x' provisioner error: ${want}`]);
    expect(found.join()).not.toContain("CANARY-VALUE");
  });
});
