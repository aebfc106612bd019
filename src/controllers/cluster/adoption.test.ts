import { describe, expect, test } from "vitest";
import { adoptedCluster, adoptionStep, type AdoptionState } from "./adoption.ts";

const NOW = Date.parse("2030-01-01T00:00:00Z");
const object = (annotations?: Record<string, string>) => ({
  apiVersion: "v1",
  kind: "X",
  metadata: { name: "leaf", ...(annotations === undefined ? {} : { annotations }) },
});
const adopted = object({ "lattice.dev/adopted": "uid-1" });
const offer = object({ "lattice.dev/expires": "2030-01-01T01:00:00Z" });
const open = { closed: false, revoked: false, hasConnected: false };

const rows: readonly { name: string; given: Partial<AdoptionState>; want: ReturnType<typeof adoptionStep> }[] = [
  { name: "a new adopted cluster gets an offer", given: {}, want: "offer" },
  { name: "an offer stays until the agent connects", given: { offer, access: open }, want: undefined },
  { name: "a record without an offer gets one: the operator stopped between them", given: { access: open }, want: "offer" },
  { name: "an expired offer is replaced", given: { offer, access: open, now: NOW + 3_600_000 }, want: "offer" },
  { name: "an offer without an expiry is replaced", given: { offer: object(), access: open }, want: "offer" },
  { name: "a connected agent ends the offer", given: { offer, access: { ...open, closed: true } }, want: "withdraw" },
  {
    name: "an agent of earlier tokens that has connected ends it too",
    given: { offer, access: { ...open, hasConnected: true } },
    want: "withdraw",
  },
  { name: "a connected agent needs no offer", given: { access: { ...open, closed: true } }, want: undefined },
  { name: "a revoked cluster gets no offer", given: { access: { ...open, revoked: true } }, want: undefined },
  { name: "a revoked cluster loses its offer", given: { offer, access: { ...open, revoked: true } }, want: "withdraw" },
  { name: "a deleted cluster loses its offer", given: { cluster: undefined, offer }, want: "withdraw" },
  { name: "a cluster that the cell made gets no offer", given: { cluster: object() }, want: undefined },
];

describe("an adoption", () => {
  test.each(rows)("$name", ({ given, want }) => {
    expect(adoptionStep({ cluster: adopted, offer: undefined, access: undefined, now: NOW, ...given })).toBe(want);
  });

  test.each([
    { name: "a cluster with the annotation", given: adopted, want: "uid-1" },
    { name: "an empty annotation", given: object({ "lattice.dev/adopted": "" }), want: undefined },
    { name: "no annotation", given: object(), want: undefined },
  ])("is read from $name", ({ given, want }) => {
    expect(adoptedCluster(given)).toBe(want);
  });
});
