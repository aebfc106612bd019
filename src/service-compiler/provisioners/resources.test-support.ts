/** Resources to resolve, and their context. Only for tests. */
import { grantsOf } from "../grants/index.ts";
import { err, ok, reveal, type Result } from "#base";
import { fields, plain, renderText, scopeOf, secret, withNamespace, type Rendered, type TemplateProblem } from "../templates/index.ts";
import type { ProvisionerContext } from "./provisioner.ts";
import { registryWith, type Registry } from "./registry.ts";
import { resolveResources, type ResourceEntry } from "./resolve.ts";

export const surroundings: ProvisionerContext = {
  namespace: "prod",
  grants: { ...grantsOf(undefined), hosts: ["shop.test"] },
  routeHolder: () => undefined,
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
      ["prod/outside-postgres", { endpoints: new Map([["default", "tcp://db.example.com:6432"]]) }],
      ["prod/odd-postgres", { endpoints: new Map([["default", "tcp://db.example.com"]]) }],
      ["prod/odd-redis", { endpoints: new Map([["default", "tcp://cache.example.com"]]) }],
      ["prod/outside-s3", { endpoints: new Map([["default", "https://s3.eu-central-1.amazonaws.com"]]) }],
      ["prod/http", { endpoints: new Map([["a", "http://[fd00::1]/x"]]) }],
    ]).get(`${namespace}/${name}`),
  readConfig: (key) => (key === "GREETING" ? ok(plain("hello")) : err(`config has no '${key}'`)),
  readSecret: (path) =>
    new Map<string, Result<ReturnType<typeof secret>, string>>([
      ["postgres/main-db/password", ok(secret("p@ss"))],
      ["redis/cache/password", ok(secret("r3d"))],
      ["mysql/shop/password", ok(secret("m#"))],
      ["mongodb/shop/password", ok(secret("m0"))],
      ["amqp/shop/password", ok(secret("q"))],
      ["s3/shop/access_key_id", ok(secret("AK"))],
      ["s3/shop/secret_key", ok(secret("SK"))],
      ["postgres/outside/password", ok(secret("o"))],
      ["s3/files/key", ok(secret("k3y"))],
    ]).get(path) ?? err(`there is no secret '${path}'`),
};

export function entry(name: string, given: Partial<Omit<ResourceEntry, "name" | "address">> & { readonly id?: string }): ResourceEntry {
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
/** Ports of the service whose resources are resolved. */
const OWN_PORTS = new Map([
  ["http", 80],
  ["admin", 9000],
]);

const secrets = () => ok({ value: secret("s3cret"), source: "secrets" });

export function resolved(entries: readonly ResourceEntry[], registry: Registry = registryWith()) {
  const scope = scopeOf([
    ["config", config],
    ["secrets", secrets],
  ]);
  const made = resolveResources({ entries, registry, surroundings, scope, ownPorts: OWN_PORTS });
  const read = (text: string) => shown(renderText(text, withNamespace(scope, "resources", made.namespace)));
  return { read, namespace: made.namespace, finish: made.finish };
}

function shown(rendered: Result<Rendered, readonly TemplateProblem[]>): string {
  if (!rendered.ok) return `error: ${rendered.error.map(({ message }) => message).join("; ")}`;
  const { value } = rendered.value;
  return value.kind === "plain" ? value.text : value.kind === "sensitive" ? `secret: ${reveal(value.text)}` : "external";
}
