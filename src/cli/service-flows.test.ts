/** `lattice diff`, `why` and `graph` on files. */
import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { serviceYaml } from "../../test/builders/world.ts";
import { servicesFolder } from "./services.test-support.ts";

const { pathOf, run, runWith } = servicesFolder();

describe("lattice diff", () => {
  it("against the same files finds nothing", async () => {
    expect(await run("diff", "-f", "shop", "--against", "shop")).toEqual({ code: 0, stdout: "no differences\n", stderr: "" });
  });

  it("against other files shows objects, pods and flows", async () => {
    const { code, stdout } = await run("diff", "-f", "next", "--against", "shop");
    expect(code).toBe(1);
    expect(stdout).toContain('  ~ Deployment shop/a\n      spec.template.spec.containers[main].image: "a:1" -> "a:2"\n');
    expect(stdout).toContain("pods that roll\n  Deployment shop/a: spec.containers[main].image\n");
    expect(stdout).toContain("flows\n  closed  shop/a -> shop/b:8080\n");
    expect(stdout).toContain("  - AuthorizationPolicy shop/b\n");
    const json = JSON.parse((await run("diff", "-f", "next", "--against", "shop", "-o", "json")).stdout) as {
      flows: { closed: unknown[] };
    };
    expect(json.flows.closed).toHaveLength(1);
  });

  it("against earlier output of compile compares the objects, secrets too", async () => {
    await run("compile", "-f", "secret", "--secrets", "secrets.yaml", "-o", "dir", "--out", "before");
    expect(await run("diff", "-f", "secret", "--secrets", "secrets.yaml", "--against", "before")).toMatchObject({ code: 0 });
    expect(await run("diff", "-f", "secret", "--against", "before")).toMatchObject({ code: 0 });
    writeFileSync(pathOf("other-secrets"), "postgres/db/password: other\n");
    const { code, stdout } = await run("diff", "-f", "secret", "--secrets", "other-secrets", "--against", "before");
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout:
        "objects\n  ~ Secret shop/db-user-secrets\n      data.P: changed\n\npods that roll\n  Deployment shop/db-user: Secret shop/db-user-secrets\n\n0 added, 1 changed, 0 removed\n",
    });
  });

  it.each([
    { name: "invalid files", argv: ["-f", "bad", "--against", "shop"], want: "nothing was compiled" },
    { name: "other files that are invalid", argv: ["-f", "shop", "--against", "bad"], want: "nothing was compiled" },
    { name: "other files and a cluster", argv: ["-f", "shop", "--against", "shop", "--context", "x"], want: "not with both" },
    { name: "no cluster", argv: ["-f", "shop"], want: "no kubeconfig" },
    { name: "a flag that is wrong on either side", argv: ["-f", "shop", "--against", "shop", "--gateway", "x"], want: "--gateway" },
  ])("$name is exit code 2", async ({ argv, want }) => {
    expect(await run("diff", ...argv)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(want) as string });
  });
});

describe("lattice why", () => {
  it.each([
    { name: "open is 0", argv: ["a", "b", "-f", "shop"], code: 0, want: "shop/a -> shop/b:8080 is open" },
    { name: "closed is 1", argv: ["b", "a:http", "-f", "shop"], code: 1, want: "Add to LatticeService shop/b (shop/b.yaml):" },
    { name: "the names may follow the files", argv: ["-f", "shop", "a", "b:8080"], code: 0, want: "is open" },
    { name: "one method and path", argv: ["a", "b", "--method", "GET", "--path", "/", "-f", "shop"], code: 0, want: "is open" },
    { name: "secrets are not needed", argv: ["db-user", "db-postgres", "-f", "secret"], code: 0, want: "is not a Lattice service" },
  ])("$name", async ({ argv, code, want }) => {
    expect(await run("why", ...argv)).toMatchObject({ code, stdout: expect.stringContaining(want) as string, stderr: "" });
  });

  it("prints JSON for programs", async () => {
    expect(JSON.parse((await run("why", "a", "b", "-f", "shop", "-o", "json")).stdout)).toMatchObject([
      { from: "shop/a", open: true, steps: [{ point: "egress" }, {}, {}] },
    ]);
  });

  it.each([
    { name: "one name", argv: ["a", "-f", "shop"], want: "give a caller and a callee" },
    { name: "files and no names", argv: ["-f", "shop/a.yaml", "shop/b.yaml", "next/a.yaml"], want: "give a caller and a callee" },
    { name: "three names", argv: ["a", "b", "c", "-f", "shop"], want: "give a caller and a callee" },
    { name: "a misspelled name", argv: ["a", "bb", "-f", "shop"], want: "there is no service bb" },
    {
      name: "invalid files",
      argv: ["a", "b", "-f", "bad/wrong.yaml"],
      want: "not all files could be read:\n  bad/wrong.yaml: spec.containers",
    },
    { name: "a missing file", argv: ["a", "b", "-f", "gone"], want: "gone: there is no such file or folder" },
    { name: "files and a cluster", argv: ["a", "b", "-f", "shop", "--context", "x"], want: "not both" },
    { name: "a wrong flag", argv: ["a", "b", "-f", "shop", "--gateway", "x"], want: "--gateway" },
    { name: "a wrong flag for a cluster", argv: ["a", "b", "--gateway", "x"], want: "--gateway" },
    { name: "no cluster", argv: ["a", "b"], want: "no kubeconfig" },
    { name: "assertions and names", argv: ["a", "b", "--assert", "x", "-f", "shop"], want: "leave out the two names" },
    { name: "a missing file of assertions", argv: ["--assert", "gone", "-f", "shop"], want: "--assert gone: there is no such file" },
  ])("$name is exit code 2", async ({ argv, want }) => {
    expect(await run("why", ...argv)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(want) as string });
  });
});

describe("lattice why --assert", () => {
  const check = (text: string, ...more: string[]) => runWith(text, "why", "--assert", "-", "-f", "shop", ...more);

  it("is 0 when all hold and 1 when one does not", async () => {
    expect(await check("- {from: shop/a, to: shop/b, expect: open}\n")).toEqual({
      code: 0,
      stderr: "",
      stdout: "ok    shop/a -> shop/b is open  (1 checked)\n1 hold\n",
    });
    expect(await check("- {from: shop/*, to: shop/b, expect: closed}\n")).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("shop/a -> shop/b:8080 is open") as string,
    });
    expect(JSON.parse((await check("[]", "-o", "json")).stdout)).toEqual([]);
  });

  it("is 2 when they are invalid", async () => {
    expect(await check("- {from: x}\n")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--assert -:\n  assertion 1: from must be") as string,
    });
    expect(await check("a: [")).toMatchObject({ code: 2, stderr: expect.stringContaining("--assert -:") as string });
    expect(await check("")).toMatchObject({ code: 2 });
  });
});

describe("lattice graph", () => {
  it("draws an SVG picture and a Mermaid flowchart, without Graphviz", async () => {
    const { code, stdout } = await run("graph", "-f", "shop", "-o", "svg");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" [^]*<\/svg>\n$/);
    expect(stdout).toContain("<title>shop/a -&gt; shop/b:8080: open</title>");
    const mermaid = await run("graph", "-f", "shop", "-o", "mermaid");
    expect(mermaid.stdout).toBe('flowchart LR\n  n0["shop/a"]\n  n1["shop/b"]\n  n0 -->|"8080"| n1\n');
  });

  it("refuses a picture of too many services, and names the alternative", async () => {
    const input = Array.from({ length: 201 }, (_, at) => serviceYaml(`s${at}`)).join("---\n");
    expect(await runWith(input, "graph", "-f", "-", "-o", "svg")).toEqual({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining(
        "the graph has 201 services and 0 edges, and a picture can have 200 and 600; pass fewer files",
      ) as string,
    });
  });

  it("prints edges as text, for Graphviz and as JSON", async () => {
    expect(await run("graph", "-f", "shop")).toEqual({ code: 0, stderr: "", stdout: "shop/a  ->  shop/b:8080  open\n" });
    expect((await run("graph", "-f", "shop", "-o", "dot")).stdout).toMatch(/^digraph mesh \{/);
    expect(JSON.parse((await run("graph", "-f", "shop", "-o", "json")).stdout)).toMatchObject({ edges: [{ open: true }] });
  });

  it("is exit code 2 after an error", async () => {
    expect((await run("graph")).code).toBe(2);
    expect((await run("graph", "-f", "bad")).code).toBe(2);
  });
});
