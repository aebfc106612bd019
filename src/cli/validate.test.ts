/** `lattice validate` on files beside services: Score files, kinds of other projects, declared resource types. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../../test/builders/cli-io.ts";
import { addFiles } from "../../test/builders/file-tree.ts";
import { serviceYaml } from "../../test/builders/world.ts";

const SCORE =
  "apiVersion: score.dev/v1b1\nmetadata: {name: web}\ncontainers: {main: {image: 'web:1', files: {/etc/a: {source: texts/a.txt}}}}\n";

let cwd: string;
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), "lattice-validate-"));
  await addFiles(cwd, {
    "score/web.yaml": SCORE,
    "score/texts/a.txt": "name=${metadata.name}",
    "bad/bad-score.yaml": SCORE.replace("containers", "containres"),
  });
});
afterAll(() => rmSync(cwd, { recursive: true }));

const run = (...argv: string[]) => runCli(argv, { cwd });

describe("lattice validate", () => {
  const provisioner = (data: string) =>
    `---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: s3, labels: {lattice.dev/provisioner: ""}}\ndata: {provisioner.yaml: "${data}"}\n`;
  const secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n";

  it("accepts other kinds beside Lattice's, as lattice compile does, and checks declared types", async () => {
    const good = await runCli(["validate", "-f", "-"], { input: serviceYaml("a") + secret + provisioner("{type: s3, outputs: {url: x}}") });
    expect(good).toEqual({
      code: 0,
      stderr: "",
      stdout:
        "ok    -: LatticeService shop/a\nother - (document 2): Secret s is not a kind of Lattice, and not checked\nother - (document 3): ConfigMap s3 declares resources of type s3\n1 valid, 2 of other kinds\n",
    });
    const bad = await runCli(["validate", "-f", "-"], {
      input: serviceYaml("a") + provisioner("{type: s3}") + "---\napiVersion: v1\nkind: Pod\n",
    });
    expect(bad).toMatchObject({ code: 1, stdout: expect.stringContaining("outputs must have at least one entry") as string });
    expect(bad.stdout).toContain("metadata.name: is required\n2 of 3 invalid\n");
  });

  it("a Lattice kind with a wrong version is an error, and so are files without a Lattice kind", async () => {
    const wrong = await runCli(["validate", "-f", "-"], { input: serviceYaml("a").replace("lattice.dev/v1alpha1", "v1") });
    expect(wrong).toMatchObject({ code: 1, stdout: expect.stringContaining("apiVersion: must be") as string });
    expect(await runCli(["validate", "-f", "-"], { input: secret })).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/\n0 valid, 1 of other kinds\n$/) as string,
    });
  });

  it("reports unknown params and impossible agreements", async () => {
    const spec = [
      "  resources:",
      "    web: {direction: inbound, params: {prots: [http]}}",
      "    cart: {direction: inbound, params: {ports: [htp]}}",
      '    api: {params: {methods: ["${config.method}"]}}',
      "    db: {type: postgres, params: {prot: 1}}",
      "    files: {type: s3, params: {buckte: b}}",
      "    odd: {type: not-known-here, params: {a: b}}\n",
    ].join("\n");
    const declared = provisioner("{type: s3, params: {bucket: b}, outputs: {url: x}}");
    const bad = await runCli(["validate", "-f", "-"], { input: serviceYaml("a", { spec }) + declared });
    expect(bad).toMatchObject({ code: 1, stderr: "" });
    expect(bad.stdout.split("\n").slice(0, 6)).toEqual([
      `error -:8:40: spec.resources.web: resource 'web' provisioner error: params.prots: unknown parameter; did you mean "ports"?`,
      `error -:9:49: spec.resources.cart: resource 'cart' provisioner error: params.ports[0]: this service has no port "htp"; did you mean "http"?; it has http (8080)`,
      "error -:10:30: spec.resources.api: resource 'api' provisioner error: params.methods[0]: ${config.method}: config has no 'method'",
      `error -:11:35: spec.resources.db: resource 'db' provisioner error: params.prot: unknown parameter; did you mean "port"?`,
      `error -:12:32: spec.resources.files: resource 'files' provisioner error: params.buckte: unknown parameter; did you mean "bucket"?`,
      "error -:13:11: spec.resources.odd: no provisioner registered for resource type 'not-known-here'",
    ]);
    const score = SCORE.replace("files: {/etc/a: {source: texts/a.txt}}", "variables: {A: b}");
    const typo = `${score}resources: {api: {type: service, params: {prots: [http]}}}\n`;
    expect((await runCli(["validate", "-f", "-"], { input: typo })).stdout).toContain(
      `error -:4:43: resources.api: resource 'api' provisioner error: params.prots: unknown parameter; did you mean "ports"?`,
    );
  });

  it("reports namespaces that cannot be closed", async () => {
    const prod =
      "---\napiVersion: lattice.dev/v1alpha1\nkind: LatticeEnvironment\nmetadata: {name: prod}\nspec: {gatewayRef: {name: g, namespace: edge}}\n";
    const input = `${serviceYaml("edge/a")}---\n${serviceYaml("kube-system/b")}---\n${serviceYaml("istio-ingress/c")}${prod}`;
    const { code, stdout } = await runCli(["validate", "-f", "-"], { input });
    expect(code).toBe(1);
    expect(stdout).toContain(
      "spec.environment: namespace edge cannot be a target: the gateway of LatticeEnvironment prod is in it (spec.gatewayRef)",
    );
    expect(stdout).toContain("namespace kube-system is a system namespace");
    expect(stdout).toContain("namespace istio-ingress is a system namespace");
    const compiled = await runCli(["compile", "-f", "-"], { input });
    expect(compiled).toMatchObject({ code: 1, stdout: "" });
    expect(compiled.stderr).toContain("namespace edge cannot be a target");
  });

  it("accepts Score files, and the files that they refer to", async () => {
    expect(await run("validate", "-f", "score")).toEqual({
      code: 0,
      stderr: "",
      stdout: "ok    score/web.yaml: LatticeService web, from Score\n1 valid\n",
    });
    const { code, stdout } = await run("validate", "-f", "bad/bad-score.yaml", "-o", "json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject([
      { ok: false, errors: [{ path: "containers", message: "is required" }, { path: "containres" }] },
    ]);
  });
});
