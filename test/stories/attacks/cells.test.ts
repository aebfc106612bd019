/** The attacks on a cell are tested beside the code that they attack. This checks that docs/security.md names them all. */
import { expect, test } from "vitest";
import { documentedTests, isTestOf } from "../../builders/documented-tests.ts";

const SOURCES = [
  "src/http/api-proxy/attacks.test.ts",
  "src/http/bootstrap/attacks.test.ts",
  "src/link/agent/agent-link.test.ts",
  "src/link/agent/attacks.test.ts",
  "src/link/tunnel/hostile-peers.test.ts",
  "src/operator/cell/attacks.test.ts",
  "src/operator/renewals.test.ts",
  "src/operator/renewals-on-sockets.test.ts",
  "test/long/cell-connections.test.ts",
];

test.each([
  { heading: "Attacks on a cell", rows: 27 },
  { heading: "What a child survives", rows: 9 },
])("the table $heading of docs/security.md names a test for every row, and each exists", ({ heading, rows }) => {
  const table = documentedTests("docs/security.md", heading);
  expect(table.length).toBeGreaterThanOrEqual(rows);
  expect(table.filter((name) => !isTestOf(SOURCES, name))).toEqual([]);
});
