import { expect, it } from "vitest";
import { parseLcov } from "./lcov.ts";

it("takes files and lines from lcov and leaves the rest unread", () => {
  const text = "TN:\nSF:src/a.ts\nFN:1,f\nDA:1,5\nDA:2,0\nLF:2\nLH:1\nend_of_record\nSF:src\\b.ts\nDA:9,1\nend_of_record\n";
  expect(parseLcov(text)).toEqual(
    new Map([
      [
        "src/a.ts",
        new Map([
          [1, 5],
          [2, 0],
        ]),
      ],
      ["src/b.ts", new Map([[9, 1]])],
    ]),
  );
});
