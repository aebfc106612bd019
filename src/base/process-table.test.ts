import { describe, expect, it } from "vitest";
import { identityFrom, nodeProcesses } from "./process-table.ts";

describe("the process table of this machine", () => {
  it("identifies this process by a constant text", () => {
    const own = nodeProcesses.identify(nodeProcesses.pid);
    expect(own).toBeTypeOf("string");
    expect(nodeProcesses.identify(nodeProcesses.pid)).toBe(own);
    expect(nodeProcesses.identify(1)).not.toBe(own);
  });

  it("has no identity for a pid without a process", () => {
    expect(nodeProcesses.identify(2 ** 30)).toBeUndefined();
  });

  const rows: { name: string; stat: string; want: string | undefined }[] = [
    {
      name: "a name with brackets and spaces",
      stat: `9 (a) b) S ${Array.from({ length: 30 }, (_, at) => at + 4).join(" ")}`,
      want: "boot 22",
    },
    { name: "a zombie has ended", stat: "9 (node) Z 1 1", want: undefined },
  ];
  it.each(rows)("reads /proc: $name", ({ stat, want }) => {
    expect(identityFrom("boot", stat)).toBe(want);
  });
});
