/** Runs the tests of docs/guides/test-your-operator.md as a user runs them, with the built package. Jest is tested in test/long. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { projectRoot } from "../../scripts/process/project.ts";
import { runNode } from "../../scripts/process/run-program.ts";
import { projectUsingLattice, type UserProject } from "../builders/built-package.ts";

const GUIDE = "docs/guides/test-your-operator";
let project: UserProject;
beforeAll(async () => {
  project = await projectUsingLattice(GUIDE, ["vitest", "vite"]);
}, 60_000);
afterAll(() => project.remove());

test("the tests for node:test pass", async () => {
  const ran = await runNode("--test", ["node-test/greeting.test.ts"], { cwd: project.root, env: cleanEnv() });
  expect(ran.stdout).toMatch(/pass 2\b/);
  expect(ran.code, ran.stdout + ran.stderr).toBe(0);
});

test("the tests for vitest pass", async () => {
  const vitest = join(project.root, "node_modules/vitest/vitest.mjs");
  const ran = await runNode(vitest, ["run", "vitest"], { cwd: project.root, env: { ...cleanEnv(), NO_COLOR: "1" } });
  expect(ran.stdout, ran.stderr).toMatch(/Tests +3 passed/);
  expect(ran.code).toBe(0);
});

test("the package also works from CommonJS", async () => {
  const program = `
    const { startEmbeddedCluster, resources } = require("@lattice-fleet/lattice/kube-server");
    startEmbeddedCluster().then(async (cluster) => {
      const answer = await cluster.client.get(resources.namespaces, { name: "default" });
      await cluster.close();
      console.log(answer.value.metadata.name);
    });`;
  const ran = await runNode("--input-type=commonjs", ["--eval", program], { cwd: project.root, env: cleanEnv() });
  expect(ran).toMatchObject({ stdout: "default\n", code: 0 });
});

test("lattice api-server runs a suite with its definitions, and exits with the suite's code", async () => {
  const suite = `
    const kubeconfig = require("fs").readFileSync(process.env.KUBECONFIG, "utf8");
    const [url, token] = [/server: (\\S+)/.exec(kubeconfig)[1], /token: (\\S+)/.exec(kubeconfig)[1]];
    fetch(url + "/apis/example.com/v1/greetings", { headers: { authorization: "Bearer " + token } }).then((answer) => {
      console.log(answer.status);
      process.exitCode = 3;
    });`;
  const flags = ["--http", "--no-controllers", "--crds", join(GUIDE, "crds")];
  const command = ["--", process.execPath, "-e", suite];
  const ran = await runNode("src/bin/lattice.ts", ["api-server", ...flags, ...command], { cwd: projectRoot, env: cleanEnv() });
  expect(ran, ran.stderr).toMatchObject({ stdout: "200\n", code: 3 });
});

test("the guide shows the content of the files", async () => {
  const guide = await readFile(`${GUIDE}.md`, "utf8");
  for (const file of ["greeting-operator.ts", "vitest/greeting.test.ts"]) {
    const text = await readFile(join(GUIDE, file), "utf8");
    expect(guide).toContain(`\n${text}\`\`\``);
  }
});

/** The environment without vitest's own variables. */
function cleanEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_OPTIONS|NODE_TEST|NODE_V8|TEST$|MODE$)/.test(name)),
  );
}
