import { describe, expect, it } from "vitest";
import { generatedFiles, isGenerated } from "./generated-files.ts";

describe("generatedFiles", () => {
  it("collects the files of all generators", () => {
    expect(generatedFiles([() => new Map([["a", "1"]]), () => new Map([["b", "2"]])])).toEqual(
      new Map([
        ["a", "1"],
        ["b", "2"],
      ]),
    );
  });

  it("refuses two generators for one file", () => {
    const generate = () => new Map([["a", "1"]]);
    expect(() => generatedFiles([generate, generate])).toThrow("two generators write a");
  });

  it("marks every file, so that obsolete files can be found", () => {
    for (const [path, content] of generatedFiles()) expect(isGenerated(content), path).toBe(true);
  });
});
