/** The public specification of Score v1b1: each test has a rule of the specification and its translation. */
import { describe, expect, it } from "vitest";
import { err, expectOk, ok } from "#base";
import { parseYaml, type Json } from "#kube";
import { loadYaml } from "../../test/builders/world.ts";
import { compileAll } from "./compile-all.ts";
import { loadWorld, type WorldOptions } from "./documents.ts";
import type { ScoreImages } from "./score/images.ts";
import { isScore, parseScore, type ScoreOptions } from "./score.ts";

const HEAD = "apiVersion: score.dev/v1b1\nmetadata: {name: web}\n";

function document(text: string): Json {
  return expectOk(parseYaml(text))[0] ?? null;
}

const read = (text: string, options?: ScoreOptions) => parseScore(document(text), options);
const container = (fields: string) => `${HEAD}containers:\n  main:\n    image: nginx:1.29\n${fields.replace(/^(?=.)/gm, "    ")}\n`;

function specOf(text: string, options?: ScoreOptions) {
  return expectOk(read(text, options)).spec;
}

function mistakes(text: string, options?: ScoreOptions): readonly string[] {
  const result = read(text, options);
  return result.ok ? [] : result.error.map(({ kind, path, message }) => `${kind} ${path}: ${message}`);
}

describe("a Score file", () => {
  it("is recognized by its apiVersion, of any version", () => {
    expect(
      [{ apiVersion: "score.dev/v1b1" }, { apiVersion: "score.dev/v2" }, { apiVersion: "v1" }, {}, null].map((one) => isScore(one as Json)),
    ).toEqual([true, true, false, false, false]);
    expect(mistakes("apiVersion: score.dev/v2\n")).toEqual([
      "invalid apiVersion: must be score.dev/v1b1, which is the version that Lattice reads",
    ]);
  });
});

describe("a workload", () => {
  it("becomes a LatticeService field by field", () => {
    const service = expectOk(
      read(`apiVersion: score.dev/v1b1
metadata:
  name: web
  team: shop
  annotations: {example.com/owner: me, lattice.dev/environment: prod}
service:
  ports:
    http: {port: 80, targetPort: 8080}
    dns: {port: 53, protocol: UDP}
containers:
  main:
    image: nginx:1.29
    command: ["/bin/web"]
    args: ["--port", "8080"]
    variables: {NAME: "\${metadata.name}", TEAM: "\${metadata.team}"}
    resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 1Gi}}
    livenessProbe: {httpGet: {path: /live, port: 8080, scheme: HTTP, httpHeaders: [{name: X-Probe, value: "1"}]}}
    readinessProbe: {exec: {command: [check]}, httpGet: {path: /ready, port: 8080}}
resources:
  db: {type: postgres, class: default, id: main-db, params: {database: shop}, metadata: {note: kept}}
  cache: {type: redis}
  api: {type: service}
  caller: {type: service, metadata: {annotations: {lattice.dev/direction: inbound}}}
`),
    );
    expect(service.metadata).toEqual({ name: "web", annotations: { "example.com/owner": "me", "lattice.dev/environment": "prod" } });
    expect(service.spec).toMatchObject({
      environment: "prod",
      service: { ports: { http: { port: 80, targetPort: 8080, protocol: "TCP" }, dns: { port: 53, protocol: "UDP" } } },
      containers: {
        main: {
          image: "nginx:1.29",
          command: ["/bin/web"],
          args: ["--port", "8080"],
          variables: { NAME: "${metadata.name}", TEAM: "shop" },
          resources: { requests: { cpu: "100m", memory: "64Mi" }, limits: { memory: "1Gi" } },
          livenessProbe: { httpGet: { path: "/live", port: 8080, scheme: "HTTP", httpHeaders: [{ name: "X-Probe", value: "1" }] } },
          // with both handlers the specification prefers exec
          readinessProbe: { exec: { command: ["check"] } },
        },
      },
      resources: {
        db: { type: "postgres", id: "main-db", direction: "outbound", params: { database: "shop" }, metadata: { note: "kept" } },
        // a resource without an id belongs to the workload; a service is another workload with its own name
        cache: { type: "redis", id: "web-cache" },
        api: { type: "service" },
        caller: { type: "service", direction: "inbound" },
      },
    });
    expect(service.spec.resources?.["db"]?.class).toBeUndefined();
    expect(service.spec.resources?.["api"]?.id).toBeUndefined();
    expect(service.spec.containers?.["main"]?.readinessProbe?.httpGet).toBeUndefined();
  });

  it("is compiled like any other service", () => {
    const { world, problems } = loadYaml(
      `${container('variables: {HOST: "https://${resources.dns.host}/"}\nvolumes: {/data: {source: "${resources.data}", path: sub}}')}resources: {dns: {type: dns}, data: {type: volume, params: {size: 1Gi}}, route: {type: route, params: {host: "\${resources.dns.host}", path: /}}}\nservice: {ports: {web: {port: 80}}}\n`,
      { settings: { ingressDomain: "example.com" } },
    );
    const { objects, errors } = compileAll(world);
    expect({ problems, errors: [...errors] }).toEqual({ problems: [], errors: [] });
    expect(objects).toContainEqual(expect.objectContaining({ kind: "ConfigMap", data: { HOST: "https://web-dns.example.com/" } }));
    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(
      expect.arrayContaining(["PersistentVolumeClaim web-data", "HTTPRoute web-route", "Deployment web"]),
    );
  });
});

describe("files and volumes", () => {
  it.each([
    {
      name: "a map",
      given: container("files:\n  /etc/a: {content: text, mode: '0600'}\nvolumes:\n  /data: {source: claim, readOnly: true}"),
    },
    {
      name: "the deprecated lists",
      given: container(
        "files:\n  - {target: /etc/a, content: [te, xt], mode: '0600'}\nvolumes:\n  - {target: /data, source: claim, read_only: true}",
      ),
    },
  ])("may be $name", ({ name, given }) => {
    const main = specOf(given).containers?.["main"];
    expect(main?.files).toMatchObject({ "/etc/a": { content: name === "a map" ? "text" : "te\nxt", mode: "0600" } });
    expect(main?.volumes).toEqual({ "/data": { source: "claim", readOnly: true } });
  });

  it("with binaryContent stay bytes, with noExpand are not expanded", () => {
    const main = specOf(container("files:\n  /a: {binaryContent: ADBgwpA=}\n  /b: {content: '$$ ${x}', noExpand: true}")).containers?.[
      "main"
    ];
    expect(main?.files).toMatchObject({ "/a": { binaryContent: "ADBgwpA=" }, "/b": { content: "$$ ${x}", noExpand: true } });
  });

  it("with a source are read, as text with placeholders or as bytes", () => {
    const files = new Map([
      ["text.conf", new TextEncoder().encode("name=${metadata.name} cost=5$$")],
      ["image.png", new Uint8Array([0xff, 0x00])],
    ]);
    const readFile = (source: string) => (files.has(source) ? ok(files.get(source) ?? new Uint8Array()) : err("there is no such file"));
    const given = container("files:\n  /a: {source: text.conf}\n  /b: {source: image.png}");
    expect(specOf(given, { readFile }).containers?.["main"]?.files).toMatchObject({
      "/a": { content: "name=${metadata.name} cost=5$" },
      "/b": { binaryContent: "/wA=" },
    });
    expect(mistakes(container("files:\n  /a: {source: gone}"), { readFile })).toEqual([
      'invalid containers.main.files["/a"].source: there is no such file',
    ]);
    expect(mistakes(container("files:\n  /a: {source: gone}"))).toEqual([
      'invalid containers.main.files["/a"].source: cannot be read here: only the command line has files',
    ]);
  });

  it("a volume's source may be a whole resource, and its path may begin with a slash", () => {
    const main = specOf(
      `${container("volumes:\n  /data: {source: '${resources.data}', path: /sub}")}resources: {data: {type: volume}}\n`,
    ).containers;
    expect(main?.["main"]?.volumes).toEqual({ "/data": { source: "${resources.data.ref}", path: "sub" } });
  });
});

describe("placeholders", () => {
  it.each([
    {
      name: "outputs and metadata are kept",
      given: "${resources.db.host} ${metadata.name}",
      want: "${resources.db.host} ${metadata.name}",
    },
    { name: "annotations are kept", given: "${metadata.annotations.a}", want: "${metadata.annotations.a}" },
    { name: "other metadata is filled in", given: "${metadata.team}/${metadata.nested.deep}", want: 'shop/{"a":1}' },
    { name: "unknown metadata is reported by the compiler", given: "${metadata.nothing}", want: "${metadata.nothing}" },
    { name: "an escaped placeholder stays escaped", given: "$${metadata.name}", want: "$${metadata.name}" },
    { name: "two dollars are one literal dollar", given: "5$$ and $$", want: "5$ and $" },
    { name: "a single dollar is literal", given: "5$ $x", want: "5$ $x" },
    { name: "a placeholder that is never closed is text", given: "a ${b", want: "a $${b" },
    { name: "two dollars before a brace are a dollar and a brace", given: "$${b", want: "$${b" },
    { name: "a metadata value that looks like a placeholder is not expanded", given: "${metadata.odd}", want: "$${x}" },
    { name: "an escaped dot belongs to the name", given: "${metadata.a\\.b}", want: "dotted" },
  ])("$name", ({ given, want }) => {
    const metadata = { name: "web", team: "shop", nested: { deep: { a: 1 } }, odd: "${x}", "a.b": "dotted" };
    const value = { apiVersion: "score.dev/v1b1", metadata, containers: { main: { image: "x", variables: { A: given } } } };
    expect(expectOk(parseScore(value)).spec.containers?.["main"]?.variables).toEqual({ A: want });
  });

  it("are found in params of any depth", () => {
    const spec = specOf(
      `${container("")}resources: {db: {type: postgres, params: {a: ["$\${x} $$", 1], b: {c: "\${metadata.name}"}, d: null}}}\n`,
    );
    expect(spec.resources?.["db"]?.params).toEqual({ a: ["$${x} $", 1], b: { c: "${metadata.name}" }, d: null });
  });

  it("directly after a dollar cannot be expressed in Lattice", () => {
    const params = "resources: {db: {type: postgres, params: {a: ['$$${metadata.name}']}}}\n";
    expect(mistakes(`${container("variables: {A: '$$${metadata.name}'}")}${params}`)).toEqual([
      'unsupported containers.main.variables.A: ${metadata.name} directly after a "$" cannot be expressed in Lattice',
      'unsupported resources.db.params: ${metadata.name} directly after a "$" cannot be expressed in Lattice',
    ]);
  });
});

describe("an image that a build fills in", () => {
  const file = (name: string) => `apiVersion: score.dev/v1b1\nmetadata: {name: ${name}}\ncontainers: {main: {image: .}}\n`;
  const load = (images: ScoreImages, ...names: readonly string[]) => {
    const { world, problems } = loadYaml(names.map(file), { images });
    return {
      images: world.services().map((key) => world.service(key)?.spec.containers?.["main"]?.image),
      problems: problems.map(({ from, path, message }) => `${from} ${path}: ${message}`),
    };
  };

  it("is set for the only container that needs one, or by name", () => {
    expect(load({ only: "web:1" }, "web")).toEqual({ images: ["web:1"], problems: [] });
    const byName = new Map([
      ["web", "web:1"],
      ["api/main", "api:2"],
    ]);
    expect(load({ byName }, "web", "api")).toEqual({ images: ["api:2", "web:1"], problems: [] });
  });

  it("without a name is refused when several containers need one", () => {
    expect(load({ only: "web:1" }, "web", "api").problems).toEqual([
      "--image : web/main and api/main need an image; write NAME=IMAGE for each",
    ]);
  });

  it("for a container that needs none is refused, with the names of those that do", () => {
    expect(load({ byName: new Map([["wbe", "web:1"], ["web", "web:2"]]) }, "web").problems).toEqual([
      '--image : wbe=web:1 matches no container with image "."; did you mean "web"?',
    ]); // prettier-ignore
    expect(load({ only: "web:1" }).problems).toEqual(['--image : web:1 matches no container with image "."']);
  });
});

describe("the environment of a Score file that names none", () => {
  const environment = (name: string) => `apiVersion: lattice.dev/v1alpha1\nkind: LatticeEnvironment\nmetadata: {name: ${name}}\nspec: {}\n`;
  const environmentOf = (options: WorldOptions, ...files: readonly (readonly [from: string, text: string])[]) => {
    const all = [["shop/web.yaml", container("")] as const, ...files].map(([from, text]) => ({ from, value: document(text) }));
    const { world } = loadWorld(all, options);
    return world.services().map((key) => `${key} ${world.service(key)?.spec.environment ?? "none"}`);
  };

  it("is the only one that is declared in its folder", () => {
    expect(environmentOf({}, ["shop/env.yaml (document 2)", environment("shop")])).toEqual(["shop/web shop"]);
    expect(environmentOf({}, ["env.yaml", environment("shop")])).toEqual(["default/web none"]);
    expect(environmentOf({}, ["shop/a.yaml", environment("one")], ["shop/b.yaml", environment("two")])).toEqual(["default/web none"]);
  });

  it("is the one of the options, if set", () => {
    expect(environmentOf({ environment: "test" }, ["shop/env.yaml", environment("shop")])).toEqual(["test/web test"]);
  });
});

describe("a volume of the workload's own", () => {
  it("is a created PersistentVolumeClaim, of 1Gi unless it has a size; other claims must exist", () => {
    const size = (fields: string) => specOf(`${container("")}resources: {data: {type: volume${fields}}}\n`).resources?.["data"]?.params;
    expect(size("")).toEqual({ size: "1Gi" });
    expect(size(", class: default, params: {size: 5Gi}")).toEqual({ size: "5Gi" });
    expect(size(", id: shared")).toEqual({});
    expect(size(", class: emptydir")).toEqual({});
  });
});

describe("the order of containers", () => {
  const two = (before: string, probe = "") =>
    `${HEAD}containers:\n  first: {image: a, ${probe}before: {main: {ready: ${before}}}}\n  main: {image: b}\n`;
  const probe = "readinessProbe: {exec: {command: [up]}}, ";

  it("complete: it runs to completion", () => {
    expect(specOf(two("complete")).containers?.["first"]).toMatchObject({ before: ["main"] });
    expect(mistakes(two("complete", probe))).toEqual([
      "unsupported containers.first.before.main.ready: a container that runs to its end cannot have probes: Kubernetes refuses them on init containers",
    ]);
  });

  it("healthy: the other containers wait for its probe", () => {
    expect(specOf(two("healthy", probe)).containers?.["first"]).toMatchObject({
      before: ["main"],
      startupProbe: { exec: { command: ["up"] } },
    });
    expect(specOf(two("started", probe)).containers?.["first"]?.startupProbe).toBeUndefined();
  });

  it.each(["started", "healthy"])("%s without a probe cannot be distinguished from complete", (ready) => {
    expect(mistakes(two(ready))).toEqual([expect.stringContaining(`${ready} needs a readinessProbe or a livenessProbe`)]);
  });
});

describe("mistakes", () => {
  it.each([
    { name: "no metadata", given: "apiVersion: score.dev/v1b1\ncontainers: {main: {image: a}}\n", want: ["invalid metadata: is required"] },
    { name: "no containers", given: `${HEAD}containers: {}\n`, want: ["invalid containers: must have at least one container"] },
    {
      name: "an unknown field, with a suggestion",
      given: container("variabels: {A: b}"),
      want: ['invalid containers.main.variabels: is not a field of Score v1b1; did you mean "variables"?'],
    },
    {
      name: "unknown fields without a similar known one",
      given: `${container("resources: {requests: {gpu: '1'}}")}x-extra: 1\n`,
      want: [
        "invalid containers.main.resources.requests.gpu: is not a field of Score v1b1",
        "invalid x-extra: is not a field of Score v1b1",
      ],
    },
    {
      name: "a wrong type",
      given: container("variables: {A: 1}"),
      want: ["invalid containers.main.variables.A: must be a text, and is a number"],
    },
    { name: "an empty field", given: container("command:"), want: ["invalid containers.main.command: must be a list, and is empty"] },
    {
      name: "a list instead of a map",
      given: container("variables: [a]"),
      want: ["invalid containers.main.variables: must be a map, and is a list"],
    },
    {
      name: "a probe without a handler",
      given: container("livenessProbe: {}"),
      want: ["invalid containers.main.livenessProbe: needs httpGet or exec"],
    },
    {
      name: "a value that is not one of the allowed values",
      given: `${container("")}service: {ports: {web: {port: 80, protocol: SCTP}}}\n`,
      want: ["invalid service.ports.web.protocol: must be TCP or UDP"],
    },
    {
      name: "an illegal name",
      given: `${container("")}resources: {a_b: {type: dns}}\n`,
      want: [expect.stringMatching(/^invalid resources\.a_b: must be 2 to 63/)],
    },
    {
      name: "a file in a list without a target",
      given: container("files: [{content: a}, {target: /a, content: a}, {target: /a, content: b}]"),
      want: [
        "invalid containers.main.files[0].target: is required in a list; better, write a map by path",
        "invalid containers.main.files[2].target: is listed twice: /a",
      ],
    },
    {
      name: "an image that a build fills in",
      given: `${HEAD}containers: {main: {image: "."}}\n`,
      want: ['unsupported containers.main.image: "." is filled in by a build; give it with --image web=IMAGE, or write the image here'],
    },
    {
      name: "a stricter rule of Lattice, with the path in the Score file",
      given: `${container("variables: {'a b': c}\nfiles: {relative: {content: x}}")}service: {ports: {a-name-that-is-too-long: {port: 80}}}\n`,
      want: [
        expect.stringMatching(/^unsupported containers\.main\.variables/),
        expect.stringMatching(/^unsupported containers\.main\.files/),
        expect.stringMatching(/^unsupported service\.ports/),
      ],
    },
    {
      name: "a type in capitals",
      given: `${container("")}resources: {one: {type: Resource-One}}\n`,
      want: ["unsupported resources.one.type: must be in kebab-case, such as external-service"],
    },
    {
      name: "containers that are not a map",
      given: `${HEAD}containers: [a]\n`,
      want: ["invalid containers: must be a map, and is a list"],
    },
    {
      name: "a container that is not a map",
      given: `${HEAD}containers: {main: nginx}\n`,
      want: ["invalid containers.main: must be a map, and is a text"],
    },
  ])("$name", ({ given, want }) => {
    expect(mistakes(given)).toEqual(want);
  });
});

it("at most a hundred mistakes of one file are listed", () => {
  const unknown = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`contianers${at}`, 1]));
  const parsed = parseScore({ apiVersion: "score.dev/v1b1", metadata: { name: "web" }, containers: { main: { image: "i" } }, ...unknown });
  expect(parsed.ok ? [] : [parsed.error.length, parsed.error.at(-1)?.message]).toEqual([
    101,
    "further mistakes are not listed; correct these first",
  ]);
});
