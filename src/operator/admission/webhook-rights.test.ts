import { expect, test, vi } from "vitest";
import { expectOk } from "#base";
import { rbacFor } from "#controller-runtime";
import { mutatingWebhookConfigurations, secrets, type KubeObject } from "#kube";
import { grantsOf, refusedRequests, requestedGrants } from "../../../test/builders/attacks/grants.ts";
import { OPERATOR_USER } from "../../../test/builders/operated-cluster.ts";
import { OPERATOR_NAME, OPERATOR_NAMESPACE, operatorRbac } from "../controllers.ts";
import { CONFIGURATION, HOME, startAdmissionWorld, type AdmissionWorld } from "./admission-world.test-support.ts";
import { ADMISSION_CERTIFICATE_SECRET } from "./serving-secret.ts";
import { admissionWebhookService, webhookConfigurationRights } from "./webhook-service.ts";

const API = { namespace: "shop", name: "api" };
const until = <T>(look: () => T | Promise<T>) => vi.waitFor(look, { timeout: 20_000, interval: 20 });

async function grant({ cluster, client }: AdmissionWorld, objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects.filter(({ kind }) => kind !== "Namespace"))
    expectOk(await client.apply(cluster.resource(object.kind, object.apiVersion), object, { fieldManager: "admin" }));
}

test("with the roles of the operator no request of the webhook is denied, and every verb that it needs is used", async () => {
  const world = await startAdmissionWorld();
  await grant(world, operatorRbac());
  const { lead } = world.startReplica({ kind: "service", host: "127.0.0.1", port: 0 }, OPERATOR_USER);
  await lead();
  await world.addPatch(API);
  await until(async () => expect(await world.hook()).toBeDefined());
  expectOk(await world.client.patch(mutatingWebhookConfigurations, { name: CONFIGURATION }, { type: "merge", patch: { webhooks: [] } }));
  await until(async () => expect(await world.hook()).toBeDefined());
  const data = { "tls.key": "eA==" };
  expectOk(await world.client.patch(secrets, { namespace: HOME, name: ADMISSION_CERTIFICATE_SECRET }, { type: "merge", patch: { data } }));
  await until(() => expect([...requestedGrants(world.cluster, OPERATOR_USER)]).toContain("update secrets"));
  await world.removePatch(API);
  await until(async () => expect(await world.configuration()).toBeUndefined());
  expect(refusedRequests(world.cluster, OPERATOR_USER)).toEqual([]);
  const declared = [admissionWebhookService, webhookConfigurationRights(HOME)];
  const needed = grantsOf(rbacFor(declared, { name: OPERATOR_NAME, namespace: OPERATOR_NAMESPACE }));
  const used = requestedGrants(world.cluster, OPERATOR_USER);
  expect([...needed].filter((one) => !used.has(one) && !/(leases|events)/.test(one))).toEqual([]);
});

test("an operator of some namespaces may not configure a webhook, says so once, and serves it when an administrator grants the right", async () => {
  const world = await startAdmissionWorld();
  await grant(world, operatorRbac(HOME, ["shop"]));
  const { lead, lines, replica } = world.startReplica(undefined, OPERATOR_USER);
  await lead();
  await world.addPatch(API);
  const refusals = () => lines.filter(({ message }) => message === "the admission webhook cannot be configured");
  await until(() => expect(refusals()).toHaveLength(1));
  expect(String(refusals()[0]?.fields["reason"])).toContain(`MutatingWebhookConfiguration ${CONFIGURATION}`);
  expect(replica.health().ready).toBe(true);
  const more = rbacFor([webhookConfigurationRights(HOME)], { name: `${OPERATOR_NAME}-webhook`, namespace: OPERATOR_NAMESPACE });
  const subject = { kind: "ServiceAccount", name: OPERATOR_NAME, namespace: OPERATOR_NAMESPACE };
  await grant(
    world,
    more
      .filter(({ kind }) => kind.startsWith("Cluster"))
      .map((object) => ("subjects" in object ? { ...object, subjects: [subject] } : object)),
  );
  await world.addPatch({ namespace: "shop", name: "web" });
  await until(async () => expect(await world.hook()).toBeDefined());
});
