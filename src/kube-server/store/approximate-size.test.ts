import { expect, it } from "vitest";
import { approximateSize } from "./approximate-size.ts";

const rows: { name: string; given: unknown }[] = [
  { name: "a text", given: "a text of some length" },
  { name: "numbers, truth and nothing", given: [1_234, true, false, null] },
  {
    name: "nested maps and lists",
    given: { metadata: { labels: { app: "web", tier: "front" } }, items: [{ name: "a" }, { name: "b" }, []] },
  },
];
it.each(rows)("is within a third of the JSON: $name", ({ given }) => {
  const exact = JSON.stringify(given).length;
  expect(Math.abs(approximateSize(given) - exact)).toBeLessThan(exact / 3);
});
