/**
 * Whatever happens to the webhook or to the operator, Deployments are written, rolled out and rolled back by their own tool; and all have the patch
 * again within a minute after the fault. On the real API server and on the embedded one, with the whole operator.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fieldAt } from "#kube";
import { recordOf } from "#workload-patch";
import { eventually, sharedPlane, type Ran } from "../harness/index.ts";
import { DEPLOYMENT, FIRST } from "../patch-mode/owned-manifest.ts";
import { OWNER_TOOLS, type ToolContext } from "../patch-mode/owner-tools.ts";
import {
  attach,
  detach,
  installCrds,
  isPatched,
  patched,
  readDeployment,
  specText,
  startPatchOperator,
  type PatchOperator,
} from "../patch-mode/patch-operator.ts";
import { embeddedServer, realServer, type PatchServer } from "../patch-mode/patch-servers.ts";
import { WEBHOOK_FAULTS } from "../patch-mode/webhook-faults.ts";

const TOOLS = ["kubectl apply -k", "kubectl apply -k --server-side"].map((name) => OWNER_TOOLS.find((tool) => tool.name === name));
const folder = mkdtempSync(join(tmpdir(), "lattice-patch-faults-"));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A Deployment of each tool, with its context. */
async function install(server: PatchServer) {
  return Promise.all(
    TOOLS.map(async (tool) => {
      if (tool === undefined) throw new Error("no such tool");
      const namespace = await server.makeNamespace("faults");
      await server.request({
        method: "POST",
        path: `/api/v1/namespaces/${namespace}/serviceaccounts`,
        body: { metadata: { name: DEPLOYMENT } },
      });
      const binaries = sharedPlane().binaries;
      const context: ToolContext = { server, namespace, folder: mkdtempSync(join(folder, "tool-")), kubectl: binaries, helm: binaries };
      await succeeds(tool.install(context, FIRST));
      return { tool, context, namespace };
    }),
  );
}

type Installed = Awaited<ReturnType<typeof install>>;

async function succeeds(running: Promise<Ran>): Promise<void> {
  const { code, stderr } = await running;
  if (code !== 0) throw new Error(`ended with code ${code}: ${stderr.trim()}`);
}

/** The text of a failure, so that the rest of a story still runs; "": none. */
async function outcomeOf(acting: Promise<unknown>): Promise<string> {
  try {
    await acting;
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : "failed";
  }
}

let replicas = 1;

/** Each tool writes its Deployment with another number of replicas, which must be stored. */
async function upgradeAll(server: PatchServer, installed: Installed): Promise<void> {
  replicas += 1;
  const wanted = replicas;
  for (const { tool, context, namespace } of installed) {
    await succeeds(tool.upgrade(context, { ...FIRST, replicas: wanted }));
    expect(fieldAt(await readDeployment(server, namespace), "spec", "replicas")).toBe(wanted);
  }
}

/** The ReplicaSet of the current template exists: the Deployment rolls. */
async function rolled(server: PatchServer, namespace: string): Promise<void> {
  await eventually(`Deployment ${namespace}/${DEPLOYMENT} is rolled out`, async () => {
    const deployment = await readDeployment(server, namespace);
    return fieldAt(deployment, "status", "observedGeneration") === fieldAt(deployment, "metadata", "generation") || undefined;
  });
}

/**
 * Writes all Deployments again and again; `stop` returns the writes that were refused. Between two writes of a Deployment there is a pause in which a
 * slower one fits: an API server tries a write again after each other write of the object, and so would never store one of two seconds. It gives up after
 * some of them with a conflict, which is no refusal: clients send such a write again, and so does this one.
 */
function startLoad(server: PatchServer, installed: Installed) {
  let [stopped, at] = [false, 0];
  const refused: string[] = [];
  const worker = async (namespace: string) => {
    while (!stopped) {
      at += 1;
      const began = performance.now();
      const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${DEPLOYMENT}?fieldManager=load`;
      const body = { metadata: { annotations: { load: `${at}` } } };
      const written = server.request({ method: "PATCH", path, body, contentType: "application/merge-patch+json" });
      const isStored = ({ code, text }: Awaited<typeof written>) => code === 409 || expect([code, text]).toEqual([200, expect.any(String)]);
      const lost = await outcomeOf(written.then(isStored));
      if (lost !== "") refused.push(lost);
      await new Promise((resolve) => setTimeout(resolve, 50 + 2 * (performance.now() - began)));
    }
  };
  const workers = installed.map(({ namespace }) => worker(namespace));
  return async () => {
    stopped = true;
    await Promise.all(workers);
    return { refused, writes: at };
  };
}

describe.each(["real", "embedded"])("on the %s API server, no Deployment is refused when the webhook", (which) => {
  let operator: PatchOperator | undefined;

  beforeAll(async () => {
    const server = which === "real" ? realServer() : await embeddedServer();
    await installCrds(server);
    operator = await startPatchOperator(server, await server.makeNamespace("patching"));
  });

  afterAll(async () => {
    await operator?.stop();
    await operator?.server.close();
  });

  const running = (): PatchOperator => {
    if (operator === undefined) throw new Error("not started");
    return operator;
  };

  /** New ones for every test: each begins without a record of earlier faults. */
  const patchedDeployments = async (): Promise<Installed> => {
    const installed = await install(running().server);
    for (const { namespace } of installed) await attach(running(), namespace, { changesVariable: false });
    return installed;
  };

  test.for(WEBHOOK_FAULTS)("$name, and all have the patch within a minute after it", { timeout: 240_000 }, async ({ begin }) => {
    const { server } = running();
    const installed = await patchedDeployments();
    const stop = startLoad(server, installed);
    const repair = await begin(running());
    const upgraded = await outcomeOf(upgradeAll(server, installed));
    operator = await repair();
    const converged = await outcomeOf(Promise.all(installed.map(({ namespace }) => patched(running(), namespace))));
    const { refused, writes } = await stop();
    expect({ upgraded, converged, refused }).toEqual({ upgraded: "", converged: "", refused: [] });
    expect(writes).toBeGreaterThan(2);
  });

  test("is down and the service sets a variable that the owner sets too", { timeout: 240_000 }, async () => {
    const { server, home } = running();
    const installed = await install(server);
    for (const { namespace } of installed) await attach(running(), namespace, { changesVariable: true });
    await running().stop();
    const upgraded = await outcomeOf(upgradeAll(server, installed));
    operator = await startPatchOperator(server, home);
    expect(upgraded).toBe("");
  });

  test("is restarted during a rollout", { timeout: 240_000 }, async () => {
    const { server, home } = running();
    const installed = await patchedDeployments();
    const stop = startLoad(server, installed);
    const rollout = outcomeOf(upgradeAll(server, installed));
    await running().stop();
    operator = await startPatchOperator(server, home);
    const upgraded = await rollout;
    const converged = await outcomeOf(Promise.all(installed.map(({ namespace }) => patched(running(), namespace))));
    const { refused } = await stop();
    expect({ upgraded, converged, refused }).toEqual({ upgraded: "", converged: "", refused: [] });
    for (const { namespace } of installed) await rolled(server, namespace);
  });

  test(
    "and the operator's namespace are deleted by force; installed again, it still knows what it changed",
    { timeout: 240_000 },
    async () => {
      const { server, home } = running();
      const installed = await patchedDeployments();
      const records = await Promise.all(installed.map(async ({ namespace }) => recordOf(await readDeployment(server, namespace))));
      await running().stop();
      await server.request({ method: "DELETE", path: `/api/v1/namespaces/${home}` });
      await eventually("the namespace is gone", async () => {
        const { code } = await server.request({ path: `/api/v1/namespaces/${home}` });
        return code === 404 || undefined;
      });
      await upgradeAll(server, installed);
      for (const { namespace } of installed) await rolled(server, namespace);
      expect(await Promise.all(installed.map(async ({ namespace }) => recordOf(await readDeployment(server, namespace))))).toEqual(records);
      await server.request({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name: home } } });
      operator = await startPatchOperator(server, home);
      for (const { namespace } of installed) await patched(operator, namespace);

      const control = await install(server);
      for (const { tool, context } of control) await succeeds(tool.upgrade(context, { ...FIRST, replicas }));
      for (const [index, { namespace }] of installed.entries()) {
        await detach(operator, namespace);
        expect(await isPatched(operator, namespace)).toBeUndefined();
        const other = await readDeployment(server, control[index]?.namespace ?? "");
        expect(specText(server, await readDeployment(server, namespace))).toBe(specText(server, other));
      }
    },
  );
});
