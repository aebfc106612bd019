import { stat } from "node:fs";
import { expect, test } from "vitest";
import { nextTurn, Turns } from "./turns.ts";

const immediate = () => new Promise((resolve) => setImmediate(resolve));

test("few calls in one turn do not wait", () => {
  const turns = new Turns();
  expect(Array.from({ length: 50 }, () => turns.next())).toEqual(Array.from({ length: 50 }, () => undefined));
});

test("calls beyond those are released in order, fifty per turn, and new callers queue behind them", async () => {
  const turns = new Turns();
  const done: number[] = [];
  const call = async (number: number) => {
    await turns.next();
    done.push(number);
  };
  const all = Array.from({ length: 160 }, (_, number) => call(number));
  await Promise.resolve();
  expect(done).toHaveLength(50);
  await immediate();
  expect(done).toHaveLength(100);
  all.push(call(160));
  await immediate();
  expect(done).toHaveLength(150);
  await Promise.all(all);
  expect(done).toEqual(Array.from({ length: 161 }, (_, number) => number));
  await immediate();
  await immediate();
  expect(turns.next()).toBeUndefined();
});

test("a due timer fires before the next turn, also when the turn ends during a read of a file or socket", async () => {
  const order: string[] = [];
  const endTurn = async () => {
    setTimeout(() => order.push("timer"), 1);
    const end = performance.now() + 5;
    while (performance.now() < end);
    await nextTurn();
    order.push("next turn");
  };
  await new Promise((resolve) => stat(".", () => resolve(endTurn())));
  expect(order).toEqual(["timer", "next turn"]);
});
