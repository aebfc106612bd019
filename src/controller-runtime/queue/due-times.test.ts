import fc from "fast-check";
import { expect, test } from "vitest";
import { DueTimes } from "./due-times.ts";

test("keys are returned by time, then by order of adding, and not before they are due", () => {
  const times = new DueTimes();
  times.add("late", 30);
  times.add("first", 10);
  times.add("second", 10);
  expect([times.next(), times.take(9), times.take(10), times.take(10), times.take(10), times.next()]).toEqual([
    10,
    undefined,
    "first",
    "second",
    undefined,
    30,
  ]);
});

test("the earliest time of a key wins", () => {
  const times = new DueTimes();
  expect([times.add("a", 20), times.add("a", 30), times.add("a", 10), times.size]).toEqual([true, false, true, 1]);
  expect([times.take(10), times.take(100)]).toEqual(["a", undefined]);
});

test("removed keys are dropped from the heap soon, and the order stays", () => {
  const times = new DueTimes();
  for (let at = 0; at < 300; at += 1) times.add(`k${at}`, (at * 7) % 300);
  for (let at = 10; at < 300; at += 1) times.remove(`k${at}`);
  const order: (string | undefined)[] = [];
  while (times.size > 0) order.push(times.take(300));
  expect(order).toEqual(["k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "k9"]);
});

type Command =
  | { readonly kind: "add" | "remove"; readonly key: string; readonly due: number }
  | { readonly kind: "take"; readonly now: number };
const anyKey = fc.nat(12).map((at) => `k${at}`);
const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ kind: fc.constantFrom("add" as const, "remove" as const), key: anyKey, due: fc.nat(50) }),
  fc.record({ kind: fc.constant("take" as const), now: fc.nat(50) }),
);

test("it behaves like a sorted list", () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 400, size: "max" }), (commands) => {
      const times = new DueTimes();
      let model: { key: string; due: number; order: number }[] = [];
      for (const [order, given] of commands.entries()) {
        if (given.kind === "take") {
          const first = model.toSorted((a, b) => a.due - b.due || a.order - b.order)[0];
          const want = first !== undefined && first.due <= given.now ? first.key : undefined;
          expect(times.take(given.now)).toBe(want);
          model = model.filter(({ key }) => key !== want);
        } else if (given.kind === "remove") {
          times.remove(given.key);
          model = model.filter(({ key }) => key !== given.key);
        } else {
          const known = model.find(({ key }) => key === given.key);
          expect(times.add(given.key, given.due)).toBe(known === undefined || given.due < known.due);
          if (known === undefined || given.due < known.due)
            model = [...model.filter(({ key }) => key !== given.key), { key: given.key, due: given.due, order }];
        }
        expect([times.size, times.next()]).toEqual([
          model.length,
          model.length === 0 ? undefined : Math.min(...model.map(({ due }) => due)),
        ]);
      }
    }),
  );
});
