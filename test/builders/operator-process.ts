/** An operator as a process of its own, which a story kills and starts again. */
import { spawn, type ChildProcess } from "node:child_process";
import { PROGRAM } from "./program.ts";

const POLL_MS = 20;

export class OperatorProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #output = "";

  /** `program`: another one than Lattice's own. */
  constructor(args: readonly string[], program: string = PROGRAM) {
    this.#child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on("data", (chunk: Buffer) => (this.#output += chunk.toString()));
    this.#ended = new Promise((resolve) => this.#child.once("close", () => resolve()));
  }

  get output(): string {
    return this.#output;
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The first match in its output; rejects when the process ends without it. */
  async untilPrinted(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.#output);
      if (found !== null) return found;
      if (!this.alive) throw new Error(`the process ended before it printed ${String(pattern)}: ${this.#output}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  async leads(): Promise<boolean> {
    const [url] = await this.untilPrinted(/http:\/\/127\.0\.0\.1:\d+/);
    return /^lattice_leader 1$/m.test(await (await fetch(`${url}/metrics`)).text());
  }

  async untilLeading(): Promise<void> {
    while (!(await this.leads())) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }

  /** The exit code of a process that ends by itself; null when a signal ended it. */
  async exited(): Promise<number | null> {
    await this.#ended;
    return this.#child.exitCode;
  }

  async end(signal: NodeJS.Signals): Promise<number | null> {
    this.#child.kill(signal);
    return this.exited();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end("SIGKILL");
  }
}
