/** Malicious files: each compiles or is refused with an error, without other effects. */
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { fieldAt, parseYaml, type KubeObject } from "#kube";
import { runCli } from "../../test/builders/cli-io.ts";
import { hostileServices } from "../../test/builders/hostile-services.ts";

const MAX_OUTPUT = 10_000;

describe("lattice compile", () => {
  test.each(hostileServices)("$name", async ({ given, want }) => {
    const { code, stdout, stderr } = await runCli(["compile", "-f", "-"], { input: given });
    expect(stderr.length).toBeLessThan(MAX_OUTPUT);
    expect(stderr).not.toMatch(/internal error|\n +at /);
    if ("refused" in want) {
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toContain(want.refused);
    } else {
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      const objects = expectOk(parseYaml(stdout)) as unknown as readonly KubeObject[];
      const config = objects.find(({ kind }) => kind === "ConfigMap");
      expect(fieldAt(config, "data")).toEqual(want.compiles);
    }
    expect(({} as Readonly<Record<string, unknown>>)["polluted"]).toBeUndefined();
  });

  test("a file above ten megabytes is not read to its end", async () => {
    const { code, stderr } = await runCli(["compile", "-f", "-"], { input: `a: "${"x".repeat(11_000_000)}"` });
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("larger than 10 MiB") as string });
  });
});

describe("control characters are escaped", () => {
  const named = (field: string) =>
    `apiVersion: lattice.dev/v1alpha1\nkind: LatticeService\nmetadata: {name: a}\nspec: {containers: {main: {image: x}}, "${field}": 1}\n`;
  test.each([
    { name: "escape sequences", given: "x\\e[2Jy", want: "x\\u001b[2Jy" },
    { name: "carriage returns", given: "x\\ry", want: "x\\u000dy" },
    { name: "the eight-bit form", given: "x\\u009b2Jy", want: "x\\u009b2Jy" },
  ])("$name", async ({ given, want }) => {
    for (const command of ["compile", "validate"]) {
      const { stdout, stderr } = await runCli([command, "-f", "-"], { input: named(given) });
      expect(stdout + stderr).toContain(want);
      // oxlint-disable-next-line no-control-regex -- they must not be there
      expect(stdout + stderr).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    }
  });

  test("characters that change the direction of text, on stderr", async () => {
    const { stderr } = await runCli(["compile", "-f", "-"], { input: named("x\u202ey") });
    expect(stderr).toContain("x\\u202ey");
  });

  test("output for programs is unchanged", async () => {
    const input =
      'apiVersion: lattice.dev/v1alpha1\nkind: LatticeService\nmetadata: {name: a}\nspec: {containers: {main: {image: x, variables: {A: "\\e[2J\\u0085\\u202e\\r\\0"}}}}\n';
    for (const form of ["yaml", "json"]) {
      const { stdout } = await runCli(["compile", "-f", "-", "-o", form], { input });
      const documents = expectOk(parseYaml(stdout)) as unknown as readonly (KubeObject & { items?: readonly KubeObject[] })[];
      const config = documents.flatMap((one) => one.items ?? [one]).find(({ kind }) => kind === "ConfigMap");
      expect(fieldAt(config, "data", "A")).toBe("\u001b[2J\u0085\u202e\r\u0000");
    }
  });
});
