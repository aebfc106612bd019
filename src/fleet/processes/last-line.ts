/** The last line of the output of a process, which mostly says why it failed. Bounded, and without control characters. */
const MAX_LENGTH = 400;
// oxlint-disable-next-line no-control-regex -- the characters to leave out
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]+/g;

export class LastLine {
  #tail = "";

  write(chunk: Uint8Array): void {
    const text = `${this.#tail}${Buffer.from(chunk.subarray(Math.max(0, chunk.length - MAX_LENGTH * 4))).toString("utf8")}`;
    const complete = text.trimEnd();
    // the text before the last line is not needed, unless an empty line follows
    this.#tail = `${complete.slice(complete.lastIndexOf("\n") + 1).slice(-MAX_LENGTH)}${text.slice(complete.length, complete.length + 1)}`;
  }

  /** Undefined: there was no output. */
  get text(): string | undefined {
    const line = this.#tail.replace(CONTROLS, " ").trim();
    return line === "" ? undefined : line;
  }
}
