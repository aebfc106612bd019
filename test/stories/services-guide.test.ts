/** Runs docs/guides/services.md as written: each command prints the shown output. `…` marks lines that were left out. */
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk, sensitive } from "#base";
import { compileAll, describeServiceError, loadWorld } from "#compile";
import { parseYaml } from "#kube";
import { bucket } from "../../docs/guides/services/bucket.ts";
import { consoleSteps, runStep, shownPattern, yamlBlocks } from "../builders/console-steps.ts";
import { documentsOf, serviceYaml } from "../builders/world.ts";

const root = join(import.meta.dirname, "../..");

/** Run one after the other, since later ones use files that earlier ones wrote. */
const guide = readFileSync(join(root, "docs/guides/services.md"), "utf8");
const steps = consoleSteps(guide);

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "lattice-guide-"));
  for (const folder of ["examples", "docs/guides/services"]) cpSync(join(root, folder), join(cwd, folder), { recursive: true });
});
afterAll(() => rmSync(cwd, { recursive: true }));

test("the guide has commands to run", () => {
  expect(steps.length).toBeGreaterThan(10);
});

describe("YAML that the guide shows", () => {
  const [hello, provisioner] = yamlBlocks(guide).map((block) => expectOk(parseYaml(block))[0]);

  test("equals the file that the guide names", () => {
    expect(hello).toEqual(expectOk(parseYaml(readFileSync(join(root, "docs/guides/services/hello.yaml"), "utf8")))[0]);
  });

  test("declares a resource type that services can use", () => {
    const service = serviceYaml("a", { spec: "  resources: {files: {type: s3-bucket}}\n" }).replace(
      '{image: "a:1"}',
      '{image: a, variables: {URL: "${resources.files.url}", KEY: "${resources.files.key}"}}',
    );
    const secrets = new Map([["s3/files/key", sensitive("k")]]);
    const { world, problems } = loadWorld([...documentsOf(service), { value: provisioner ?? null, from: "guide" }], { secrets });
    const { objects, errors } = compileAll(world);
    expect([problems, [...errors]]).toEqual([[], []]);
    expect(objects.find(({ kind }) => kind === "ConfigMap")).toMatchObject({
      data: { URL: "https://files.s3.eu-central-1.amazonaws.com" },
    });
    expect(objects.find(({ kind }) => kind === "Secret")).toMatchObject({ data: { KEY: "aw==" } });
  });
});

describe("the resource type that the guide implements in code", () => {
  test("equals the file that the guide names", () => {
    expect(guide).toContain(`\`\`\`ts\n${readFileSync(join(root, "docs/guides/services/bucket.ts"), "utf8")}\`\`\`\n`);
  });

  test("provides an address, and a key that is in a Secret only", () => {
    const service = serviceYaml("a", { spec: "  resources: {files: {type: bucket, params: {region: north}}}\n" }).replace(
      '{image: "a:1"}',
      '{image: a, variables: {URL: "${resources.files.url}", KEY: "${resources.files.key}"}}',
    );
    const secrets = new Map([["buckets/files/key", sensitive("k")]]);
    const { objects, errors } = compileAll(loadWorld(documentsOf(service), { secrets, provisioners: [bucket] }).world);
    expect([...errors]).toEqual([]);
    expect(objects.find(({ kind }) => kind === "ConfigMap")).toMatchObject({ data: { URL: "https://files.north.buckets.example.com" } });
    expect(objects.find(({ kind }) => kind === "Secret")).toMatchObject({ data: { KEY: "aw==" } });
    const missing = [...compileAll(loadWorld(documentsOf(service), { provisioners: [bucket] }).world).errors.values()].flat();
    expect(missing.map(describeServiceError).join()).toContain("there is no secret 'buckets/files/key'");
  });
});

test.each(steps)("$command", async ({ command, shown }) => {
  expect((await runStep(command, cwd)).screen).toMatch(shownPattern(shown));
});

test("the diagram in the guide is the output of lattice graph", () => {
  const drawn = readFileSync(join(cwd, "shop.svg"), "utf8");
  expect(drawn).toBe(readFileSync(join(import.meta.dirname, "../../docs/guides/services/shop.svg"), "utf8"));
});
