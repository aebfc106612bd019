import fc from "fast-check";
import { expect, test } from "vitest";
import { LIST_AFTER_FAILURES, next, START, type InformerInput, type InformerState, type Listing, type Watching } from "./states.ts";

const inputs = { now: 10_000, random: () => 1 };
const listing: Listing = { phase: "listing", paged: true, failures: 0 };
const watching: Watching = { phase: "watching", resourceVersion: "5", openedAt: 0, heard: false, failures: 0 };
const gone: InformerInput = { kind: "failed", error: { kind: "gone", message: "too old" } };
const broken: InformerInput = { kind: "failed", error: { kind: "network", message: "reset" } };
const backingOff = (cause: string, failures: number, waitMs: number, resume: object) => ({
  phase: "backing-off",
  until: inputs.now + waitMs,
  cause,
  failures,
  resume: { ...resume, failures },
});

const rows: readonly { name: string; given: readonly [InformerState, InformerInput]; want: object }[] = [
  { name: "it begins with a list in pages", given: [START, { kind: "waited" }], want: listing },
  {
    name: "after the list it watches from the list's resourceVersion",
    given: [listing, { kind: "listed", resourceVersion: "5" }],
    want: { ...watching, openedAt: inputs.now },
  },
  {
    name: "a list alone is no progress",
    given: [
      { ...listing, failures: 2 },
      { kind: "listed", resourceVersion: "5" },
    ],
    want: { ...watching, openedAt: inputs.now, failures: 2 },
  },
  {
    name: "a newer event advances the resourceVersion and resets the failures",
    given: [
      { ...watching, failures: 3 },
      { kind: "progress", resourceVersion: "6" },
    ],
    want: { ...watching, resourceVersion: "6", heard: true },
  },
  {
    name: "a repeated event at the start of a watch is no progress",
    given: [
      { ...watching, openedAt: inputs.now, failures: 3 },
      { kind: "progress", resourceVersion: "5" },
    ],
    want: { ...watching, openedAt: inputs.now, failures: 3 },
  },
  {
    name: "a bookmark on a watch that lasts is progress",
    given: [
      { ...watching, failures: 3 },
      { kind: "progress", resourceVersion: "5" },
    ],
    want: { ...watching, heard: true },
  },
  {
    name: "a late event does not move the watch back",
    given: [watching, { kind: "progress", resourceVersion: "4" }],
    want: { ...watching, heard: true },
  },
  { name: "events do not affect a list", given: [listing, { kind: "progress", resourceVersion: "6" }], want: listing },
  { name: "the end of a watch does not affect a list", given: [listing, { kind: "ended" }], want: listing },
  {
    name: "a watch that the server ended is resumed at once, without a list",
    given: [{ ...watching, failures: 1 }, { kind: "ended" }],
    want: { ...watching, openedAt: inputs.now },
  },
  {
    name: "a short watch with events is resumed at once",
    given: [{ ...watching, openedAt: inputs.now, heard: true }, { kind: "ended" }],
    want: { ...watching, openedAt: inputs.now },
  },
  {
    name: "a short watch without events is a failure: it would loop",
    given: [{ ...watching, openedAt: inputs.now }, { kind: "ended" }],
    want: backingOff("ended", 1, 500, { ...watching, openedAt: inputs.now }),
  },
  { name: "a broken watch is resumed from its last version", given: [watching, broken], want: backingOff("network", 1, 500, watching) },
  { name: "back-offs grow", given: [{ ...watching, failures: 2 }, broken], want: backingOff("network", 3, 2_000, watching) },
  { name: "a failed list is repeated", given: [listing, broken], want: backingOff("network", 1, 500, listing) },
  {
    name: "the server's Retry-After is the least wait",
    given: [listing, { kind: "failed", error: { kind: "too-many-requests", message: "later", retryAfterMs: 9_000 } }],
    want: backingOff("too-many-requests", 1, 9_000, listing),
  },
  { name: "a watch that timed out is resumed", given: [watching, { kind: "silent" }], want: backingOff("silent", 1, 500, watching) },
  { name: "the first 410 causes a list at once", given: [watching, gone], want: { ...listing, failures: 1 } },
  { name: "a 410 on a page causes a list without pages", given: [listing, gone], want: { ...listing, paged: false, failures: 1 } },
  { name: "repeated 410 causes a back-off", given: [{ ...watching, failures: 1 }, gone], want: backingOff("gone", 2, 1_000, listing) },
  {
    name: "many failed watches in a row end in a list",
    given: [{ ...watching, failures: LIST_AFTER_FAILURES - 1 }, broken],
    want: backingOff("network", LIST_AFTER_FAILURES, 8_000, listing),
  },
  { name: "after an exception it lists", given: [watching, { kind: "bug" }], want: backingOff("bug", 1, 500, listing) },
  { name: "after an exception in a list it lists again", given: [listing, { kind: "bug" }], want: backingOff("bug", 1, 500, listing) },
  {
    name: "a watch of a kind that is not served any more ends in a list",
    given: [watching, { kind: "failed", error: { kind: "not-found", message: "no such kind" } }],
    want: backingOff("not-found", 1, 500, listing),
  },
  { name: "a changed definition ends a watch: it lists", given: [{ ...watching, failures: 3 }, { kind: "recheck" }], want: listing },
  {
    name: "a changed definition ends a wait, and the failures of before do not count",
    given: [next({ ...listing, failures: 8 }, broken, inputs), { kind: "recheck" }],
    want: listing,
  },
  { name: "it stops from any state", given: [watching, { kind: "stop" }], want: { phase: "stopped" } },
  { name: "it stays stopped", given: [{ phase: "stopped" }, { kind: "ended" }], want: { phase: "stopped" } },
];

for (const { name, given, want } of rows) test(name, () => expect(next(given[0], given[1], inputs)).toEqual(want));

test("after the wait it continues with the planned state", () => {
  const waiting = next(watching, broken, inputs);
  expect(next(waiting, { kind: "waited" }, { ...inputs, now: 20_000 })).toEqual({ ...watching, openedAt: 20_000, failures: 1 });
  expect(next(waiting, { kind: "ended" }, inputs)).toBe(waiting);
  expect(next(next(listing, broken, inputs), { kind: "waited" }, inputs)).toEqual({ ...listing, failures: 1 });
});

const anyInput = fc.oneof(
  fc.nat(50).map((version): InformerInput => ({ kind: "progress", resourceVersion: String(version + 1) })),
  fc.nat(50).map((version): InformerInput => ({ kind: "listed", resourceVersion: String(version + 1) })),
  fc.constantFrom<InformerInput>({ kind: "ended" }, { kind: "silent" }, { kind: "bug" }, gone, broken, { kind: "waited" }),
);

test("for any inputs, it neither stops by itself nor restarts twice in a row without a wait", () => {
  fc.assert(
    fc.property(fc.array(anyInput, { maxLength: 60 }), (inputs) => {
      let state: InformerState = START;
      let startsWithoutWait = 0;
      for (const input of inputs) {
        const after = next(state, input, { now: 0, random: () => 0.5 });
        if (after.phase === "stopped") return false;
        if (after.phase === "backing-off" || (after.phase === "watching" && after.failures === 0)) startsWithoutWait = 0;
        else if (after.phase === "listing" && after !== state) startsWithoutWait += 1;
        if (startsWithoutWait > 2) return false; // from a wait into a list, and once more for a first 410
        state = after;
      }
      return true;
    }),
  );
});
