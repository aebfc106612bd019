import { describe, expect, it } from "vitest";
import { fileTree } from "../../test/builders/file-tree.ts";
import { reportCoverage } from "./report.ts";

const lcov = (lines: readonly string[]) => `SF:src/base/a.ts\n${lines.map((line) => `DA:${line}\n`).join("")}end_of_record\n`;

describe("reportCoverage", () => {
  it("passes a covered tree and says where the report is and what could not be measured", async () => {
    const root = await fileTree({ "coverage/lcov.info": lcov(["1,1", "2,1"]) });
    expect(await reportCoverage(root, undefined)).toEqual({
      enough: true,
      lines: [
        "coverage of all of src: 100.0 % of 2 lines",
        "coverage of changed lines was not measured: this is no git clone",
        "coverage report: coverage/index.html",
      ],
    });
  });

  it("fails below the limit, names lines to cover, and not all of a thousand", async () => {
    const lines = Array.from({ length: 100 }, (_, index) => `${index + 1},${index % 2}`);
    const report = await reportCoverage(await fileTree({ "coverage/lcov.info": lcov(lines) }), undefined);
    expect(report.enough).toBe(false);
    expect(report.lines[0]).toBe("coverage of all of src: 50.0 % of 100 lines  too low: 90 % is required");
    expect(report.lines[1]).toBe("  not run: src/base/a.ts:1");
    expect(report.lines).toContain("  and 30 more");
  });

  it("fails where vitest left no figures", async () => {
    expect(await reportCoverage(await fileTree({}), undefined)).toMatchObject({ enough: false });
  });
});
