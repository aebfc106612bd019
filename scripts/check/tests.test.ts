import { describe, expect, it } from "vitest";
import { fileTree } from "../../test/builders/file-tree.ts";
import { formatFinding, isError } from "./finding.ts";
import { checkTests } from "./tests.ts";

/** A tree whose `npm test` prints these lines and ends with this code. */
const tree = (lines: readonly string[], code: number) =>
  fileTree({ "scripts/test.ts": `console.log(${JSON.stringify(lines.join("\n"))});\nprocess.exitCode = ${code};\n` });

describe("checkTests", () => {
  it("shows only the figures of a run that passed", async () => {
    const findings = await checkTests(await tree(["✓ a.test.ts", "coverage of all of src: 95.0 % of 10 lines", "1 passed, 0 failed"], 0));
    expect(findings.map(formatFinding)).toEqual(["coverage of all of src: 95.0 % of 10 lines", "1 passed, 0 failed"]);
    expect(findings.some(isError)).toBe(false);
  });

  it("shows the end of a run that failed", async () => {
    const findings = await checkTests(await tree([...Array.from({ length: 500 }, (_, index) => `line ${index}`), "1 passed, 1 failed"], 1));
    expect(findings.every(isError)).toBe(true);
    expect(findings).toHaveLength(120);
    expect(findings.at(-1)?.message).toBe("1 passed, 1 failed");
  });
});
