/**
 * Kubernetes' own end-to-end suite on `lattice api-server`: the specs that need no running container. It is built when this story runs;
 * only `npm run test:kube -- --all` runs it.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, type TestContext } from "vitest";
import { expectOk } from "#base";
import { obtainPrograms, type Obtained } from "../../../scripts/kube/obtain-binaries.ts";
import { E2E_SUITE } from "../../../scripts/kube/versions.ts";
import { ServerProcess } from "../../builders/api-server/server-process.ts";
import { E2E_MINUTES, runSuite } from "../e2e/run-suite.ts";
import { API_MACHINERY, type E2eSuite } from "../e2e/suites.ts";
import { sharedPlane } from "../harness/index.ts";

const BUILD_LIMIT_MS = 3_600_000;
const say = (line: string) => console.log(`e2e: ${line}`);

let home = "";
let server: ServerProcess | undefined;
let obtained: Obtained | undefined;

beforeAll(async () => {
  obtained = await obtainPrograms([E2E_SUITE], { beside: sharedPlane().binaries, environment: process.env, say });
  if (obtained.kind === "failed") throw new Error(obtained.why);
  home = mkdtempSync(join(tmpdir(), "lattice-e2e-"));
  server = new ServerProcess(home, ["--kubeconfig-out", join(home, "kubeconfig")], { controllers: true });
  if ((await server.url()) === undefined) throw new Error(`the server did not start: ${server.stderr}`);
}, BUILD_LIMIT_MS);

afterAll(async () => {
  await server?.kill();
  if (home !== "") rmSync(home, { recursive: true, force: true });
});

async function expectToPass(suite: E2eSuite, skip: TestContext["skip"]): Promise<void> {
  if (obtained?.kind !== "binaries") return skip(obtained?.why ?? "there is no suite");
  const folder = join(process.env["LATTICE_KUBE_LOGS"] ?? home, "e2e");
  mkdirSync(folder, { recursive: true });
  for (const { pattern, why } of suite.skips) say(`without "${pattern}": ${why}`);
  const report = expectOk(
    await runSuite(suite, {
      suite: join(obtained.folder, E2E_SUITE.name),
      kubectl: join(sharedPlane().binaries, "kubectl"),
      kubeconfig: join(home, "kubeconfig"),
      folder,
      say,
    }),
  );
  say(`${suite.name}: ${report.passed.length} specs passed, ${report.failed.length} failed`);
  expect(report.failed).toEqual([]);
  expect(report.passed.length).toBeGreaterThan(0);
}

test("the conformance specs of API machinery pass on the embedded server", { timeout: (E2E_MINUTES + 5) * 60_000 }, ({ skip }) =>
  expectToPass(API_MACHINERY, skip),
);
