import { expect, test } from "vitest";
import { SingleFlight } from "./single-flight.ts";

function gate<T>() {
  let open: (value: T) => void = () => {};
  const opened = new Promise<T>((resolve) => (open = resolve));
  return { open, opened };
}

test("equal requests share one result, and the next one after it runs again", async () => {
  const flights = new SingleFlight<number>();
  const { open, opened } = gate<number>();
  let runs = 0;
  const work = () => {
    runs += 1;
    return opened;
  };
  const [first, second] = [flights.run("a", "x", work), flights.run("a", "x", work)];
  open(7);
  expect([await first, await second, runs]).toEqual([7, 7, 1]);
  await flights.run("a", "x", work);
  expect([runs, flights.size]).toEqual([2, 0]);
});

test("different requests of one cluster run one after the other, those of others at once", async () => {
  const flights = new SingleFlight<string>();
  const order: string[] = [];
  const slow = gate<string>();
  const step = (name: string, until: Promise<string>) => async () => {
    order.push(`${name} starts`);
    await until;
    order.push(`${name} ends`);
    return name;
  };
  const first = flights.run("a", "x", step("x", slow.opened));
  const second = flights.run("a", "y", step("y", Promise.resolve("")));
  await flights.run("b", "z", step("z", Promise.resolve("")));
  slow.open("");
  expect([await first, await second]).toEqual(["x", "y"]);
  expect(order).toEqual(["x starts", "z starts", "z ends", "x ends", "y starts", "y ends"]);
});

test("work that fails does not stop the next", async () => {
  const flights = new SingleFlight<string>();
  const failing = flights.run("a", "x", () => Promise.reject(new Error("failed")));
  const next = flights.run("a", "y", () => Promise.resolve("y"));
  await expect(failing).rejects.toThrow("failed");
  expect([await next, flights.size]).toEqual(["y", 0]);
});

test("too many that wait are refused", async () => {
  const flights = new SingleFlight<void>();
  const { open, opened } = gate<void>();
  const runs = Array.from({ length: 20 }, (_, at) => flights.run("a", `${at}`, () => opened));
  expect(runs.filter((run) => run === undefined)).toHaveLength(3);
  open();
  for (const run of runs) await run;
});
