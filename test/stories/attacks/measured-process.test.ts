/** Tests of the measurement: a story of an attack proves nothing if stalls and crashes are not detected. */
import { expect, test } from "vitest";
import { startMeasuredApiServer } from "../../builders/attacks/measured-api-server.ts";

test("an idle server has no stalls, responds to requests and is within the limits", { timeout: 60_000 }, async () => {
  await using server = await startMeasuredApiServer();
  expect(await server.exchange.request({ method: "GET", path: "/api/v1/namespaces" })).toMatchObject({ code: 200 });
  await server.process.expectWithinLimits("none");
});

test("work that blocks the event loop is measured", { timeout: 60_000 }, async () => {
  await using server = await startMeasuredApiServer({ controllers: false });
  const { longestStallMs: before } = await server.process.report();
  // a large body is parsed in one turn
  const data = Object.fromEntries(Array.from({ length: 18_000 }, (_, at) => [`key-${at}`, "x".repeat(40)]));
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "large" }, data };
  await server.exchange.request({ method: "POST", path: "/api/v1/namespaces/default/configmaps", body });
  const { longestStallMs: after } = await server.process.report();
  expect(after).toBeGreaterThan(before);
  expect(after).toBeGreaterThanOrEqual(10);
});

test("the report of a process that has ended is an error", { timeout: 60_000 }, async () => {
  await using server = await startMeasuredApiServer({ controllers: false });
  await server.process[Symbol.asyncDispose]();
  await expect(server.process.report()).rejects.toThrow("the process ended");
});
