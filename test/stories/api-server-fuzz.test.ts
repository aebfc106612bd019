/** Three thousand hostile requests: no exception, no 500 of our own, no prototype changed. test/long throws many more. */
import { expect, test } from "vitest";
import { fuzz } from "../builders/api-server/fuzz.ts";

test("three thousand hostile requests are all answered, and no answer is a mistake of ours", { timeout: 60_000 }, async () => {
  const report = await fuzz({ seed: 20, requests: 3_000 });
  expect(report.wrong).toEqual([]);
  // most are refused, but enough get in to make the refusals mean something
  expect(report.byStatus.get(201)).toBeGreaterThan(30);
  expect(report.byStatus.get(200)).toBeGreaterThan(30);
});
