/**
 * The life of one cluster with the real managers of Cluster API on a real API server: the golden file that the simulator is compared with.
 *
 * `npm run test:kube -- --all all/cluster-api-golden -u` writes the file anew.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk, seededRandom, systemClock } from "#base";
import { nodes, secrets, type KubeObject } from "#kube";
import { createKubeClient, httpTransport, loadKubeconfig, type KubeClient } from "#kube-client";
import { obtainPrograms } from "../../../scripts/kube/obtain-binaries.ts";
import { CAPI_BINARIES } from "../../../scripts/kube/versions.ts";
import { failedConditions, runScenario, SCENARIO_CLUSTER } from "../../builders/cluster-api/scenario.ts";
import { storyText } from "../../builders/cluster-api/story-text.ts";
import { startCapiManagers, type CapiManagers } from "../cluster-api/managers.ts";
import { eventually, realPlane, type RealPlane } from "../harness/index.ts";

const BUILD_LIMIT_MS = 3_600_000;
const STEP_MS = 300_000;
/** Managers look again after at most this time when they wait for something that they cannot watch. */
const QUIET_MS = 12_000;
const say = (line: string) => console.log(`cluster-api-golden: ${line}`);

let folder = "";
let plane: RealPlane;
let managers: CapiManagers | undefined;
let skipped: string | undefined;
const clients: KubeClient[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lattice-capi-golden-"));
  plane = await realPlane();
  const obtained = await obtainPrograms(CAPI_BINARIES, { beside: plane.binaries, environment: process.env, say });
  if (obtained.kind === "failed") throw new Error(obtained.why);
  if (obtained.kind === "skipped") return void (skipped = obtained.why);
  managers = await startCapiManagers({ kubeconfig: plane.kubeconfigPath, kubectl: (...args) => plane.kubectl(...args) }, obtained.folder);
  await plane.kubectlOk(["create", "namespace", SCENARIO_CLUSTER]);
}, BUILD_LIMIT_MS);

afterAll(async () => {
  for (const client of clients) await client.close();
  await managers?.close();
  await plane.stop();
  rmSync(folder, { recursive: true, force: true });
}, 120_000);

async function connect(path: string): Promise<KubeClient> {
  const config = expectOk(await loadKubeconfig({ path, env: {}, home: folder, clock: systemClock }));
  const client = createKubeClient({
    transport: httpTransport(config, { clock: systemClock }),
    clock: systemClock,
    random: seededRandom(1),
  });
  clients.push(client);
  return client;
}

/** The in-memory API server has no subresource `status`. */
async function failNode(parent: KubeClient, name: string): Promise<void> {
  const secret = expectOk(await parent.get(secrets, { namespace: SCENARIO_CLUSTER, name: `${SCENARIO_CLUSTER}-kubeconfig` }));
  const data = (secret as KubeObject & { readonly data?: Readonly<Record<string, string>> }).data ?? {};
  const path = join(folder, "child");
  writeFileSync(path, Buffer.from(data["value"] ?? "", "base64"), { mode: 0o600 });
  const child = await connect(path);
  const node = expectOk(await child.get(nodes, { name }));
  const conditions = failedConditions(node, new Date());
  expectOk(await child.patch(nodes, { name }, { type: "merge", patch: { status: { conditions } } }));
}

/** No event for a while. */
async function quiet(events: () => number): Promise<void> {
  let [seen, since] = [events(), performance.now()];
  while (performance.now() - since < QUIET_MS) {
    await delay(200);
    if (events() !== seen) [seen, since] = [events(), performance.now()];
  }
}

test("the life of one cluster", { timeout: 1_800_000 }, async ({ skip }) => {
  if (skipped !== undefined) return skip(skipped);
  const client = await connect(plane.kubeconfigPath);
  const until = async (what: string, holds: () => boolean) => {
    say(what);
    await eventually(what, () => Promise.resolve(holds() || undefined), { withinMs: STEP_MS });
  };
  const chapters = await runScenario({ client, until, quiet, failNode: (name) => failNode(client, name) });
  await expect(storyText(chapters)).toMatchFileSnapshot("../../builders/cluster-api/golden.txt");
});
