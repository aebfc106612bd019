/** Common mistakes in templates, with their exact messages: the place, what is wrong, and how to fix it. */
import { describe, expect, test } from "vitest";
import { mainContainer, mistakes, type InputOptions } from "../../../test/builders/service-input.ts";

const around: InputOptions = {
  services: { "prod/backend": { http: 8080 } },
  configs: { c: { appliesTo: { service: "api" }, values: { "log.level": "info" } } },
  bindings: {
    b: {
      bindings: {
        stripe: { secretRef: { name: "stripe" } },
        vault: { external: { storeRef: { name: "vault" }, key: "app" } },
      },
    },
  },
  secrets: { "stripe/key": "sk_live" },
};
const resources = {
  backend: {},
  caller: { direction: "inbound" },
  db: { type: "postgres" },
  cache: { type: "redis", params: { auth: false } },
};

describe("in a variable", () => {
  const rows: readonly { given: string; want: string }[] = [
    { given: "${", want: "'${' has no '}'; close it, or write '$${' for a literal '${'" },
    { given: "a${b", want: "'${' has no '}'; close it, or write '$${' for a literal '${' (line 1, column 2)" },
    { given: "${}", want: "'${}' names nothing; write what to fill in, such as ${metadata.name}" },
    { given: "${ metadata.name}", want: "'${ metadata.name}' has a space inside; write the path without spaces" },
    { given: "${metadata\n.name}", want: "'${metadata\n.name}' has a space inside; write the path without spaces" },
    { given: "${.}", want: "'${.}' has an empty name between its dots" },
    { given: "${metadata.}", want: "'${metadata.}' has an empty name between its dots" },
    { given: "${metadata..name}", want: "'${metadata..name}' has an empty name between its dots" },
    { given: "${${metadata.name}}", want: "'${${metadata.name}' has a '${' inside; a placeholder cannot contain another" },
    {
      given: "${meta.name}",
      want: "${meta.name}: 'meta' is not a template namespace; there are metadata, config, secrets, cluster, environment, resources",
    },
    {
      given: "${resource.db.host}",
      want: `\${resource.db.host}: 'resource' is not a template namespace; did you mean "resources"?; there are metadata, config, secrets, cluster, environment, resources`,
    },
    {
      given: "${__proto__.polluted}",
      want: "${__proto__.polluted}: '__proto__' is not a template namespace; there are metadata, config, secrets, cluster, environment, resources",
    },
    { given: "${metadata}", want: "${metadata}: 'metadata' names a template namespace without a value in it" },
    { given: "${service.config}", want: "${service.config}: 'service.config' names a template namespace without a value in it" },
    { given: "${metadata.nam}", want: `\${metadata.nam}: metadata has no 'nam'; did you mean "name"?` },
    { given: "${metadata.labels.team}", want: "${metadata.labels.team}: metadata has no 'labels.team'" },
    { given: "${config.log.levle}", want: `\${config.log.levle}: config has no 'log.levle'; did you mean "log.level"?` },
    { given: "${environment.nme}", want: `\${environment.nme}: environment has no 'nme'; did you mean "name"?` },
    {
      given: "${cluster.region}",
      want: "${cluster.region}: cluster.region is not set; give it with the flags --cluster-name, --cluster-provider and --cluster-region, or in the operator's settings",
    },
    {
      given: "${secrets.strip.key}",
      want: `\${secrets.strip.key}: secret 'strip' is not bound; did you mean "stripe"?; bind it in a LatticeSecretBindings of this namespace`,
    },
    { given: "${secrets.stripe}", want: "${secrets.stripe}: names secret 'stripe' without a key" },
    { given: "${secrets.stripe.token}", want: "${secrets.stripe.token}: there is no secret 'stripe/token'" },
    {
      given: "${secrets.stripe.key}${secrets.vault.key}",
      want: "this mixes a value of External Secrets with one from a Secret; give each a variable or file of its own",
    },
    { given: "${resources.backen.url}", want: `\${resources.backen.url}: resource 'backen' is not declared; did you mean "backend"?` },
    { given: "${resources.toString.url}", want: "${resources.toString.url}: resource 'toString' is not declared" },
    {
      given: "${resources.caller.url}",
      want: "${resources.caller.url}: resource 'caller' is inbound: it calls this service, and has no outputs",
    },
    {
      given: "${resources.backend}",
      want: "${resources.backend}: names resource 'backend' without an output; there are host, port, url, name",
    },
    {
      given: "${resources.backend.uri}",
      want: `\${resources.backend.uri}: service 'backend' has no output 'uri'; did you mean "url"?; there are host, port, url, name`,
    },
    {
      given: "${resources.cache.password}",
      want: "${resources.cache.password}: redis 'cache' has no output 'password'; there are host, port, url",
    },
    {
      given: "${resources.db.constructor}",
      want: "${resources.db.constructor}: postgres 'db' has no output 'constructor'; there are host, port, name, database, url, username, password, connection_string",
    },
  ];
  test.each(rows)("$given", ({ given, want }) => {
    expect(mistakes(mainContainer({ variables: { V: given } }, { resources }), around)).toEqual([
      `spec.containers.main.variables.V: template error in container 'main' variable 'V': ${want}`,
    ]);
  });

  test("a placeholder that is too long", () => {
    const given = `\${${"a".repeat(1_025)}}`;
    expect(mistakes(mainContainer({ variables: { V: given } }))).toEqual([
      "spec.containers.main.variables.V: template error in container 'main' variable 'V': a placeholder of 1025 characters is too long; is a '}' missing before it?",
    ]);
  });
});

describe("in a file, with line and column", () => {
  const rows: readonly { given: string; want: readonly string[] }[] = [
    { given: "a\n b ${metadata.x}", want: ["${metadata.x}: metadata has no 'x' (line 2, column 4)"] },
    {
      given: "${metadata.x}\n${metadata.y}\n",
      want: ["${metadata.x}: metadata has no 'x'", "${metadata.y}: metadata has no 'y' (line 2, column 1)"],
    },
    { given: "x\r\n\r\n  ${", want: ["'${' has no '}'; close it, or write '$${' for a literal '${' (line 3, column 3)"] },
  ];
  test.each(rows)("$given", ({ given, want }) => {
    const wanted = want.map((text) => `spec.containers.main.files["/f"]: template error in container 'main' file '/f': ${text}`);
    expect(mistakes(mainContainer({ files: { "/f": { content: given } } }))).toEqual(wanted);
  });
});

test("all mistakes of a service are reported at once, and those of a resource only once", () => {
  const spec = {
    containers: {
      a: { image: "i:1", variables: { X: "${metadata.x}", Y: "${resources.gone.url}", Z: "${resources.gone.host}" } },
      b: {
        image: "i:1",
        files: { "/f": { content: "${nothing.at.all}" }, "/g": { binaryContent: "AAA" } },
        volumes: { "/v": { source: "${resources.gone.name}" }, "/w": { source: "${metadata.y}" } },
      },
    },
    resources: { gone: {}, odd: { type: "odd" }, db: { type: "postgres", params: { port: "x" } } },
  };
  expect(mistakes(spec).map((line) => line.split("\n")[0])).toEqual([
    "spec.containers.a.variables.X: template error in container 'a' variable 'X': ${metadata.x}: metadata has no 'x'",
    "spec.containers.b.files[\"/f\"]: template error in container 'b' file '/f': ${nothing.at.all}: 'nothing' is not a template namespace; there are metadata, config, secrets, cluster, environment, resources",
    `spec.containers.b.files["/g"]: invalid file mount at '/g': binaryContent is not valid base64`,
    `spec.containers.b.volumes["/w"]: invalid volume mount at '/w': \${metadata.y}: metadata has no 'y'`,
    "spec.resources.gone: resource 'gone' of type 'service' not found",
    `spec.resources.db: resource 'db' provisioner error: params.port is "x"; it must be a port from 1 to 65535`,
    "spec.resources.odd: no provisioner registered for resource type 'odd'",
  ]);
});
