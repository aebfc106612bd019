/** Three thousand hostile requests to a server with all features: no exception, no unexpected 500, no changed prototype. test/long sends many more. */
import { describe, expect, test } from "vitest";
import { FakeClock, seededRandom } from "#base";
import { builtinKinds, createApiServer, createMemoryStore, type ApiServer } from "#kube-server";
import { WIDGETS } from "../builders/api-server/fuzz-first-objects.ts";
import { sendFuzzed } from "../builders/api-server/fuzz-in-process.ts";
import { fuzz } from "../builders/api-server/fuzz.ts";

test("three thousand hostile requests all get a response without a fault", { timeout: 120_000 }, async () => {
  const report = await fuzz({ seed: 20, requests: 3_000, chapter: 1_500 });
  expect(report.findings).toEqual([]);
  // most are rejected, but enough are accepted for the rejections to be meaningful
  expect(report.byStatus.get(201)).toBeGreaterThan(30);
  expect(report.byStatus.get(200)).toBeGreaterThan(30);
});

function fuzzServer(seed: number): ApiServer {
  const store = createMemoryStore();
  return createApiServer({ store, types: builtinKinds(store), clock: new FakeClock(), random: seededRandom(seed) });
}

describe("faults that fuzzing has found", () => {
  const APPLY = "application/apply-patch+yaml";
  const core = { apiVersion: "v1", kind: "Event", metadata: { name: "a" }, involvedObject: { namespace: "default" }, message: "m" };
  const other = { apiVersion: "events.k8s.io/v1", kind: "Event", metadata: { name: "a" }, regarding: { namespace: "default" }, note: "m" };

  test("a manager may apply an object in one version and then in another", async () => {
    const server = fuzzServer(1);
    const apply = (root: string, object: object) =>
      sendFuzzed(server, {
        method: "PATCH",
        url: `${root}/namespaces/default/events/a?fieldManager=m`,
        headers: { "content-type": APPLY },
        body: JSON.stringify({ reason: "R", reportingController: "c", ...object }),
      });
    await apply("/apis/events.k8s.io/v1", {
      ...other,
      type: "Normal",
      action: "A",
      reportingInstance: "i",
      eventTime: "2020-01-01T00:00:00.000000Z",
    });
    const created = await sendFuzzed(server, { method: "GET", url: "/api/v1/namespaces/default/events/a", headers: {}, body: undefined });
    const again = await apply("/api/v1", { ...core, reportingController: undefined });
    expect({ created: created.status, again: again.status }, again.text).toEqual({ created: 200, again: 200 });
    // fields applied in the other group stay without an owner, as on a real server (1.36.3)
    expect(JSON.parse(again.text)).toMatchObject({ type: "Normal", action: "A", reportingInstance: "i" });
    expect((JSON.parse(again.text) as { metadata: object }).metadata).toMatchObject({
      managedFields: [{ apiVersion: "v1", fieldsV1: { "f:involvedObject": {}, "f:message": {}, "f:reason": {} } }],
    });
  });

  const refused = [
    { name: "a CronJob without metadata", given: { url: "/apis/batch/v1/namespaces/default/cronjobs", body: '{"":""}' }, want: 422 },
    {
      name: "a PriorityClass without a name",
      given: { url: "/apis/scheduling.k8s.io/v1/priorityclasses", body: '{"metadata":{}}' },
      want: 422,
    },
    {
      name: "a body that never closes its braces",
      given: { url: "/api/v1/namespaces/default/configmaps", body: '{"a":'.repeat(5_000) },
      want: 400,
    },
  ];
  test("an apply of a number that is too large for its type, to an object written in another version, is rejected", async () => {
    const server = fuzzServer(1);
    const scaler = (version: string, minReplicas: number) => ({
      apiVersion: `autoscaling/${version}`,
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "a" },
      spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "a" }, minReplicas, maxReplicas: 3 },
    });
    const apply = (version: string, manager: string, minReplicas: number) =>
      sendFuzzed(server, {
        method: "PATCH",
        url: `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers/a?fieldManager=${manager}&force=true`,
        headers: { "content-type": APPLY },
        body: JSON.stringify(scaler(version, minReplicas)),
      });
    expect((await apply("v1", "one", 1)).status).toBe(201);
    const answer = await apply("v2", "two", 2 ** 32);
    expect(answer.status).toBe(500);
    expect(answer.text).toContain("json: cannot unmarshal number 4294967296 into Go");
  });

  test("a custom object without metadata is rejected", async () => {
    const server = fuzzServer(1);
    const post = (url: string, body: object) =>
      sendFuzzed(server, { method: "POST", url, headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    expect((await post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", WIDGETS)).status).toBe(201);
    const answer = await post("/apis/fuzz.test/v1/namespaces/default/widgets", { apiVersion: "fuzz.test/v1", kind: "Widget" });
    expect(answer.status).toBe(422);
  });

  test.each(refused)("$name is rejected", async ({ given: { url, body }, want }) => {
    const answer = await sendFuzzed(fuzzServer(1), { method: "POST", url, headers: { "content-type": "application/json" }, body });
    expect(answer.status).toBe(want);
  });
});
