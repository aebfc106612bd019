import { describe, expect, it } from "vitest";
import { colorEnvironment } from "./color-environment.ts";

describe("colorEnvironment", () => {
  const rows = [
    { name: "a terminal decides for itself", env: { FORCE_COLOR: "1", A: "b" }, terminal: true, want: { FORCE_COLOR: "1", A: "b" } },
    {
      name: "a file gets no colors, also where CI forces them",
      env: { FORCE_COLOR: "1", A: "b" },
      terminal: false,
      want: { A: "b", NO_COLOR: "1" },
    },
  ];
  it.each(rows)("$name", ({ env, terminal, want }) => {
    expect(colorEnvironment(env, terminal)).toEqual(want);
  });
});
