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
const open = { closed: false, revoked: false, certificates: [] };
const certificate = (serial: string, connected = true) => ({ serial, connected });
/** A child that asks for another certificate in place of number 01. */
const asking = { ...object({ "lattice.dev/new-certificate": "01" }) };
const used = { closed: true, revoked: false, certificates: [certificate("00"), certificate("01")] };

const rows: readonly { name: string; given: Partial<AdoptionState>; want: ReturnType<typeof adoptionStep> }[] = [
  { name: "a new adopted cluster gets an offer", given: {}, want: "offer" },
  { name: "an offer stays until the agent connects", given: { offer, access: open }, want: undefined },
  { name: "a record without an offer gets one: the operator stopped between them", given: { access: open }, want: "offer" },
  { name: "an expired offer is replaced", given: { offer, access: open, now: NOW + 3_600_000 }, want: "offer" },
  { name: "an offer without an expiry is replaced", given: { offer: object(), access: open }, want: "offer" },
  { name: "a connected agent ends the offer", given: { offer, access: { ...open, closed: true } }, want: "withdraw" },
  {
    name: "an agent of earlier tokens that has connected ends it too",
    given: { offer, access: { ...open, certificates: [certificate("01")] } },
    want: "withdraw",
  },
  { name: "a connected agent needs no offer", given: { access: { ...open, closed: true } }, want: undefined },
  { name: "a revoked cluster gets no offer", given: { access: { ...open, revoked: true } }, want: undefined },
  { name: "a revoked cluster loses its offer", given: { offer, access: { ...open, revoked: true } }, want: "withdraw" },
  { name: "a deleted cluster loses its offer", given: { cluster: undefined, offer }, want: "withdraw" },
  { name: "a cluster that the cell made gets no offer", given: { cluster: object() }, want: undefined },
  { name: "a cell that is being deleted makes no offer", given: { isClosing: true }, want: undefined },
  { name: "a cell that is being deleted withdraws one", given: { isClosing: true, offer }, want: "withdraw" },
  { name: "a child gets an offer for another certificate", given: { cluster: asking, access: used }, want: "offer" },
  {
    name: "a child of a cell that is being deleted gets one, too",
    given: { cluster: asking, access: used, isClosing: true },
    want: "offer",
  },
  { name: "an offer that was used before is replaced", given: { cluster: asking, access: used, offer }, want: "offer" },
  {
    name: "an offer for another certificate stays",
    given: { cluster: asking, access: { ...used, closed: false }, offer },
    want: undefined,
  },
  {
    name: "a child that has its new certificate needs no offer",
    given: { cluster: asking, access: { closed: false, revoked: false, certificates: [certificate("02", false)] }, offer },
    want: "withdraw",
  },
  {
    name: "a child that has renewed its certificate needs no offer",
    given: { cluster: asking, access: { ...used, certificates: [...used.certificates, certificate("02")] } },
    want: undefined,
  },
  { name: "a child that was revoked gets no offer", given: { cluster: asking, access: { ...used, revoked: true } }, want: undefined },
  { name: "a child without a record gets no offer", given: { cluster: asking }, want: undefined },
];

describe("an adoption", () => {
  test.each(rows)("$name", ({ given, want }) => {
    expect(adoptionStep({ cluster: adopted, offer: undefined, access: undefined, isClosing: false, now: NOW, ...given })).toBe(want);
  });

  test.each([
    { name: "a cluster with the annotation", given: adopted, want: "uid-1" },
    { name: "an empty annotation", given: object({ "lattice.dev/adopted": "" }), want: undefined },
    { name: "no annotation", given: object(), want: undefined },
  ])("is read from $name", ({ given, want }) => {
    expect(adoptedCluster(given)).toBe(want);
  });
});
