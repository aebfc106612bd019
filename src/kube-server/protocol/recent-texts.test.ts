import { describe, expect, test } from "vitest";
import { RecentTexts } from "./recent-texts.ts";

describe("texts of recent objects", () => {
  const counted = () => {
    let prints = 0;
    return { print: () => `text-${++prints}`, count: () => prints };
  };

  test("an object is serialized once", () => {
    const [texts, { print, count }] = [new RecentTexts(), counted()];
    const object = {};
    expect([texts.of(object, print), texts.of(object, print)]).toEqual(["text-1", "text-1"]);
    expect(count()).toBe(1);
  });

  test("objects are known by identity, not by content", () => {
    const [texts, { print }] = [new RecentTexts(), counted()];
    expect([texts.of({ a: 1 }, print), texts.of({ a: 1 }, print)]).toEqual(["text-1", "text-2"]);
  });

  test("an object that was not read for two generations is serialized again", () => {
    const [texts, { print }] = [new RecentTexts(12), counted()];
    const [often, once] = [{}, {}];
    texts.of(once, print);
    for (let at = 0; at < 8; at += 1) {
      expect(texts.of(often, print)).toBe("text-2");
      texts.of({}, print);
    }
    expect(texts.of(once, print)).not.toBe("text-1");
  });
});
