/** Hostile input: names that JavaScript objects inherit, very long texts, templates in templates. */
import { describe, expect, test } from "vitest";
import { parseLatticeService } from "#crds";
import { formatYaml, parseYaml, type KubeObject } from "#kube";
import { declaredProvisioner } from "./index.ts";
import { compiled, dataOf, mainContainer, mistakes, serviceInput } from "../../test/builders/service-input.ts";
import { compileService } from "./compile-service.ts";

const OWN_NAMES = ["constructor", "toString", "hasOwnProperty", "valueOf", "__defineGetter__"];

describe("names of JavaScript's built-in properties are ordinary names", () => {
  test("of variables", () => {
    const variables = Object.fromEntries(OWN_NAMES.map((name) => [name, name]));
    expect(dataOf(compiled(mainContainer({ variables })).find("ConfigMap"))).toEqual(variables);
  });

  test("of files, where __proto__ gets another key", () => {
    const files = Object.fromEntries([...OWN_NAMES, "__proto__"].map((name) => [`/${name}`, { content: name }]));
    const data = dataOf(compiled(mainContainer({ files })).find("ConfigMap")) ?? {};
    expect(Object.values(data).toSorted()).toEqual([...OWN_NAMES, "__proto__"].toSorted());
    expect(Object.keys(data)).toEqual(expect.arrayContaining([...OWN_NAMES, expect.stringMatching(/^__proto__-[0-9a-f]{8}$/) as string]));
  });

  test("of containers, resources, ports, labels and config", () => {
    const spec = {
      containers: {
        constructor: { image: "i:1", variables: { A: "${config.constructor}${metadata.labels.constructor}${resources.constructor.port}" } },
      },
      resources: { constructor: { type: "redis" } },
      service: { ports: { constructor: { port: 80 } } },
    };
    const configs = { c: { appliesTo: { service: "constructor" }, values: { constructor: "c" } } };
    const { find } = compiled(spec, { name: "constructor", metadata: { labels: { constructor: "l" } }, configs });
    expect(dataOf(find("ConfigMap", "constructor-env"))).toEqual({ A: "cl6379" });
    expect(find("Service")).toMatchObject({ spec: { ports: [{ name: "constructor", port: 80 }] } });
  });

  test("of params, and of outputs of a declared type", () => {
    const text = "type: own\nparams: {constructor: c}\noutputs: {constructor: '${params.constructor}', __proto__: p}";
    const declared = declaredProvisioner({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "own", labels: { "lattice.dev/provisioner": "" } },
      data: { "provisioner.yaml": text },
    } as KubeObject);
    const provisioners = declared?.ok === true ? [declared.value] : [];
    const spec = mainContainer({ variables: { A: "${resources.x.constructor}" } }, { resources: { x: { type: "own" } } });
    const compiledOrNot = provisioners.length === 0 ? undefined : dataOf(compiled(spec, { provisioners }).find("ConfigMap"));
    expect(compiledOrNot ?? declared).toEqual(provisioners.length === 0 ? { ok: false, error: expect.any(String) as string } : { A: "c" });
  });

  test("and Object.prototype is not changed", () => {
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
    expect(({} as Readonly<Record<string, unknown>>)["polluted"]).toBeUndefined();
  });
});

describe("__proto__ as a name is refused before anything is compiled", () => {
  const service = (spec: string) =>
    parseLatticeService(
      JSON.parse(
        `{"apiVersion":"lattice.dev/v1alpha1","kind":"LatticeService","metadata":{"name":"a","namespace":"b"},"spec":${spec}}`,
      ) as unknown,
    );
  const rows = [
    `{"containers":{"main":{"image":"i","variables":{"__proto__":"x"}}}}`,
    `{"containers":{"__proto__":{"image":"i"}}}`,
    `{"containers":{"main":{"image":"i"}},"resources":{"__proto__":{}}}`,
    `{"containers":{"main":{"image":"i"}},"resources":{"a":{"params":{"__proto__":{"polluted":1}}}}}`,
    `{"containers":{"main":{"image":"i"}},"service":{"ports":{"__proto__":{"port":1}}}}`,
  ];
  test.each(rows)("%s", (spec) => expect(service(spec).ok).toBe(false));
});

describe("very long texts", () => {
  test("a value is never expanded twice, so that it cannot grow", () => {
    const configs = { c: { appliesTo: { service: "api" }, values: { a: "${config.b}${config.b}", b: "${config.a}${config.a}" } } };
    expect(dataOf(compiled(mainContainer({ variables: { A: "${config.a}" } }), { configs }).find("ConfigMap"))).toEqual({
      A: "${config.b}${config.b}",
    });
  });

  test("256 variables of two thousand placeholders each are refused, and the first that exceeds the limit is reported", () => {
    const text = "${metadata.name}".repeat(2_048);
    const variables = Object.fromEntries(Array.from({ length: 256 }, (_, at) => [`V${at}`, text]));
    const around = { name: "a".repeat(63) };
    expect(mistakes(mainContainer({ variables }), around)).toEqual([
      expect.stringContaining("the templates of the service up to this one have more than 10000 placeholders together") as string,
    ]);
  });

  test("a chain of a hundred resources that read each other is resolved", () => {
    const resources = Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [
        `r${at}`,
        { type: "postgres", params: { database: at === 0 ? "end" : `\${resources.r${at - 1}.database}` } },
      ]),
    );
    const { find } = compiled(mainContainer({ variables: { A: "${resources.r99.database}" } }, { resources }));
    expect(dataOf(find("ConfigMap"))).toEqual({ A: "end" });
  });

  test("YAML aliases that multiply are refused", () => {
    const lines = [
      "a0: &a0 [x, x, x, x, x, x, x, x, x, x]",
      ...Array.from({ length: 12 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at}, `.repeat(10)}]`),
    ];
    const bomb = `type: own\noutputs: {a: b}\n${lines.join("\n")}`;
    expect(parseYaml(bomb).ok).toBe(false);
    const configMap = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "x", labels: { "lattice.dev/provisioner": "" } },
      data: { "provisioner.yaml": bomb },
    };
    expect(declaredProvisioner(configMap as KubeObject)).toMatchObject({ ok: false });
  });
});

test("unicode, control characters and texts that look like YAML are not changed", () => {
  const texts = [
    "ünï ☃ 漢字 😀",
    "\u0000\u0007\u001b[31m",
    "on",
    "no",
    "y",
    "0x10",
    "1e3",
    "null",
    "~",
    "- a",
    "a: b",
    "# no",
    "\u2028",
    "  ",
    "\n",
    "'\"`",
    "{{ .Values }}",
  ];
  const variables = Object.fromEntries(texts.map((text, at) => [`V${at}`, text]));
  const { find } = compiled(mainContainer({ variables }));
  expect(dataOf(find("ConfigMap"))).toEqual(variables);
  const again = parseYaml(formatYaml(find("ConfigMap")));
  expect(again.ok && again.value[0]).toEqual(find("ConfigMap"));
});

test("the same input gives the same bytes in any order of fields", () => {
  const spec = (reverse: boolean) => {
    const turn = <T>(entries: readonly (readonly [string, T])[]) => Object.fromEntries(reverse ? entries.toReversed() : entries);
    return {
      containers: turn([
        [
          "main",
          {
            image: "a:1",
            variables: turn([
              ["A", "a"],
              ["B", "${resources.db.password}"],
            ]),
            files: turn([
              ["/x", { content: "x" }],
              ["/y", { content: "y" }],
            ]),
          },
        ],
        [
          "side",
          {
            image: "b:1",
            volumes: turn([
              ["/v", { source: "pvc:v" }],
              ["/w", { source: "pvc:w" }],
            ]),
          },
        ],
      ]),
      resources: turn([
        ["db", { type: "postgres" }],
        ["web", { type: "route", params: { host: "a.b" } }],
        ["alt", { type: "route", params: { host: "c.d" } }],
      ]),
      service: {
        ports: turn([
          ["http", { port: 80 }],
          ["admin", { port: 81 }],
        ]),
      },
    };
  };
  const bytes = (reverse: boolean) => {
    const result = compileService(
      serviceInput(spec(reverse), { secrets: { "postgres/db/password": "x" }, grants: { hosts: ["a.b", "c.d"] } }),
    );
    return result.ok ? JSON.stringify([result.value.objects, [...result.value.resolvedDependencies], [...result.value.routes]]) : "";
  };
  expect(bytes(true)).toBe(bytes(false));
  expect(bytes(false)).not.toBe("");
});
