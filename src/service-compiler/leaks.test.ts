/**
 * A secret is in the `data` of Secrets and nowhere else. A canary value is passed through every template field, from every source of
 * secrets; then the whole output of the compilation is searched for it, in every form in which it could be read or guessed.
 */
import { describe, expect, test } from "vitest";
import { sha256Hex } from "#base";
import { parseLatticeService } from "#crds";
import type { KubeObject } from "#kube";
import { atFirst, compileService, declaredProvisioner, describeCompileError, placeOf, registryWith, type ServiceInput } from "./index.ts";
import { mainContainer, serviceInput, type InputOptions } from "../../test/builders/service-input.ts";
import { findTemplateFields } from "../../test/builders/template-fields.ts";

/** With characters that URLs encode: the encoded form must not leak either. */
const CANARY = "c4n4ry/p@ss phrase+ü";

const declaredType = (type: string, peer: string) => `
type: ${type}
params: {text: none}
outputs:
  given: \${params.text}
  key: {secret: "own/\${resource.id}/key"}
  wrapped: {value: "<\${params.text}>", sensitive: true}
  url: https://\${params.text}
peer: {name: "${peer}", port: 80}
`;

function declared() {
  const texts = [declaredType("own", "${resource.id}-own"), declaredType("named", "${params.text}-peer")];
  return texts.flatMap((text) => {
    const metadata = { name: "own", labels: { "lattice.dev/provisioner": "" } };
    const made = declaredProvisioner({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { "provisioner.yaml": text } } as KubeObject);
    return made?.ok === true ? [made.value] : [];
  });
}

const around: InputOptions = {
  services: { "prod/backend": { http: 80 } },
  externals: { "prod/stripe": { default: "https://api.stripe.com" } },
  bindings: { b: { bindings: { s: { secretRef: { name: "s" } } } } },
  secrets: {
    "s/k": CANARY,
    "postgres/db/password": CANARY,
    "redis/cache/password": CANARY,
    "own/own/key": CANARY,
    "mysql/db/password": CANARY,
    "amqp/db/password": CANARY,
    "mongodb/db/password": CANARY,
    "s3/db/secret_key": CANARY,
    "s3/db/access_key_id": CANARY,
  },
  provisioners: declared(),
  files: { "f.txt": "${SOURCE}" },
};

const SOURCES = [
  "${secrets.s.k}",
  "${resources.db.password}",
  "${resources.db.connection_string}",
  "${resources.cache.url_with_auth}",
  "${resources.own.key}",
  "${resources.own.wrapped}",
  "text around ${secrets.s.k} it",
];

const BASE = {
  db: { type: "postgres" },
  cache: { type: "redis", params: { auth: true } },
  own: { type: "own", params: { text: "${secrets.s.k}" } },
};

type Spec = Readonly<Record<string, unknown>>;
const ports = { service: { ports: { http: { port: 80 } } } };
const resource =
  (fields: Spec, read = "${resources.x.name}") =>
  (source: string): Spec =>
    mainContainer(
      { variables: { READ: read } },
      { ...ports, resources: { ...BASE, x: JSON.parse(JSON.stringify(fields).replaceAll("SOURCE", source)) as Spec } },
    );

const FIELDS: readonly { name: string; field?: string; spec: (source: string) => Spec }[] = [
  {
    name: "variables",
    field: "containers.*.variables.*",
    spec: (source) => mainContainer({ variables: { V: source, OPEN: "x" } }, { resources: BASE }),
  },
  {
    name: "files.content",
    field: "containers.*.files.*.content",
    spec: (source) => mainContainer({ files: { "/f": { content: `a\n${source}\n` } } }, { resources: BASE }),
  },
  {
    name: "files.source",
    field: "containers.*.files.*.source",
    spec: (source) => mainContainer({ files: { "/f": { source: "f.txt" } }, variables: { V: source } }, { resources: BASE }),
  },
  {
    name: "volumes.source",
    field: "containers.*.volumes.*.source",
    spec: (source) => mainContainer({ volumes: { "/v": { source } } }, { resources: BASE }),
  },
  {
    name: "volumes.source as a name",
    spec: (source) => mainContainer({ volumes: { "/v": { source: `pvc:${source}` } } }, { resources: BASE }),
  },
  ...["port", "database", "username"].map((param) => ({
    name: `postgres params.${param}`,
    field: "resources.*.params",
    spec: resource({ type: "postgres", id: "db", params: { [param]: "SOURCE" } }, "${resources.x.connection_string}${resources.x.url}"),
  })),
  ...["mysql", "amqp", "mongodb"].flatMap((type) =>
    ["port", "database", "vhost", "username"].map((param) => ({
      name: `${type} params.${param}`,
      spec: resource({ type, id: "db", params: { [param]: "SOURCE" } }, "${resources.x.connection_string}${resources.x.url}"),
    })),
  ),
  ...["bucket", "region", "port"].map((param) => ({
    name: `s3 params.${param}`,
    spec: resource(
      { type: "s3", id: "db", params: { [param]: "SOURCE" } },
      "${resources.x.endpoint}${resources.x.bucket}${resources.x.secret_key}",
    ),
  })),
  ...["workload", "port"].map((param) => ({
    name: `service-port params.${param}`,
    spec: resource({ type: "service-port", params: { workload: "backend", port: "http", [param]: "SOURCE" } }, "${resources.x.hostname}"),
  })),
  ...["port", "auth", "username"].map((param) => ({
    name: `redis params.${param}`,
    spec: resource({ type: "redis", params: { [param]: "SOURCE" } }, "${resources.x.url}"),
  })),
  ...["host", "path", "port"].map((param) => ({
    name: `route params.${param}`,
    spec: resource({ type: "route", params: { host: "a.b", [param]: "SOURCE" } }, "${resources.x.url}"),
  })),
  ...["size", "accessModes", "storageClass"].map((param) => ({
    name: `volume params.${param}`,
    spec: resource({ type: "volume", params: { size: "1Gi", [param]: "SOURCE" } }, "${resources.x.ref}"),
  })),
  ...["ports", "methods", "paths"].flatMap((param) => [
    { name: `service params.${param}`, spec: resource({ id: "backend", params: { [param]: "SOURCE" } }, "${resources.x.url}") },
    { name: `inbound params.${param}`, spec: resource({ direction: "inbound", params: { [param]: "SOURCE" } }, "") },
    {
      name: `external-service params.${param}`,
      spec: resource({ type: "external-service", id: "stripe", params: { [param]: "SOURCE" } }, "${resources.x.url}"),
    },
  ]),
  { name: "params of a list", spec: resource({ id: "backend", params: { ports: ["http", "SOURCE"] } }) },
  { name: "params, deep down", spec: resource({ id: "backend", params: { deep: { er: ["SOURCE"] } } }) },
  { name: "unknown params", spec: resource({ type: "postgres", params: { prot: "SOURCE" } }, "${resources.x.host}") },
  {
    name: "params of a declared type",
    spec: resource({ type: "own", params: { text: "SOURCE" } }, "${resources.x.given}${resources.x.url}"),
  },
  {
    name: "a param read through another resource",
    spec: resource({ type: "postgres", params: { database: "${resources.own.given}", username: "SOURCE" } }, "${resources.x.url}"),
  },
  {
    name: "a text that goes wrong behind it",
    spec: (source) => mainContainer({ variables: { V: `${source}\${metadata.nothing}` } }, { resources: BASE }),
  },
  {
    name: "a text too large",
    spec: (source) =>
      mainContainer({ files: { "/f": { content: `${source}${"x".repeat(1_048_000)}${"\u00fc".repeat(400)}` } } }, { resources: BASE }),
  },
];

/** All output of a compilation that is readable without access to Secrets. */
function shown(input: ServiceInput): string {
  const result = compileService(input);
  if (!result.ok) return JSON.stringify(result.error.map((error) => [error, placeOf(error), describeCompileError(error)]));
  const { objects, resolvedDependencies, peers, routes, warnings } = result.value;
  const open = objects.map((compiled) => {
    const object = atFirst(compiled) as KubeObject & { data?: unknown };
    return object.kind === "Secret" ? { ...object, data: Object.keys(object.data ?? {}) } : object;
  });
  return JSON.stringify([open, [...resolvedDependencies], [...peers], [...routes], warnings]);
}

const hex = (text: string) => Buffer.from(text).toString("hex");
const base64 = (text: string) => Buffer.from(text).toString("base64").replaceAll("=", "").slice(2, -4);
const FORBIDDEN = [
  CANARY,
  encodeURIComponent(CANARY),
  "c4n4ry",
  hex("c4n4ry"),
  base64(CANARY),
  sha256Hex(CANARY),
  sha256Hex(Buffer.from(CANARY).toString("base64")),
];

describe.each(FIELDS)("pushed through $name", ({ spec }) => {
  test.each(SOURCES)("from %s it is in Secrets and nowhere else", (source) => {
    const input = serviceInput(spec(source), { ...around, files: { "f.txt": source } });
    const text = shown(input);
    for (const form of FORBIDDEN) expect(text.includes(form), `${form} in ${text.slice(0, 2_000)}`).toBe(false);
  });
});

test("the search finds the canary value in a Secret", () => {
  const result = compileService(serviceInput(mainContainer({ variables: { V: "${secrets.s.k}" } }, { resources: BASE }), around));
  const found = result.ok ? JSON.stringify(result.value.objects) : "";
  expect(found).toContain(Buffer.from(CANARY).toString("base64"));
});

test("a field without templates does not expand a placeholder", () => {
  const parsed = parseLatticeService({
    apiVersion: "lattice.dev/v1alpha1",
    kind: "LatticeService",
    metadata: { name: "api", namespace: "prod", annotations: { note: "${secrets.s.k}" } },
    spec: mainContainer({ args: ["${secrets.s.k}"], variables: { V: "${metadata.annotations.note}" } }),
  });
  if (!parsed.ok) throw new Error("refused");
  expect(shown({ ...serviceInput(mainContainer({}), around), service: parsed.value })).not.toContain("c4n4ry");
});

describe("the list of fields is complete", () => {
  const tried = findTemplateFields();

  test("every field of the schema in which the compiler reads placeholders has a row here", () => {
    expect(new Set(tried.read)).toEqual(new Set(FIELDS.flatMap(({ field }) => field ?? [])));
  });

  test("texts without a row are names, enums and quantities, which cannot contain a placeholder", () => {
    expect(tried.refused).toMatchInlineSnapshot(`
      [
        "environment",
        "workloadRef.kind",
        "workloadRef.name",
        "workloadRef.namespace",
        "securityContext.fsGroupChangePolicy",
        "containers.*.before.[]",
        "containers.*.files.*.binaryContent",
        "containers.*.files.*.mode",
        "containers.*.resources.requests.*",
        "containers.*.resources.limits.*",
        "containers.*.livenessProbe.httpGet.port",
        "containers.*.livenessProbe.httpGet.host",
        "containers.*.livenessProbe.httpGet.scheme",
        "containers.*.livenessProbe.httpGet.httpHeaders.[].name",
        "containers.*.livenessProbe.tcpSocket.port",
        "containers.*.livenessProbe.tcpSocket.host",
        "containers.*.readinessProbe.httpGet.port",
        "containers.*.readinessProbe.httpGet.host",
        "containers.*.readinessProbe.httpGet.scheme",
        "containers.*.readinessProbe.httpGet.httpHeaders.[].name",
        "containers.*.readinessProbe.tcpSocket.port",
        "containers.*.readinessProbe.tcpSocket.host",
        "containers.*.startupProbe.httpGet.port",
        "containers.*.startupProbe.httpGet.host",
        "containers.*.startupProbe.httpGet.scheme",
        "containers.*.startupProbe.httpGet.httpHeaders.[].name",
        "containers.*.startupProbe.tcpSocket.port",
        "containers.*.startupProbe.tcpSocket.host",
        "containers.*.securityContext.capabilities.add.[]",
        "containers.*.securityContext.capabilities.drop.[]",
        "containers.*.securityContext.seccompProfile.type",
        "containers.*.securityContext.appArmorProfile.type",
        "containers.*.securityContext.procMount",
        "resources.*.type",
        "resources.*.direction",
        "resources.*.id",
        "resources.*.class",
        "service.ports.*.protocol",
        "deploy.strategy",
        "deploy.rolling.maxSurge",
        "deploy.rolling.maxUnavailable",
        "deploy.canary.interval",
        "deploy.canary.metrics.[].name",
        "deploy.canary.metrics.[].interval",
        "deploy.canary.metrics.[].templateRef.name",
        "deploy.canary.metrics.[].templateRef.namespace",
      ]
    `);
  });

  test("every param of a built-in type has a row here", () => {
    const rows = new Set(FIELDS.map(({ name }) => name));
    const params = [...registryWith()].flatMap(([type, provisioner]) =>
      (provisioner.params ?? []).map((param) => `${type} params.${param}`),
    );
    expect(params.length).toBeGreaterThan(10);
    expect(params.filter((param) => !rows.has(param))).toEqual([]);
  });
});
