/**
 * A cluster without Cilium and Istio, as two processes: `lattice api-server` without their kinds, `lattice operator` against it, and forty services that
 * would run unprotected. None of their pods starts; with `--allow-unprotected` they start, and the status reports it.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { latticeKinds } from "#crds";
import { fieldAt, type JsonObject, type KubeObject } from "#kube";
import { MeasuredProcess } from "../../builders/attacks/measured-process.ts";
import { startMeasuredApiServer, type MeasuredApiServer } from "../../builders/attacks/measured-api-server.ts";
import { TOKEN } from "../../builders/api-server/server-process.ts";
import { latticeService } from "../../builders/lattice-objects.ts";

const SERVICES = 40;

const kubeconfig = (url: string) =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "c",
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    clusters: [{ name: "c", cluster: { server: url } }],
    users: [{ name: "u", user: { token: TOKEN } }],
  });

async function create(server: MeasuredApiServer, path: string, body: object): Promise<void> {
  const answer = await server.exchange.request({ method: "POST", path, body: body as JsonObject });
  expect(answer, `${path} ${JSON.stringify(answer)}`).toMatchObject({ code: 201 });
}

async function items(server: MeasuredApiServer, path: string): Promise<readonly KubeObject[]> {
  const answer = await server.exchange.request({ method: "GET", path });
  return (fieldAt(answer === "in doubt" ? {} : answer.body, "items") ?? []) as unknown as readonly KubeObject[];
}

const SERVICES_PATH = "/apis/lattice.dev/v1alpha1/namespaces/shop/latticeservices";

/** Every service has a condition PoliciesApplied with this reason. */
async function untilAll(server: MeasuredApiServer, reason: string): Promise<void> {
  for (;;) {
    const services = await items(server, SERVICES_PATH);
    const reasons = services.map((service) => {
      const conditions = (fieldAt(service, "status", "conditions") ?? []) as unknown as readonly { type: string; reason: string }[];
      return conditions.find(({ type }) => type === "PoliciesApplied")?.reason;
    });
    if (reasons.length === SERVICES && reasons.every((one) => one === reason)) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

test("on a cluster without Cilium and Istio no pod of a service starts, without --allow-unprotected", { timeout: 120_000 }, async () => {
  await using server = await startMeasuredApiServer();
  for (const { crd } of latticeKinds) await create(server, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd());
  for (const name of ["lattice-system", "shop"]) {
    await create(server, "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }
  for (let at = 0; at < SERVICES; at += 1) await create(server, SERVICES_PATH, latticeService(`shop/s${at}`));
  const config = join(server.home, "kubeconfig");
  await writeFile(config, kubeconfig(server.url), { mode: 0o600 });
  {
    await using operator = new MeasuredProcess(["operator", "--kubeconfig", config, "--no-leader-elect"]);
    await operator.untilPrinted(/health and metrics at/);
    await operator.reset();
    await untilAll(server, "CRDsMissing");
    expect(await items(server, "/apis/apps/v1/namespaces/shop/deployments")).toEqual([]);
    expect(await items(server, "/api/v1/namespaces/shop/pods")).toEqual([]);
    await operator.expectWithinLimits("services on a cluster without Cilium and Istio");
  }
  await using operator = new MeasuredProcess(["operator", "--kubeconfig", config, "--no-leader-elect", "--allow-unprotected"]);
  await operator.untilPrinted(/health and metrics at/);
  await operator.reset();
  await untilAll(server, "Unprotected");
  expect((await items(server, "/apis/apps/v1/namespaces/shop/deployments")).length).toBeGreaterThan(0);
  await operator.expectWithinLimits("the same with --allow-unprotected");
});
