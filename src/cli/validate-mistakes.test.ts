/** `lattice validate` reports every error of `lattice compile` in one run, each with file, line and column. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { formatYaml } from "#kube";
import { runCli } from "../../test/builders/cli-io.ts";
import { addFiles } from "../../test/builders/file-tree.ts";
import { hostileServices } from "../../test/builders/hostile-services.ts";
import { invalidResources } from "../../test/builders/invalid-resources.ts";
import { serviceYaml } from "../../test/builders/world.ts";

const WEB = `apiVersion: lattice.dev/v1alpha1
kind: LatticeService
metadata: {name: web, namespace: shop}
spec:
  containers:
    main:
      image: a:1
      variables:
        A: "\${resources.db.host"
        B: "\${resources.dbb.host}"
        C: "\${metadat.name}"
      files:
        /etc/x: {binaryContent: "a"}
      volumes:
        /data: {source: "foo:bar"}
      before: [side]
    side:
      image: b:1
      before: [main]
      securityContext: {privileged: true}
  resources:
    db: {type: postgres, params: {port: 99999, databse: x}}
    files: {type: s3x}
    site:
      type: route
      params: {host: Bad_Host, path: /a/../b}
`;
/** As `WEB`, with mistakes that the schema detects. */
const ALSO = WEB.replace("      before: [side]\n", "      imagee: b\n").replace("    db: {", "    up: {type: Bad}\n    db: {");
const SCORE = `apiVersion: score.dev/v1b1
metadata:
  name: front
  annotations: {lattice.dev/environment: kube-system}
service:
  ports:
    www: {port: 80}
containers:
  main:
    image: front:1
    variables:
      B: \${resources.nowhere.url}
    files:
      - target: /etc/x
        content: \${nothing.here}
resources:
  api: {type: service, params: {prots: [http]}}
  odd: {type: odd}
`;
const LIST = `{"apiVersion": "v1", "kind": "List", "items": [
  {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}},
  {"apiVersion": "lattice.dev/v1alpha1", "kind": "LatticeService", "metadata": {"name": "one", "namespace": "shop"},
   "spec": {"containers": {"main": {"image": "a:1", "variables": {"A": "\${x"}}}}}
]}
`;

let cwd: string;
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), "lattice-mistakes-"));
  await addFiles(cwd, {
    "a/web.yaml": WEB,
    "also.yaml": ALSO,
    "a/front.score.yaml": SCORE,
    "a/list.json": LIST,
    "a/syntax.yaml": "a: [\n",
  });
});
afterAll(() => rmSync(cwd, { recursive: true }));

/** `file:line:column path` of each line that begins with "error". */
const placesIn = (text: string) =>
  text
    .split("\n")
    .filter((line) => line.startsWith("error "))
    .map((line) => line.slice("error ".length).split(": ").slice(0, 2).join(" "));

describe("validate reports all mistakes of all files in one run", () => {
  it("each with file, line and column: templates, resources, params, mounts, the order of containers, security", async () => {
    const { code, stdout } = await runCli(["validate", "-f", "a/web.yaml"], { cwd });
    expect(code).toBe(1);
    expect(placesIn(stdout)).toEqual([
      "a/web.yaml:5:3 spec.containers",
      "a/web.yaml:9:9 spec.containers.main.variables.A",
      "a/web.yaml:10:9 spec.containers.main.variables.B",
      "a/web.yaml:11:9 spec.containers.main.variables.C",
      'a/web.yaml:13:9 spec.containers.main.files["/etc/x"]',
      'a/web.yaml:15:9 spec.containers.main.volumes["/data"]',
      "a/web.yaml:20:25 spec.containers.side.securityContext.privileged",
      "a/web.yaml:22:48 spec.resources.db",
      "a/web.yaml:23:13 spec.resources.files",
      "a/web.yaml:26:16 spec.resources.site",
      "a/web.yaml:26:32 spec.resources.site",
    ]);
    expect(stdout).toContain(`resource 'dbb' is not declared; did you mean "db"?`);
    expect(stdout).toContain(`params.databse: unknown parameter; did you mean "database"?`);
    expect(stdout).toContain("'${' has no '}'; close it");
  });

  it("together with those of the schema, and without errors that only follow from one", async () => {
    const { stdout } = await runCli(["validate", "-f", "also.yaml"], { cwd });
    const found = placesIn(stdout);
    expect(found).toContain("also.yaml:16:7 spec.containers[main].imagee");
    expect(found).toContain("also.yaml:22:10 spec.resources[up].type");
    expect(found).toContain("also.yaml:9:9 spec.containers.main.variables.A");
    expect(found).toContain("also.yaml:24:13 spec.resources.files");
    const reading = ALSO.replace("dbb.host", "up.host");
    const without = await runCli(["validate", "-f", "-"], { input: reading });
    expect(placesIn(without.stdout).some((place) => place.endsWith("variables.B"))).toBe(false);
  });

  it("at the field of a Score file", async () => {
    const { stdout } = await runCli(["validate", "-f", "a/front.score.yaml"], { cwd });
    expect(placesIn(stdout)).toEqual([
      'a/front.score.yaml:4:17 metadata.annotations["lattice.dev/environment"]',
      "a/front.score.yaml:12:7 containers.main.variables.B",
      'a/front.score.yaml:14:9 containers.main.files["/etc/x"]',
      "a/front.score.yaml:17:33 resources.api",
      "a/front.score.yaml:18:9 resources.odd",
    ]);
    const invalid = await runCli(["validate", "-f", "-"], { input: SCORE.replace("image: front:1", "imgae: front:1") });
    expect(placesIn(invalid.stdout)).toEqual([
      '-:4:17 metadata.annotations["lattice.dev/environment"]',
      "-:9:3 containers.main.image",
      "-:10:5 containers.main.imgae",
      "-:12:7 containers.main.variables.B",
      '-:14:9 containers.main.files["/etc/x"]',
      "-:17:33 resources.api",
      "-:18:9 resources.odd",
    ]);
  });

  it("in an item of a List, and beside a file that is not YAML", async () => {
    const { stdout } = await runCli(["validate", "-f", "a"], { cwd });
    const found = placesIn(stdout);
    expect(found).toContain("a/list.json:4:67 spec.containers.main.variables.A");
    expect(found[0]).toMatch(/^a\/syntax\.yaml:2:1 /);
    expect(found.length).toBeGreaterThan(12);
    const compiled = await runCli(["compile", "-f", "a", "--placeholder-secrets"], { cwd });
    expect(placesIn(compiled.stderr)).toEqual(found);
  });

  it("for programs: file, line, column, path, message, kind, namespace and name of each", async () => {
    const { stdout } = await runCli(["validate", "-f", "a/web.yaml", "-o", "json"], { cwd });
    const [document] = JSON.parse(stdout) as { ok: boolean; errors: unknown[] }[];
    expect(document).toMatchObject({ document: "a/web.yaml", ok: false, warnings: [] });
    expect(document?.errors).toHaveLength(11);
    expect(document?.errors[1]).toEqual({
      file: "a/web.yaml",
      line: 9,
      column: 9,
      path: "spec.containers.main.variables.A",
      message: expect.stringContaining("'${' has no '}'") as string,
      kind: "LatticeService",
      namespace: "shop",
      name: "web",
    });
  });
});

describe("references to resources outside the files", () => {
  const caller = serviceYaml("a", { calls: ["b"] }).replace('{image: "a:1"}', '{image: a, variables: {B: "${resources.b.url}"}}');
  it("a callee whose outputs are read must be given too, and the message explains it", async () => {
    const { code, stdout } = await runCli(["validate", "-f", "-"], { input: caller });
    expect(code).toBe(1);
    expect(stdout).toContain("error -:8:5: spec.resources.b: resource 'b' of type 'service' not found");
    expect(stdout).toContain("there is no LatticeService shop/b; add it, or correct the id; if another file has it, give that file too");
    expect(await runCli(["validate", "-f", "-"], { input: `${caller}---\n${serviceYaml("b")}` })).toMatchObject({ code: 0 });
  });
  it("values of secrets: lattice compile needs them, or --placeholder-secrets", async () => {
    const spec = "  resources: {db: {type: postgres}}\n";
    const input = serviceYaml("a", { spec }).replace('{image: "a:1"}', '{image: a, variables: {P: "${resources.db.password}"}}');
    expect(await runCli(["validate", "-f", "-"], { input })).toMatchObject({ code: 0 });
    expect(await runCli(["compile", "-f", "-"], { input })).toMatchObject({ code: 1 });
    expect(await runCli(["compile", "-f", "-", "--placeholder-secrets"], { input })).toMatchObject({ code: 0 });
  });
});

describe("validate refuses what compile refuses, and nothing else", () => {
  const both = async (input: string) => {
    const validated = await runCli(["validate", "-f", "-"], { input });
    const compiled = await runCli(["compile", "-f", "-", "--placeholder-secrets"], { input });
    const empty = compiled.stderr.includes("the files hold no service");
    return { validated: validated.code === 0, compiled: compiled.code === 0 || empty, stdout: validated.stdout };
  };
  test("rows that every kind must refuse", async () => {
    for (const { name, given } of invalidResources) {
      const { validated, compiled, stdout } = await both(formatYaml(given));
      expect({ name, validated, compiled }).toEqual({ name, validated: false, compiled: false });
      expect(stdout).toMatch(/^error -:\d+:\d+: /);
    }
  });
  test("each of the examples alone, and all of them together", async () => {
    const all = readdirSync("examples", { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".yaml"));
    // the Score files take their environment from their folder, and one its image from a flag; a story compiles them
    const names = all.filter((name) => !name.startsWith("score-shop"));
    const texts = new Map(names.map((name) => [name, readFileSync(join("examples", name), "utf8")]));
    for (const [name, text] of [...texts, ["all", [...texts.values()].join("---\n")] as const]) {
      const { validated, compiled } = await both(text);
      // other kinds are accepted beside services, and an error alone
      if (name !== "beforehand.yaml") expect({ name, validated }).toEqual({ name, validated: compiled });
      if (name === "all") expect(validated).toBe(true);
    }
  });
  test("malicious services", async () => {
    for (const { name, given, want } of hostileServices) {
      const { validated, compiled } = await both(given);
      expect({ name, validated, compiled }).toEqual({ name, validated: "compiles" in want, compiled: "compiles" in want });
    }
  }, 30_000);
});
