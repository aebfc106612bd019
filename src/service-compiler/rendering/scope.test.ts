/** The values of names in templates: metadata, config, secrets, cluster, environment. */
import { describe, expect, test } from "vitest";
import { compiled, dataOf, mainContainer, mistakes, type InputOptions } from "../../../test/builders/service-input.ts";

const value = (text: string, around: InputOptions = {}, spec: Readonly<Record<string, unknown>> = {}) => {
  const { find } = compiled(mainContainer({ variables: { V: text } }, spec), around);
  return dataOf(find("ConfigMap", "api-env"))?.["V"] ?? `secret ${dataOf(find("Secret", "api-secrets"))?.["V"]}`;
};
const problem = (text: string, around: InputOptions = {}) =>
  mistakes(mainContainer({ variables: { V: text } }), around).map((line) => line.replace(/^.*variable 'V': /, ""));

describe("names", () => {
  const metadata = { labels: { team: "shop", "app.kubernetes.io/part-of": "store" }, annotations: { note: "hello" } };
  const cluster = { name: "east", provider: "aws", region: "eu" };
  const rows: readonly { given: string; want: string }[] = [
    { given: "${metadata.name}/${metadata.namespace}", want: "api/prod" },
    { given: "${metadata.labels.team} ${metadata.annotations.note}", want: "shop hello" },
    { given: "${metadata.labels.app\\.kubernetes\\.io/part-of}", want: "store" },
    { given: "${cluster.name} ${cluster.domain} ${cluster.provider} ${cluster.region}", want: "east cluster.local aws eu" },
    { given: "${environment.name} ${environment.namespace} ${environment.ingressDomain}", want: "prod prod shop.test" },
    { given: "${env.name} ${env.namespace}", want: "prod prod" },
  ];
  test.each(rows)("$given", ({ given, want }) => {
    expect(value(given, { metadata, settings: { cluster, ingressDomain: "shop.test" } }, { environment: "prod" })).toBe(want);
  });

  test("without an environment, its name is the namespace", () =>
    expect(value("${environment.name}", { namespace: "team-a" })).toBe("team-a"));
  test("the environment's domain takes precedence over the cluster's", () => {
    const around = { environment: { ingressDomain: "a.test" }, settings: { ingressDomain: "b.test" } };
    expect(value("${environment.ingressDomain}", around)).toBe("a.test");
  });

  const unset: readonly { given: string; want: string }[] = [
    {
      given: "${cluster.name}",
      want: "cluster.name is not set; give it with the flags --cluster-name, --cluster-provider and --cluster-region, or in the operator's settings",
    },
    {
      given: "${environment.ingressDomain}",
      want: "environment.ingressDomain is not set; set ingressDomain in the LatticeEnvironment, or --ingress-domain",
    },
    { given: "${metadata.nmae}", want: `metadata has no 'nmae'; did you mean "name"?` },
    { given: "${metadata.labels}", want: "metadata has no 'labels'" },
  ];
  test.each(unset)("$given is an error: $want", ({ given, want }) => expect(problem(given)).toEqual([`${given}: ${want}`]));
});

describe("config", () => {
  const forAll = (appliesTo: object, values: Readonly<Record<string, string>>) => ({ appliesTo, values });
  const around: InputOptions = {
    environment: { defaults: { config: { a: "default", b: "default", c: "default", d: "default", e: "default" } } },
    configs: {
      z1: forAll({ environment: "prod" }, { b: "environment", c: "environment", d: "environment", e: "environment" }),
      y1: forAll({ service: "api" }, { c: "service", d: "service", e: "service" }),
      y2: forAll({ service: "api" }, { e: "service, later name" }),
      a1: forAll({ cluster: "east" }, { d: "cluster" }),
      other: forAll({ service: "else" }, { a: "no" }),
      others: forAll({ cluster: "west" }, { a: "no" }),
      nowhere: forAll({ environment: "dev" }, { a: "no" }),
    },
    settings: { cluster: { name: "east" } },
  };
  test("environment's defaults < environment < service < cluster, then by name", () => {
    const given = "${config.a}|${config.b}|${config.c}|${config.d}|${service.config.e}";
    expect(value(given, around, { environment: "prod" })).toBe("default|environment|service|cluster|service, later name");
  });
  test("keys may have dots, and names of JavaScript's built-in properties", () => {
    const configs = { c: forAll({ service: "api" }, { "redis.host": "r", constructor: "c", toString: "t" }) };
    expect(value("${config.redis.host} ${config.constructor} ${config.toString}", { configs })).toBe("r c t");
  });
  test("a missing key is an error, also for names of built-in properties", () => {
    for (const name of ["constructor", "__proto__", "hasOwnProperty"]) {
      expect(problem(`\${config.${name}}`)).toEqual([`\${config.${name}}: config has no '${name}'`]);
    }
  });
  test("an expanded value is not expanded again", () => {
    const configs = { c: forAll({ service: "api" }, { t: "${metadata.name}" }) };
    expect(value("${config.t}", { configs })).toBe("${metadata.name}");
  });
});

describe("secrets", () => {
  const bind = (name: string, keys?: Readonly<Record<string, string>>) => ({
    secretRef: { name },
    ...(keys === undefined ? {} : { keys }),
  });
  const around: InputOptions = {
    environment: {
      defaults: {
        secretBindings: [
          { name: "a", ...bind("env-a") },
          { name: "b", ...bind("env-b") },
          { name: "c", ...bind("env-c") },
        ],
      },
    },
    bindings: {
      zz: { bindings: { b: bind("all-b"), c: bind("all-c") } },
      aa: { service: "api", bindings: { c: bind("own-c", { key: "inner.key" }) } },
      others: { service: "else", bindings: { c: bind("no") } },
    },
    secrets: { "env-a/k": "A", "all-b/k": "B", "own-c/inner.key": "C" },
  };
  test("environment's defaults < all of the namespace < this service", () => {
    expect(value("${secrets.a.k}${secrets.b.k}${secrets.c.key}", around)).toBe("secret ABC");
  });
  const wrong: readonly { given: string; want: string }[] = [
    { given: "${secrets.nowhere.k}", want: "secret 'nowhere' is not bound; bind it in a LatticeSecretBindings of this namespace" },
    { given: "${secrets.constructor.k}", want: "secret 'constructor' is not bound; bind it in a LatticeSecretBindings of this namespace" },
    { given: "${secrets.a}", want: "names secret 'a' without a key" },
    { given: "${secrets.c.kye}", want: `secret 'c' has no key 'kye'; did you mean "key"?` },
    { given: "${secrets.c.constructor}", want: "secret 'c' has no key 'constructor'" },
    { given: "${secrets.a.other}", want: "there is no secret 'env-a/other'" },
  ];
  test.each(wrong)("$given: $want", ({ given, want }) => expect(problem(given, around)).toEqual([`${given}: ${want}`]));
});

test("a '${' outside of template fields is not expanded, and a warning has its path", () => {
  const spec = {
    containers: {
      main: {
        image: "img:${TAG}",
        command: ["sh", "-c", "echo ${HOME}"],
        args: ["${x}"],
        readinessProbe: { exec: { command: ["test", "${y}"] } },
        volumes: { "/data": { source: "pvc:d", path: "${sub}" } },
        variables: { A: "$${fine}" },
        files: { "/f": { content: "${fine}", noExpand: true } },
      },
    },
    resources: { db: { type: "postgres", metadata: { note: "${fine}" } } },
    deploy: { strategy: "canary", canary: { metrics: [{ name: "${metric}" }] } },
  };
  const rest = "has a '${', which is not expanded: only variables, files, volumes and params are templates";
  expect(compiled(spec).warnings).toEqual([
    `spec.containers.main.image: ${rest}`,
    `spec.containers.main.command[2]: ${rest}`,
    `spec.containers.main.args[0]: ${rest}`,
    `spec.containers.main.readinessProbe.exec.command[1]: ${rest}`,
    `spec.containers.main.volumes["/data"].path: ${rest}`,
    `spec.deploy.canary.metrics[0].name: ${rest}`,
  ]);
});
