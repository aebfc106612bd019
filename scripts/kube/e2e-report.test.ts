import { expect, test } from "vitest";
import { err, ok } from "#base";
import { E2eProgress, readE2eReport } from "./e2e-report.ts";

const spec = (state: string, leaf: string, more: object = {}) => ({
  ContainerHierarchyTexts: ["[sig-a] Watchers", "with labels"],
  LeafNodeType: "It",
  LeafNodeText: leaf,
  State: state,
  ...more,
});

test("a report names the specs that passed, and those that failed with their reason", () => {
  const suite = {
    SpecReports: [
      spec("passed", "observe an update"),
      spec("skipped", "needs a node"),
      spec("failed", "observe a deletion", { Failure: { Message: "timed out\nafter 60 s" } }),
      spec("panicked", "observe nothing"),
      { LeafNodeType: "ReportAfterSuite", State: "passed" },
    ],
  };
  expect(readE2eReport(JSON.stringify([suite]))).toEqual(
    ok({
      passed: ["[sig-a] Watchers with labels observe an update"],
      failed: [
        { name: "[sig-a] Watchers with labels observe a deletion", why: "timed out\nafter 60 s" },
        { name: "[sig-a] Watchers with labels observe nothing", why: "" },
      ],
    }),
  );
});

test("a suite that could not start has failed, under the name of the step", () => {
  const setup = { LeafNodeType: "SynchronizedBeforeSuite", LeafNodeText: "", State: "failed", Failure: { Message: "no server" } };
  expect(readE2eReport(JSON.stringify([{ SpecReports: [setup] }]))).toEqual(
    ok({ passed: [], failed: [{ name: "SynchronizedBeforeSuite", why: "no server" }] }),
  );
});

test.each(["", "{}", "[{"])("%j is not a report", (text) => {
  expect(readE2eReport(text)).toEqual(err("the report is not a list of suites"));
});

const OUTPUT = `Random Seed: 1 - will randomize all specs

Will run 71 of 7579 specs
SSSS••SS•
------------------------------
• [FAILED] [32.876 seconds]
[sig-a] Watchers [It] observe a deletion
k8s.io/kubernetes@v1.36.3/test/e2e/a.go:124

  Timeline >>
------------------------------
••SS
------------------------------
•• [FAILED] [0.1 seconds]
[sig-a] Quotas [It] count
x.go:1
`;

test.each([1, 2, 7, 64, OUTPUT.length])("progress is read from the output, in chunks of %i characters", (size) => {
  const progress = new E2eProgress();
  for (let at = 0; at < OUTPUT.length; at += size) progress.read(OUTPUT.slice(at, at + size));
  expect({ ...progress }).toEqual({
    total: 71,
    completed: 8,
    failures: ["[sig-a] Watchers [It] observe a deletion", "[sig-a] Quotas [It] count"],
  });
});
