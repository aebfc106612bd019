/** Docker Compose files as LatticeServices: what is converted, and that a notice reports everything else. */
import { describe, expect, it } from "vitest";
import { expectOk, seededRandom } from "#base";
import { fieldAt, parseYaml, type Json, type JsonObject } from "#kube";
import { compileAll } from "../compile-all.ts";
import { loadWorld } from "../documents.ts";
import { convertCompose } from "./convert.ts";
import { describeCompose, isCompose } from "./detect.ts";
import { splitWords } from "./text.ts";

const read = (text: string): Json => expectOk(parseYaml(text, { booleans: "yaml-1.2" }))[0] ?? null;
const convert = (text: string) => expectOk(convertCompose(read(text)));
const one = (service: string, rest = "") => convert(`services:\n  app: ${service}\n${rest}`);

function main(service: string): unknown {
  return fieldAt(one(service).services[0], "spec", "containers", "main");
}
const lines = ({ notices }: ReturnType<typeof convert>) => notices.map(({ severity, path, message }) => `${severity} ${path}: ${message}`);
/** Without the notice that every file has. */
const notices = (service: string, rest?: string) => lines(one(service, rest)).slice(0, -1);

describe("a container", () => {
  const rows: { name: string; service: string; want: object }[] = [
    { name: "command and entrypoint are args and command", service: "{image: a, entrypoint: [/x], command: [y, '1']}", want: { command: ["/x"], args: ["y", "1"] } },
    { name: "a command string is split into arguments like in a shell", service: `{image: a, command: 'run "two parts" a\\ b'}`, want: { args: ["run", "two parts", "a b"] } },
    { name: "environment as a map", service: "{image: a, environment: {A: x, B: 1, C: true, D: ''}}", want: { variables: { A: "x", B: "1", C: "true", D: "" } } },
    { name: "environment as a list", service: "{image: a, environment: [A=x=y, B=]}", want: { variables: { A: "x=y", B: "" } } },
    { name: "escaped dollars stay literal in Lattice", service: "{image: a, environment: {A: 'x$${y}$$z'}}", want: { variables: { A: "x$${y}$z" } } },
    { name: "defaults of variables are used", service: "{image: 'a:${TAG:-7}', environment: {A: '${B-c}'}}", want: { image: "a:7", variables: { A: "c" } } },
    { name: "limits and reservations", service: "{image: a, deploy: {resources: {limits: {cpus: '0.50', memory: 512M}, reservations: {memory: 1g}}}}", want: { resources: { limits: { cpu: "500m", memory: "512Mi" }, requests: { memory: "1Gi" } } } },
    { name: "the older limits", service: "{image: a, cpus: 2, mem_limit: 64000}", want: { resources: { limits: { cpu: "2", memory: "64000" } } } },
    { name: "a health check is a readiness probe", service: "{image: a, healthcheck: {test: [CMD, ok], interval: 1m30s, timeout: 500ms, retries: 5, start_period: 10s}}", want: { readinessProbe: { exec: { command: ["ok"] }, periodSeconds: 90, timeoutSeconds: 1, failureThreshold: 5, initialDelaySeconds: 10 } } },
    { name: "a shell health check", service: "{image: a, healthcheck: {test: 'curl -f localhost || exit 1'}}", want: { readinessProbe: { exec: { command: ["/bin/sh", "-c", "curl -f localhost || exit 1"] } } } },
    { name: "CMD-SHELL", service: "{image: a, healthcheck: {test: [CMD-SHELL, x y]}}", want: { readinessProbe: { exec: { command: ["/bin/sh", "-c", "x y"] } } } },
    { name: "user and read_only", service: "{image: a, user: '1000:2000', read_only: true}", want: { securityContext: { runAsUser: 1000, runAsGroup: 2000, readOnlyRootFilesystem: true } } },
    { name: "named volumes", service: "{image: a, volumes: ['d_1:/data/:ro', {type: volume, source: e, target: /e}]}", want: { volumes: { "/data": { source: "${resources.d-1.ref}", readOnly: true }, "/e": { source: "${resources.e.ref}" } } } },
  ]; // prettier-ignore
  it.each(rows)("$name", ({ service, want }) => {
    expect(main(service)).toEqual({ image: "a", ...want });
  });

  it("a disabled health check gives no probe", () => {
    for (const check of ["{disable: true}", "{test: [NONE]}", "{interval: 1s}"])
      expect(main(`{image: a, healthcheck: ${check}}`)).toEqual({ image: "a" });
  });
});

describe("ports", () => {
  const rows: { name: string; service: string; want: object | undefined }[] = [
    { name: "are the container ports", service: "{image: a, ports: ['8080:3000', '127.0.0.1:90:91/udp', 22]}", want: { http: { port: 3000 }, "udp-91": { port: 91, protocol: "UDP" }, "tcp-22": { port: 22 } } },
    { name: "in a range, and exposed", service: "{image: a, ports: ['10-12:20-22'], expose: ['30', 8080, 3000]}", want: { "tcp-20": { port: 20 }, "tcp-21": { port: 21 }, "tcp-22": { port: 22 }, "tcp-30": { port: 30 }, http: { port: 8080 }, "tcp-3000": { port: 3000 } } },
    { name: "in the long form, with names", service: "{image: a, ports: [{target: 80, published: '8080', name: web, protocol: tcp}, {target: 81, name: Not-A-Name}]}", want: { web: { port: 80 }, "tcp-81": { port: 81 } } },
    { name: "of a known image", service: "{image: 'docker.io/library/redis:7@sha256:0'}", want: { "tcp-6379": { port: 6379 } } },
    { name: "are not guessed for an unknown image", service: "{image: a}", want: undefined },
  ]; // prettier-ignore
  it.each(rows)("$name", ({ service, want }) => {
    expect(fieldAt(one(service).services[0], "spec", "service", "ports")).toEqual(want);
  });
});

describe("agreements", () => {
  it("follow from depends_on and links, on both sides", () => {
    const { services } = convert(
      "services:\n  web: {image: a, depends_on: {api: {condition: service_healthy}, job: {condition: service_completed_successfully}}}\n  api: {image: a, links: [web, 'Cache_1:c'], expose: [1]}\n  Cache_1: {image: redis}\n  job: {image: a}\n",
    );
    const resources = services.map((service) => fieldAt(service, "spec", "resources"));
    expect(resources).toEqual([
      { api: { direction: "both" } },
      { web: { direction: "both" }, "cache-1": { direction: "outbound" } },
      { api: { direction: "inbound" } },
      undefined,
    ]);
  });

  it("with a service that does not exist or has no port give a notice", () => {
    const notices = lines(convert("services:\n  web: {image: a, depends_on: [gone, api]}\n  api: {image: a}\n"));
    expect(notices).toContain("warning services.web.depends_on[0]: gone is not a service of this file, and is left out");
    expect(notices.join()).toContain("warning services.api: is called by others and declares no port");
  });

  it("do not conflict with a volume of the same name", () => {
    const { services } = convert("services:\n  web: {image: a, depends_on: [data], volumes: ['data:/d']}\n  data: {image: redis}\n");
    expect(Object.keys(fieldAt(services[0], "spec", "resources") as JsonObject)).toEqual(["data-volume", "data"]);
  });
});

describe("a notice reports what is not converted", () => {
  const rows: { service: string; rest?: string; want: string }[] = [
    { service: "{build: .}", want: "warning services.app.build: is not converted: a cluster runs images; build it and push it to a registry" },
    { service: "{build: .}", want: "warning services.app: names no image, so registry.example.com/app:latest is used instead" },
    { service: "{image: 'a:$TAG'}", want: "warning services.app.image: ${TAG} has no default, so TAG is used instead; write the value (docker compose config prints the file with all values)" },
    { service: "{image: a, environment: [PASS_THROUGH, 3]}", want: "warning services.app.environment[0]: PASS_THROUGH takes its value from the shell, and is left out; write the value" },
    { service: "{image: a, environment: [3]}", want: "warning services.app.environment[0]: is no NAME=value, and is left out" },
    { service: "{image: a, environment: {a.b: x}}", want: 'warning services.app.environment["a.b"]: "a.b" is not a valid variable name (letters, digits and _), and is left out' },
    { service: "{image: a, environment: {DB_PASSWORD: hunter2}}", want: "warning services.app.environment.DB_PASSWORD: DB_PASSWORD looks like a secret and is stored as plain text; read it from a Secret through LatticeSecretBindings" },
    { service: "{image: a, environment: 5}", want: "warning services.app.environment: is neither a map nor a list, and is left out" },
    { service: "{image: a, command: {}}", want: "warning services.app.command: is neither a text nor a list of texts, and is left out" },
    { service: "{image: a, ports: [x]}", want: "warning services.app.ports[0]: is no port that can be read, and is left out" },
    { service: "{image: a, ports: [{target: 0}]}", want: "warning services.app.ports[0]: has no target that is a port, and is left out" },
    { service: "{image: a, ports: ['1-9999:1-9999']}", want: "warning services.app.ports[0]: has more than 20 ports, and is left out; name those that are called" },
    { service: "{image: a, ports: 5}", want: "warning services.app.ports: is no list, and is left out" },
    { service: "{image: a, volumes: [/x]}", want: "warning services.app.volumes[0]: is a volume without a name, and is left out; name it to keep its data" },
    { service: "{image: a, volumes: [{type: bind, source: ., target: /x}]}", want: "warning services.app.volumes[0]: is of type \"bind\", and is left out; only named volumes are converted" },
    { service: "{image: a, volumes: [{type: volume, target: /x}]}", want: "warning services.app.volumes[0]: needs a source and a target, and is left out" },
    { service: "{image: a, volumes: ['d:/x', 'e:/x']}", want: "warning services.app.volumes[1]: mounts /x a second time, and is left out" },
    { service: "{image: a, volumes: ['d:x']}", want: "warning services.app.volumes[0]: is not mounted at an absolute path, and is left out" },
    { service: "{image: a, volumes: [[]]}", want: "warning services.app.volumes[0]: is no volume that can be read, and is left out" },
    { service: "{image: a, volumes: 5}", want: "warning services.app.volumes: is no list, and is left out" },
    { service: "{image: a, healthcheck: {test: [x]}}", want: "warning services.app.healthcheck.test: begins with none of CMD, CMD-SHELL and NONE, and is left out" },
    { service: "{image: a, healthcheck: {test: x, interval: soon}}", want: "warning services.app.healthcheck.interval: is no duration that can be read, and is left out" },
    { service: "{image: a, healthcheck: {test: x, start_interval: 1s}}", want: "warning services.app.healthcheck.start_interval: is not converted" },
    { service: "{image: a, deploy: {replicas: many}}", want: "warning services.app.deploy.replicas: is not a number from 0 to 1000, and is left out" },
    { service: "{image: a, deploy: {mode: global}}", want: "warning services.app.deploy.mode: is not converted" },
    { service: "{image: a, deploy: {resources: {limits: {pids: 1, cpus: x, memory: y}}}}", want: "warning services.app.deploy.resources.limits.pids: is not converted" },
    { service: "{image: a, deploy: {resources: {limits: {cpus: x}}}}", want: "warning services.app.deploy.resources.limits.cpus: is no number of CPUs, and is left out" },
    { service: "{image: a, mem_limit: much}", want: "warning services.app.mem_limit: is no amount of memory, and is left out" },
    { service: "{image: a, user: root}", want: "warning services.app.user: is not converted: give a number above 0, since containers do not run as root" },
    { service: "{image: a, restart: no}", want: "warning services.app.restart: is not converted: a container that ends is started again" },
    { service: "{image: a, env_file: .env}", want: "warning services.app.env_file: is not read; copy its lines into variables, or convert what docker compose config prints" },
    { service: "{image: a, privileged: true}", want: "warning services.app.privileged: is not converted" },
    { service: "{image: a}", rest: "secrets: {a: {}}\n", want: "warning secrets: is not converted" },
    { service: "{image: a}", rest: "volumes: {a: {driver: nfs}}\n", want: "warning volumes.a: has settings that are not converted" },
    { service: "{image: a}", rest: "name: shop\n", want: "note name: is not converted: give a namespace with -n, or an environment" },
  ]; // prettier-ignore
  it.each(rows)("$want", ({ service, rest, want }) => {
    expect(notices(service, rest)).toContain(want);
  });

  it("defaults of Kubernetes and extensions need no notice", () => {
    expect(
      notices("{image: a, restart: always, x-y: 1, deploy: {mode: replicated, replicas: 2}}", "version: '3'\nx-z: 1\nvolumes: {d: }\n"),
    ).toEqual([]);
    expect(fieldAt(one("{image: a, scale: 3}").services[0], "spec", "replicas")).toEqual({ min: 3 });
  });

  it("a name that is not legal in Kubernetes is changed, and two names that would become equal are refused", () => {
    expect(lines(convert("services: {My_App: {image: a}}\n"))[0]).toContain("warning services.My_App: is renamed to my-app:");
    expect(convertCompose(read("services: {a_b: {image: a}, a-b: {image: a}}\n"))).toEqual({
      ok: false,
      error: "services a_b and a-b would both be called a-b; rename one of them",
    });
    expect(fieldAt(convert("services: {___: }\n").services[0], "metadata", "name")).toBe("service");
  });

  it("too many services are refused before the conversion", () => {
    const services = Object.fromEntries(Array.from({ length: 501 }, (_, at) => [`s${at}`, { image: "a" }]));
    expect(convertCompose({ services })).toMatchObject({ ok: false });
  });
});

describe("a file", () => {
  it("is recognized as Compose by its services, unlike Kubernetes and Score files", () => {
    const compose = ["services: {a: {image: x}}", "services: {a: }", "version: '3'\nservices: {}"];
    const others = ["apiVersion: v1\nkind: List\nservices: {}", "services: [a]", "services: {a: 1}", "- 1", "a"];
    expect(compose.map((text) => isCompose(read(text)))).toEqual([true, true, true]);
    expect(others.map((text) => isCompose(read(text)))).toEqual(others.map(() => false));
    const many = Object.fromEntries([..."abcdefg"].map((name) => [name, null]));
    expect(describeCompose({ services: many }, "c.yaml")).toContain("(services: a, b, c, d, e, and 2 more); lattice init --from c.yaml");
  });

  it("with keys such as __proto__ is converted like any other", () => {
    const { services } = convert(
      'services: {"__proto__": {image: a, environment: {"__proto__": x, constructor: y}}, constructor: {image: b}}\n',
    );
    expect(services.map((service) => fieldAt(service, "metadata", "name"))).toEqual(["proto", "constructor"]);
    expect(fieldAt(services[0], "spec", "containers", "main", "variables", "constructor")).toBe("y");
    expect(Object.keys(fieldAt(services[0], "spec", "containers", "main", "variables") as object)).toEqual(["constructor"]);
  });

  it("gives services that compile, or one error, for any content", () => {
    const values: readonly Json[] = [
      null,
      1,
      -1,
      "x",
      "",
      "$",
      "${",
      "${A}",
      "a:b:c",
      "1-2:3",
      "9".repeat(30),
      true,
      [],
      {},
      ["CMD"],
      { target: 1 },
      "/",
      "é",
      "a b",
    ];
    const keys =
      "image build command entrypoint environment ports expose volumes depends_on links healthcheck deploy scale cpus mem_limit user read_only restart networks".split(
        " ",
      );
    for (let seed = 1; seed <= 200; seed++) {
      const random = seededRandom(seed);
      const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
      const value = (depth: number): Json =>
        depth === 0 || random() < 0.5
          ? pick(values)
          : random() < 0.5
            ? [value(depth - 1), value(depth - 1)]
            : { [pick(keys)]: value(depth - 1), test: value(0), limits: value(0) };
      const service = () => Object.fromEntries(Array.from({ length: 6 }, () => [pick(keys), value(2)]));
      const converted = convertCompose({ services: { a: service(), b: service(), C_: service() } });
      if (!converted.ok) continue;
      const { world, problems } = loadWorld(converted.value.services.map((object, at) => ({ value: object, from: `${at}` })));
      expect({ seed, problems, errors: [...compileAll(world).errors] }).toEqual({ seed, problems: [], errors: [] });
    }
  });
});

it("commands are split as a shell splits them", () => {
  expect(splitWords(` a "b 'c" 'd "e' f\\"g "" \\`)).toEqual(["a", "b 'c", 'd "e', 'f"g', "", "\\"]);
});
