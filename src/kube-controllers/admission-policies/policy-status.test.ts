/** The status of admission policies. */
import { expect, test } from "vitest";
import { expectOk } from "#base";
import { validatingAdmissionPolicies } from "#kube";
import { controlledCluster } from "../../../test/builders/controlled-cluster.ts";
import { policyStatusController } from "./policy-status.ts";

test("observedGeneration follows every generation of a policy, with one write each", async () => {
  const cluster = await controlledCluster({ controllers: [policyStatusController] });
  const { client, running, writes } = cluster;
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }];
  const spec = { matchConstraints: { resourceRules: rules }, validations: [{ expression: "true" }] };
  const policy = { apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingAdmissionPolicy", metadata: { name: "p" }, spec };
  expectOk(await client.create(validatingAdmissionPolicies, policy));
  await running.idle();
  const seen = async () => expectOk(await client.get(validatingAdmissionPolicies, { name: "p" })).status;
  expect(await seen()).toEqual({ observedGeneration: 1, typeChecking: {} });
  const change = { spec: { validations: [{ expression: "1 < 2" }] } };
  expectOk(await client.patch(validatingAdmissionPolicies, { name: "p" }, { type: "merge", patch: change }));
  await running.idle();
  expect(await seen()).toEqual({ observedGeneration: 2, typeChecking: {} });
  const before = writes.length;
  expectOk(await client.patch(validatingAdmissionPolicies, { name: "p" }, { type: "merge", patch: { metadata: { labels: { a: "b" } } } }));
  await running.idle();
  expect(writes).toHaveLength(before);
  expect(await cluster.end()).toBe(0);
});
