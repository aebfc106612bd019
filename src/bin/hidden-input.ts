/** Reads a line from a terminal without showing it: for passphrases, which are no arguments and no environment variables. */
export type HiddenTerminal = {
  readonly input: Pick<NodeJS.ReadStream, "on" | "off" | "setRawMode" | "resume" | "pause">;
  readonly output: { readonly write: (text: string) => unknown };
};

/** Undefined: Ctrl-C, or Ctrl-D on an empty line. */
export function askHidden({ input, output }: HiddenTerminal, question: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    let line = "";
    const end = (answer: string | undefined) => {
      input.off("data", onData);
      input.setRawMode(false);
      input.pause();
      output.write("\n");
      resolve(answer);
    };
    const onData = (data: Buffer | string) => {
      for (const character of data.toString("utf8")) {
        if (character === "\r" || character === "\n") return end(line);
        if (character === "\u0003" || (character === "\u0004" && line === "")) return end(undefined);
        line = character === "\u007f" || character === "\b" ? Array.from(line).slice(0, -1).join("") : `${line}${character}`;
      }
    };
    output.write(question);
    input.setRawMode(true);
    input.on("data", onData);
    input.resume();
  });
}
