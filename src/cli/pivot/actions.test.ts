import { describe, expect, it } from "vitest";
import { checkPivotFlags, type PivotAction, type PivotFlags } from "./actions.ts";

const flags = (given: Partial<PivotFlags>): PivotFlags => ({ output: "text", ...given });

describe("the flags of lattice pivot", () => {
  const rows: readonly { name: string; action: PivotAction; cluster?: string; given?: Partial<PivotFlags>; want: string | undefined }[] = [
    { name: "no name", action: "plan", want: "pivot plan: give the name of the LatticeCluster" },
    { name: "a name for an export", action: "export", cluster: "x", want: "pivot export takes no name" },
    {
      name: "a flag of another action",
      action: "status",
      cluster: "x",
      given: { directory: "d" },
      want: "pivot status has no flag --directory",
    },
    { name: "an import without a directory", action: "import", want: "pivot import: name a directory with --directory" },
    { name: "an export without a directory", action: "export", want: "pivot export: name a directory with --directory" },
    { name: "an abort without a directory", action: "export", given: { abort: true }, want: undefined },
    { name: "a receipt without a directory", action: "export", given: { confirm: "f" }, want: undefined },
    { name: "confirm and abort", action: "export", given: { confirm: "f", abort: true }, want: "--confirm and --abort exclude each other" },
    { name: "not imported alone", action: "export", given: { directory: "d", notImported: true }, want: "--not-imported is for --abort" },
    { name: "a name", action: "abort", cluster: "x", given: { wait: "1m" }, want: undefined },
  ];
  it.each(rows)("$name", ({ action, cluster, given = {}, want }) => {
    const checked = checkPivotFlags({ action, name: cluster }, flags(given));
    expect(checked.ok ? undefined : checked.error).toEqual(want === undefined ? undefined : expect.stringContaining(want));
  });
});
