import { expect, test } from "vitest";
import { routeRecord } from "./route-record.ts";

const held = new Map([["web", { host: "a.test", path: "/" }]]);
const had = (host: string) => ({ status: { routes: { web: { host, path: "/", since: "2026-01-01T00:00:00Z" } } } });
const NOW = "2026-02-01T00:00:00Z";

test.each([
  { name: "a new route is recorded from now on", given: {}, want: NOW },
  { name: "a route that stays keeps its time", given: had("a.test"), want: "2026-01-01T00:00:00Z" },
  { name: "a route that moves to another host is new there", given: had("b.test"), want: NOW },
])("$name", ({ given, want }) =>
  expect(routeRecord(given as Parameters<typeof routeRecord>[0], held, NOW)).toEqual({ web: { host: "a.test", path: "/", since: want } }),
);

test("a service without routes has no record", () => {
  expect(routeRecord(had("a.test") as Parameters<typeof routeRecord>[0], new Map(), NOW)).toBeUndefined();
});
