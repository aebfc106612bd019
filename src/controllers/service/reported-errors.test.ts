/** Each error of a service in its status, in conditions and in an event. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { latticeService } from "../../../test/builders/lattice-objects.ts";
import { OperatedCluster } from "../../../test/builders/operated-cluster.ts";
import { serviceErrorCases } from "../../../test/builders/service-error-cases.ts";

describe("each error is in the status, in conditions and in an event", () => {
  let operated: OperatedCluster;
  beforeAll(async () => {
    operated = await OperatedCluster.start({ objects: serviceErrorCases.map(({ given }, at) => latticeService(`e${at}/api`, given)) });
    await operated.live(3_000, 500);
  }, 60_000);
  afterAll(() => operated[Symbol.asyncDispose]());

  test.each(serviceErrorCases.map((row, at) => ({ ...row, namespace: `e${at}` })))(
    "$name",
    async ({ namespace, want, place, afterTemplates, waits }) => {
      const key = `${namespace}/api`;
      const { status } = await operated.service(key);
      expect(status).toMatchObject({ phase: waits === true ? "Pending" : "Failed", message: expect.stringContaining(want) as string });
      const templates = waits === true ? "DependencyNotFound" : "TemplateError";
      const reason = waits === true ? "DependencyNotFound" : "CompileError";
      expect(status?.message).toContain(`(at ${place})`);
      const inTemplates = afterTemplates === true ? { status: "Unknown", reason: "NotCompiled" } : { status: "False", reason: templates };
      expect(await operated.condition(key, "TemplatesResolved")).toMatchObject(inTemplates);
      for (const type of ["ConfigCompiled", "Ready"]) {
        const reported = { status: "False", reason, message: expect.stringContaining(want) as string };
        expect(await operated.condition(key, type)).toMatchObject(reported);
      }
      const events = (await operated.events()).filter(
        ({ regarding, reason }) =>
          !["DependenciesClosed", "NotCompiled"].includes(reason) && regarding["namespace"] === namespace && regarding["name"] === "api",
      );
      const type = waits === true ? "Normal" : "Warning";
      expect(events).toMatchObject([{ type, reason, note: expect.stringContaining(want.slice(0, 60)) as string }]);
    },
  );
});

test("a service that recovers has one event for it", async () => {
  await using operated = await OperatedCluster.start({ objects: [latticeService("shop/api")] });
  await operated.live(5_000, 500);
  const reported = (await operated.events()).filter(({ regarding }) => regarding["kind"] === "LatticeService");
  expect(reported.at(-1)).toMatchObject({ type: "Normal", reason: "Settled", note: "everything is as the spec wants it" });
  expect(new Set(reported.map(({ reason }) => reason)).size).toBe(reported.length);
});
