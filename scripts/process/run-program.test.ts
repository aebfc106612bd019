import { tmpdir } from "node:os";
import { describe, expect, it } from "vitest";
import { runProgram } from "./run-program.ts";

const cwd = tmpdir();

describe("runProgram", () => {
  it("returns stdout, stderr and the exit code", async () => {
    expect(await runProgram("sh", ["-c", "echo out; echo err >&2; exit 3"], { cwd })).toEqual({
      code: 3,
      stdout: "out\n",
      stderr: "err\n",
    });
  });

  it("returns 127 for a missing program, as a shell does", async () => {
    expect(await runProgram("no-such-program-anywhere", [], { cwd })).toMatchObject({ code: 127 });
  });

  it("counts being killed as a failure", async () => {
    expect(await runProgram("sh", ["-c", "kill -9 $$"], { cwd })).toMatchObject({ code: 1 });
  });

  it("gives the program no input to wait for", async () => {
    expect(await runProgram("cat", [], { cwd })).toEqual({ code: 0, stdout: "", stderr: "" });
  });
});
