import { describe, expect, test } from "vitest";
import { runCli } from "../../../test/builders/cli-io.ts";
import { visibleIo } from "../visible-text.ts";
import type { CliIo } from "../io.ts";
import { colourOfPhase, hasColour, plainText } from "../styled-text.ts";
import { formatTable } from "./table.ts";
import { padText, textWidth, wrapText } from "./text-width.ts";

const rows = [
  ["NAME", "PHASE", "STATUS"],
  ["shop/cart", { text: "Ready", colour: "green" }, "2 of 2 pods are ready"],
  [
    "shop/catalog",
    { text: "Failed", colour: "red" },
    "template error in container 'main' variable 'OOPS': there is no value for config.nope",
  ],
] as const;

describe("a table", () => {
  test("is one line per row in a pipe", () => {
    expect(plainText(formatTable(rows, { columns: undefined })).split("\n")).toEqual([
      "NAME          PHASE   STATUS",
      "shop/cart     Ready   2 of 2 pods are ready",
      "shop/catalog  Failed  template error in container 'main' variable 'OOPS': there is no value for config.nope",
      "",
    ]);
  });

  test.each([{ columns: 80 }, { columns: 60 }, { columns: 40 }, { columns: 33 }])(
    "fits $columns columns without loss of text",
    ({ columns }) => {
      const text = plainText(formatTable(rows, { columns, indent: "  " }));
      expect(Math.max(...text.split("\n").map(textWidth))).toBeLessThanOrEqual(columns);
      const words = rows.flatMap((row) =>
        row.map((cell) => (typeof cell === "string" ? cell : cell.text)).flatMap((cell) => cell.split(" ")),
      );
      for (const word of words) expect(text.replaceAll(/\n */g, " ")).toContain(word);
    },
  );

  test("wraps its last column under its heading", () => {
    expect(
      plainText(formatTable(rows, { columns: 60 }))
        .split("\n")
        .slice(2, 5),
    ).toEqual([
      "shop/catalog  Failed  template error in container 'main'",
      "                      variable 'OOPS': there is no value for",
      "                      config.nope",
    ]);
  });

  test("puts the last column below where too little width remains", () => {
    const long = [["namespace-with-a-long-name/service-with-a-long-name", "Pending", "waits for the namespace"]];
    expect(plainText(formatTable(long, { columns: 80 }))).toBe(
      "namespace-with-a-long-name/service-with-a-long-name  Pending\n    waits for the namespace\n",
    );
  });
});

describe("widths", () => {
  test.each([
    { text: "abc", want: 3 },
    { text: "日本", want: 4 },
    { text: "é", want: 1 },
    { text: "🚀 go", want: 5 },
    { text: "…", want: 1 },
  ])("$text takes $want columns", ({ text, want }) => expect(textWidth(text)).toBe(want));

  test("texts are padded and wrapped by columns, not by characters", () => {
    expect(padText("日本", 6)).toBe("日本  ");
    expect(wrapText("日本 語", 4)).toEqual(["日本", "語"]);
    expect(wrapText("abcdefgh x", 3)).toEqual(["abc", "def", "gh", "x"]);
    expect(wrapText("", 3)).toEqual([""]);
    expect(wrapText("日", 1)).toEqual(["日"]);
  });
});

describe("colour", () => {
  const terminal = { columns: () => 80 };
  test.each([
    { name: "a terminal has colours", given: { env: {}, terminal }, want: true },
    { name: "a pipe has none", given: { env: { TERM: "xterm" } }, want: false },
    { name: "NO_COLOR", given: { env: { NO_COLOR: "1" }, terminal }, want: false },
    { name: "an empty NO_COLOR does not count", given: { env: { NO_COLOR: "" }, terminal }, want: true },
    { name: "TERM=dumb", given: { env: { TERM: "dumb" }, terminal }, want: false },
    { name: "FORCE_COLOR in a pipe", given: { env: { FORCE_COLOR: "1" } }, want: true },
    { name: "FORCE_COLOR=0", given: { env: { FORCE_COLOR: "0" }, terminal }, want: false },
  ])("$name", ({ given, want }) => expect(hasColour(given)).toBe(want));

  test.each([
    { phase: "Ready", want: "green" },
    { phase: "Failed", want: "red" },
    { phase: "Pending", want: "yellow" },
    { phase: "", want: undefined },
  ])("of phase $phase: $want", ({ phase, want }) => expect(colourOfPhase(phase)).toBe(want));

  test("text of a resource cannot add a colour of its own", () => {
    let written = "";
    const io = visibleIo({ env: {}, terminal, stdout: (text: string) => (written += text) } as unknown as CliIo);
    io.print([{ text: "Ready\u001b[31m", colour: "green" }, " \u001b[2J"]);
    expect(written).toBe("\u001b[32mReady\\u001b[31m\u001b[39m \\u001b[2J");
  });
});

test("--help fits the terminal", async () => {
  const { stdout } = await runCli(["why", "--help"], { terminal: { columns: () => 60 } });
  const help = stdout.slice(0, stdout.indexOf("Examples:"));
  expect(Math.max(...help.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(60);
});
