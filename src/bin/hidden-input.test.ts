import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import { askHidden, type HiddenTerminal } from "./hidden-input.ts";

function typed(...pieces: readonly string[]) {
  const modes: boolean[] = [];
  const written: string[] = [];
  const input = Object.assign(new EventEmitter(), { setRawMode: (mode: boolean) => modes.push(mode), resume: () => {}, pause: () => {} });
  const terminal = { input, output: { write: (text: string) => written.push(text) } } as unknown as HiddenTerminal;
  const answer = askHidden(terminal, "passphrase: ");
  for (const piece of pieces) input.emit("data", Buffer.from(piece));
  return answer.then((line) => ({ line, modes, written: written.join(""), listeners: input.listenerCount("data") }));
}

describe("askHidden", () => {
  it.each([
    { name: "a line", given: ["sec", "ret\r"], want: "secret" },
    { name: "a corrected line", given: ["secrex\u007ft\n"], want: "secret" },
    { name: "Ctrl-C", given: ["sec\u0003"], want: undefined },
    { name: "the end of an empty line", given: ["\u0004"], want: undefined },
  ])("$name: nothing of it is shown", async ({ given, want }) => {
    expect(await typed(...given)).toEqual({ line: want, modes: [true, false], written: "passphrase: \n", listeners: 0 });
  });
});
