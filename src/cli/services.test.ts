/** `lattice compile` on files. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { expectOk } from "#base";
import { parseYaml, type KubeObject } from "#kube";
import { serviceYaml } from "../../test/builders/world.ts";
import { servicesFolder } from "./services.test-support.ts";

const { pathOf, run, runWith } = servicesFolder();

async function compiled(...argv: string[]): Promise<readonly KubeObject[]> {
  const { code, stdout, stderr } = await run("compile", ...argv);
  expect({ code, stderr: stderr.replaceAll(/^warning: .*\n/gm, "") }).toEqual({ code: 0, stderr: "" });
  return expectOk(parseYaml(stdout)) as unknown as KubeObject[];
}

describe("lattice compile", () => {
  it("prints every object, namespaces first, as kubectl reads it", async () => {
    const objects = await compiled("-f", "shop");
    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      "Namespace shop",
      "CiliumNetworkPolicy lattice-default-deny",
      "AuthorizationPolicy lattice-default-deny",
      "PeerAuthentication lattice-default-deny",
      "ServiceAccount a",
      "Deployment a",
      "Service a",
      "CiliumNetworkPolicy a",
      "ServiceAccount b",
      "Deployment b",
      "Service b",
      "AuthorizationPolicy b",
      "CiliumNetworkPolicy b",
    ]);
  });

  it("--workloads-only leaves out the objects of namespaces", async () => {
    const objects = await compiled("-f", "shop/a.yaml", "--workloads-only");
    expect(objects.map(({ kind }) => kind)).toEqual(["ServiceAccount", "Deployment", "Service", "CiliumNetworkPolicy"]);
  });

  it("takes Score files, finds their files beside them, and quotes what YAML 1.1 reads as something else", async () => {
    const { stdout } = await run("compile", "-f", "score", "-n", "websites");
    expect(stdout).toContain("namespace: websites\n");
    expect(stdout).toContain("etc-a: name=web\n");
    expect(stdout).toContain("name: 'on'\n");
  });

  it("prints a List as JSON", async () => {
    const { stdout } = await run("compile", "-f", "shop", "-o", "json");
    expect(JSON.parse(stdout)).toMatchObject({ apiVersion: "v1", kind: "List", items: expect.arrayContaining([]) as unknown });
  });

  it("prints one-sided agreements on stderr, and succeeds", async () => {
    expect(await run("compile", "-f", "shop/a.yaml")).toMatchObject({
      code: 0,
      stderr: "warning: shop/a -> shop/b is closed: there is no shop/b\n",
    });
  });

  it("prints all mistakes of all files at once, each with its position, and nothing else", async () => {
    const { code, stdout, stderr } = await run("compile", "-f", "bad");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("error bad/broken.json:1:2: unexpected end");
    expect(stderr).toContain("spec.containers[main].imgae: unknown field");
    expect(stderr).toContain("error bad/bad-score.yaml:1:1: containers: is required\n");
    expect(stderr).toContain('error bad/bad-score.yaml:3:1: containres: is not a field of Score v1b1; did you mean "containers"?\n');
    expect(stderr).toContain(
      "error bad/nonsense.yaml:8:9: spec.resources.x: no provisioner registered for resource type 'nonsense'\n        resource 'x' uses it",
    );
    expect(stderr).toMatch(/\d errors; nothing was compiled\n$/);
  });

  it("settings come from flags", async () => {
    const route = serviceYaml("r", { spec: "  resources: {public: {type: route}, x: {direction: inbound, id: other/x}}\n" }).replace(
      '{image: "r:1"}',
      '{image: r, variables: {A: "${cluster.name} ${cluster.provider} ${cluster.region} ${cluster.domain}"}}',
    );
    const flags = [
      "--cluster-name",
      "one",
      "--cluster-provider",
      "aws",
      "--cluster-region",
      "eu",
      "--cluster-domain",
      "c.example",
      "--trust-domain",
      "t.example",
      "--ingress-domain",
      "i.example",
      "--gateway",
      "edge/main",
      "--monitoring-namespace",
      "observability",
    ];
    const { stdout } = await runWith(route, "compile", "-f", "-", ...flags);
    expect(stdout).toContain("A: one aws eu c.example\n");
    expect(stdout).toContain("- public.i.example\n");
    expect(stdout).toContain("- name: main\n      namespace: edge\n");
    expect(stdout).toContain("t.example/ns/edge/sa/main-istio\n");
    const scraped = route.replace("{http: {port: 8080}}", "{http: {port: 8080}, metrics: {port: 9100}}");
    const { stdout: more } = await runWith(scraped, "compile", "-f", "-", ...flags);
    expect(more).toContain("namespaces:\n              - observability\n");
  });

  it("an environment without a trust domain has that of the flags", async () => {
    const environment =
      "---\napiVersion: lattice.dev/v1alpha1\nkind: LatticeEnvironment\nmetadata: {name: shop}\nspec: {mesh: {waypoint: true}}\n";
    const pair = [serviceYaml("a", { calls: ["b"] }), serviceYaml("b", { calledBy: ["a"] })].join("---\n");
    const { stdout } = await runWith(pair + environment, "compile", "-f", "-", "--trust-domain", "t.example");
    expect(stdout).toContain("- t.example/ns/shop/sa/a\n");
    expect(stdout).not.toContain("cluster.local/");
  });

  it.each([
    {
      name: "an invalid gateway",
      argv: ["-f", "shop", "--gateway", "main"],
      code: 2,
      want: '--gateway is "main"; it must be namespace/name',
    },
    {
      name: "a gateway that no selector can hold",
      argv: ["-f", "shop", "--gateway", "edge/*"],
      code: 2,
      want: '--gateway is "edge/*"; it must be namespace/name',
    },
    {
      name: "an invalid monitoring namespace",
      argv: ["-f", "shop", "--monitoring-namespace", "mon*"],
      code: 2,
      want: '--monitoring-namespace: "mon*" must be a lowercase RFC 1123 label',
    },
    {
      name: "an invalid trust domain",
      argv: ["-f", "shop", "--trust-domain", "spiffe://x"],
      code: 2,
      want: '--trust-domain: "spiffe://x" must be a lowercase RFC 1123 subdomain',
    },
    { name: "-o dir without --out", argv: ["-f", "shop", "-o", "dir"], code: 2, want: "-o dir needs --out FOLDER" },
    { name: "--out without -o dir", argv: ["-f", "shop", "--out", "x"], code: 2, want: "--out is for -o dir" },
    { name: "no files", argv: [], code: 2, want: "required option '-f, --filename" },
    { name: "nothing to compile", argv: ["-f", "secrets-only.yaml"], code: 1, want: "nothing to compile" },
    {
      name: "a missing file of secrets",
      argv: ["-f", "shop", "--secrets", "gone.yaml"],
      code: 2,
      want: "--secrets gone.yaml: there is no such file",
    },
  ])("$name is an error that has the fix", async ({ argv, code, want }) => {
    writeFileSync(pathOf("secrets-only.yaml"), "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n");
    expect(await run("compile", ...argv)).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(want) as string });
  });
});

describe("secrets", () => {
  it("come from a file and are only in Secrets", async () => {
    const objects = await compiled("-f", "secret", "--secrets", "secrets.yaml");
    const holding = objects.filter((object) => JSON.stringify(object).match(/hunter2|aHVudGVyMg/));
    expect(holding.map(({ kind }) => kind)).toEqual(["Secret"]);
  });

  it("that are missing are an error with the flag to use, or placeholders", async () => {
    const { code, stderr } = await run("compile", "-f", "secret");
    expect(code).toBe(1);
    expect(stderr).toContain("there is no secret 'postgres/db/password'\n        give it with --secrets FILE");
    expect(JSON.stringify(await compiled("-f", "secret", "--placeholder-secrets"))).toContain(btoa("<secret postgres/db/password>"));
  });

  it.each([
    { name: "invalid YAML", text: "a: [hunter2", want: "is not YAML (line 1)" },
    { name: "not a map", text: "- hunter2", want: "must be a map, with lines such as" },
    { name: "a number", text: "a/b: 12345678", want: 'a/b must be a path with a "/" in it, and its value a text' },
    { name: "a key without a path", text: "password: hunter2", want: "password must be a path" },
  ])("a file of them that is $name is refused without quoting it", async ({ text, want }) => {
    writeFileSync(pathOf("odd-secrets"), text);
    const { code, stderr } = await run("compile", "-f", "secret", "--secrets", "odd-secrets");
    expect(code).toBe(2);
    expect(stderr).toContain(want);
    expect(stderr).not.toMatch(/hunter2|12345678/);
  });
});

describe("bytes that are not valid UTF-8", () => {
  const service = (value: string) =>
    Buffer.concat([
      Buffer.from("apiVersion: score.dev/v1b1\nmetadata: {name: web}\ncontainers: {main: {image: a, variables: {A: "),
      Buffer.from(value, "latin1"),
      Buffer.from("}}}\n"),
    ]);

  it("are refused in a service file and in a file of secrets, and never replaced", async () => {
    writeFileSync(pathOf("latin.yaml"), service("'caf\xe9'"));
    expect(await run("compile", "-f", "latin.yaml")).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("latin.yaml: is no UTF-8 text") as string,
    });
    writeFileSync(pathOf("latin-secrets"), Buffer.from("postgres/db/password: caf\xe9\n", "latin1"));
    expect(await run("compile", "-f", "secret", "--secrets", "latin-secrets")).toMatchObject({
      code: 2,
      stderr: "lattice: --secrets latin-secrets: is no UTF-8 text; convert it, or give bytes with binaryContent or data in base64\n",
    });
  });

  it("reach the pod unchanged when a service names them as a file", async () => {
    writeFileSync(pathOf("blob.bin"), new Uint8Array([0xff, 0x00, 0xfe]));
    writeFileSync(
      pathOf("blob.yaml"),
      "apiVersion: score.dev/v1b1\nmetadata: {name: web}\ncontainers: {main: {image: a, files: {/blob: {source: blob.bin}}}}\n",
    );
    expect(JSON.stringify(await compiled("-f", "blob.yaml"))).toContain('"blob":"/wD+"');
  });
});

describe("a Score file that names neither image nor environment", () => {
  const web = "apiVersion: score.dev/v1b1\nmetadata: {name: web}\ncontainers: {main: {image: ., variables: {spring.datasource.url: x}}}\n";

  it("is compiled with --image and --environment", async () => {
    writeFileSync(pathOf("plain.yaml"), web);
    for (const image of ["registry.example.com/web:1", "web=registry.example.com/web:1", "web/main=registry.example.com/web:1"]) {
      const objects = await compiled("-f", "plain.yaml", "--image", image, "--environment", "prod");
      const deployment = objects.find(({ kind }) => kind === "Deployment");
      expect(deployment?.metadata.namespace).toBe("prod");
      expect(deployment).toMatchObject({ spec: { template: { spec: { containers: [{ image: "registry.example.com/web:1" }] } } } });
      expect(objects).toContainEqual(expect.objectContaining({ kind: "ConfigMap", data: { "spring.datasource.url": "x" } }));
    }
    expect(await run("validate", "-f", "plain.yaml")).toMatchObject({ code: 0 });
    expect(await run("graph", "-f", "plain.yaml")).toMatchObject({ code: 0 });
  });

  it("is refused without an image, and with an invalid one", async () => {
    writeFileSync(pathOf("plain.yaml"), web);
    expect((await run("compile", "-f", "plain.yaml")).stderr).toContain("give it with --image web=IMAGE");
    expect(await run("compile", "-f", "plain.yaml", "--image", "web=")).toMatchObject({
      code: 2,
      stderr: 'lattice: --image is "web="; it must be IMAGE, WORKLOAD=IMAGE or WORKLOAD/CONTAINER=IMAGE\n',
    });
    expect(await run("compile", "-f", "plain.yaml", "--environment", "Prod")).toMatchObject({ code: 2 });
    expect(await run("compile", "-f", "plain.yaml", "--image", "a:1", "b:1")).toMatchObject({
      code: 2,
      stderr: "lattice: --image is given twice without a name; write WORKLOAD=IMAGE\n",
    });
  });
});

describe("a folder of objects", () => {
  it("has one file per object, with the Namespace first, and is not overwritten without --force", async () => {
    expect(await run("compile", "-f", "shop/a.yaml", "-o", "dir", "--out", "out")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("8 objects in ") as string,
    });
    const files = readdirSync(pathOf("out/shop")).toSorted();
    expect(files.slice(0, 3)).toEqual(["00-namespace.yaml", "authorizationpolicy-lattice-default-deny.yaml", "ciliumnetworkpolicy-a.yaml"]);
    expect(statSync(pathOf("out/shop/deployment-a.yaml")).mode & 0o777).toBe(0o600);
    expect(await run("compile", "-f", "shop/a.yaml", "-o", "dir", "--out", "out")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("is not empty; choose another folder") as string,
    });
    expect((await run("compile", "-f", "next/a.yaml", "-o", "dir", "--out", "out", "--force")).code).toBe(0);
    expect(readFileSync(pathOf("out/shop/deployment-a.yaml"), "utf8")).toContain("image: a:2\n");
  });

  it("that cannot be written is an error", async () => {
    writeFileSync(pathOf("blocked"), "");
    expect(await run("compile", "-f", "shop", "-o", "dir", "--out", "blocked/x")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("blocked is not a folder") as string,
    });
    mkdirSync(pathOf("half/shop/00-namespace.yaml"), { recursive: true });
    expect(await run("compile", "-f", "shop", "-o", "dir", "--out", "half", "--force")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("00-namespace.yaml is a folder; give the path of a regular file") as string,
    });
  });
});
