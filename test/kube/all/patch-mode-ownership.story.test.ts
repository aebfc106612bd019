/**
 * Who owns a field that a mutating webhook wrote, and what the next run of the owner's tool does with it: real helm and kubectl, on the real
 * API server and on the embedded one. The results are in patch-mode/measured (`-u -t real` writes them anew), and as a table in docs/guides/patch-mode.md.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { obtainPrograms } from "../../../scripts/kube/obtain-binaries.ts";
import { HELM, HELM_3 } from "../../../scripts/kube/versions.ts";
import { startHookHost, type HookHost } from "../../contracts/client/hook-host.ts";
import { sharedPlane } from "../harness/index.ts";
import { measureIn } from "../patch-mode/measure.ts";
import { SCENARIOS, type Scenario } from "../patch-mode/measured-scenarios.ts";
import { stepText } from "../patch-mode/measured-text.ts";
import { measuringWebhook } from "../patch-mode/measuring-webhook.ts";
import { fileOf, OWNER_TOOLS, type OwnerTool } from "../patch-mode/owner-tools.ts";
import { embeddedServer, realServer, type PatchServer } from "../patch-mode/patch-servers.ts";
import { withWrittenFields } from "../patch-mode/written-fields.ts";

const BUILD_LIMIT_MS = 3_600_000;

let hooks: HookHost | undefined;
let helm = "";
let skipped: string | undefined;
const folder = mkdtempSync(join(tmpdir(), "lattice-patch-mode-"));
const servers = new Map<string, PatchServer>();

beforeAll(async () => {
  const say = (line: string) => console.log(`helm: ${line}`);
  const obtained = await obtainPrograms([HELM, HELM_3], { beside: sharedPlane().binaries, environment: process.env, say });
  if (obtained.kind === "failed") throw new Error(obtained.why);
  if (obtained.kind === "skipped") return void (skipped = obtained.why);
  helm = obtained.folder;
  hooks = await startHookHost();
  for (const server of [realServer(), await embeddedServer()]) servers.set(server.name, server);
}, BUILD_LIMIT_MS);

afterAll(async () => {
  await Promise.all([...servers.values()].map((server) => server.close()));
  await hooks?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function measured(server: PatchServer, host: HookHost, tool: OwnerTool, { name, run }: Scenario): Promise<string> {
  const namespace = await server.makeNamespace("measured");
  const context = { server, namespace, folder: mkdtempSync(join(folder, "tool-")), kubectl: sharedPlane().binaries, helm };
  const webhook = measuringWebhook(server, host, withWrittenFields);
  const steps = await run({ tool, context, webhook, measure: measureIn(server, namespace, webhook) });
  return `## ${tool.name}: ${name}\n${steps.map(stepText).join("")}`;
}

describe.each(["real", "embedded"])("on the %s API server, the fields of a webhook are owned and kept as measured, with", (which) => {
  test.for(OWNER_TOOLS)("$name", { timeout: 240_000 }, async (tool, { skip }) => {
    if (skipped !== undefined) skip(skipped);
    const server = servers.get(which);
    if (server === undefined || hooks === undefined) throw new Error("the servers have not started");
    const host = hooks;
    const texts = await Promise.all(SCENARIOS.map((scenario) => measured(server, host, tool, scenario)));
    await expect(texts.join("\n")).toMatchFileSnapshot(fileOf(tool.name));
  });
});
