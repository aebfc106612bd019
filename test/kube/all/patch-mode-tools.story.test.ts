/**
 * A Deployment of helm or kubectl, patched by Lattice, upgraded and rolled back by its own tool, and detached: it is then as if Lattice had never
 * been there, byte by byte of its spec. On the real API server and on the embedded one, with the operator's webhook over TLS.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { obtainPrograms } from "../../../scripts/kube/obtain-binaries.ts";
import { HELM, HELM_3 } from "../../../scripts/kube/versions.ts";
import { fieldAt } from "#kube";
import { sharedPlane, type Ran } from "../harness/index.ts";
import { DEPLOYMENT, FIRST } from "../patch-mode/owned-manifest.ts";
import { OWNER_TOOLS, type ToolContext } from "../patch-mode/owner-tools.ts";
import {
  attach,
  detach,
  installCrds,
  isPatched,
  noticeable,
  readDeployment,
  specText,
  startPatchOperator,
  type PatchOperator,
} from "../patch-mode/patch-operator.ts";
import { embeddedServer, realServer, type PatchServer } from "../patch-mode/patch-servers.ts";

const BUILD_LIMIT_MS = 3_600_000;
const UPGRADED = { level: "warn", memory: "96Mi", replicas: 2 };
const TOOLS = ["helm 3", "helm 4, client-side", "helm 4, server-side", "kubectl apply -k", "kubectl apply -k --server-side"];

const folder = mkdtempSync(join(tmpdir(), "lattice-patch-mode-"));
const operators = new Map<string, PatchOperator>();
let helm = "";
let skipped: string | undefined;

beforeAll(async () => {
  const say = (line: string) => console.log(`helm: ${line}`);
  const obtained = await obtainPrograms([HELM, HELM_3], { beside: sharedPlane().binaries, environment: process.env, say });
  if (obtained.kind === "failed") throw new Error(obtained.why);
  if (obtained.kind === "skipped") return void (skipped = obtained.why);
  helm = obtained.folder;
  for (const server of [realServer(), await embeddedServer()]) {
    await installCrds(server);
    operators.set(server.name, await startPatchOperator(server, await server.makeNamespace("patching")));
  }
}, BUILD_LIMIT_MS);

afterAll(async () => {
  for (const operator of operators.values()) {
    await operator.stop();
    await operator.server.close();
  }
  rmSync(folder, { recursive: true, force: true });
});

async function contextOn(server: PatchServer): Promise<ToolContext> {
  const namespace = await server.makeNamespace("patched");
  await server.request({
    method: "POST",
    path: `/api/v1/namespaces/${namespace}/serviceaccounts`,
    body: { metadata: { name: DEPLOYMENT } },
  });
  return { server, namespace, folder: mkdtempSync(join(folder, "tool-")), kubectl: sharedPlane().binaries, helm };
}

async function succeeds(running: Promise<Ran>): Promise<void> {
  const { code, stderr } = await running;
  expect([code, code === 0 ? "" : stderr]).toEqual([0, ""]);
}

const toolOf = (name: string) => OWNER_TOOLS.find((tool) => tool.name === name) ?? OWNER_TOOLS[0];

describe.each(["real", "embedded"])("on the %s API server, a Deployment of", (which) => {
  test.for(TOOLS)("%s is patched, upgraded, rolled back and detached: before = after", { timeout: 240_000 }, async (name, { skip }) => {
    if (skipped !== undefined) skip(skipped);
    const [tool, operator] = [toolOf(name), operators.get(which)];
    if (tool === undefined || operator === undefined) throw new Error("not started");
    const { server } = operator;
    const [patched, control] = [await contextOn(server), await contextOn(server)];
    const live = () => readDeployment(server, patched.namespace);
    const both = (act: (context: ToolContext) => Promise<Ran>) => Promise.all([succeeds(act(patched)), succeeds(act(control))]);
    const expectPatched = async () => expect(await isPatched(operator, patched.namespace)).toBe(true);
    const expectAsControl = async () => {
      const other = await readDeployment(server, control.namespace);
      expect(noticeable(await live(), patched.namespace)).toBe(noticeable(other, control.namespace));
    };

    await both((context) => tool.install(context, FIRST));
    const before = specText(server, await live());
    await attach(operator, patched.namespace);
    await both((context) => tool.upgrade(context, FIRST));
    await expectPatched();
    await both((context) => tool.upgrade(context, UPGRADED));
    await expectPatched();
    expect(fieldAt(await live(), "spec", "replicas")).toBe(2);
    await both((context) => tool.rollback(context, FIRST));
    await expectPatched();
    await detach(operator, patched.namespace);
    expect(specText(server, await live())).toBe(before);
    await expectAsControl();

    // patched again, detached after an upgrade, and upgraded without Lattice: no manager has lost a field
    await attach(operator, patched.namespace);
    await both((context) => tool.upgrade(context, UPGRADED));
    await detach(operator, patched.namespace);
    await expectAsControl();
    await both((context) => tool.upgrade(context, { ...UPGRADED, level: "error", memory: "32Mi" }));
    await expectAsControl();
  });
});
