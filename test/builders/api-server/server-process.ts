/** `lattice api-server` as a child process on any port, by default over plain HTTP. It is ended with SIGKILL; a test of graceful shutdown sends SIGTERM itself. */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { PROGRAM } from "../program.ts";

export const TOKEN = "test-token";

export type ServerProcessOptions = { readonly controllers?: boolean; readonly tokenFile?: boolean };

export class ServerProcess {
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #ended: Promise<void>;
  #stdout = "";
  #stderr = "";
  #heard: (() => void) | undefined;

  /**
   * `home` holds the token file, and the data of the server in `home/data`. Without controllers only requests change objects. Without a token
   * file the administrator has a token of the server's own.
   */
  constructor(home: string, flags: readonly string[] = ["--http"], { controllers = false, tokenFile = true }: ServerProcessOptions = {}) {
    const tokens = join(home, "tokens.csv");
    writeFileSync(tokens, `${TOKEN},admin,admin,"system:masters"\n`, { mode: 0o600 });
    const all = [
      "api-server",
      "--port",
      "0",
      ...(tokenFile ? ["--token-file", tokens] : []),
      "--data-dir",
      join(home, "data"),
      ...(controllers ? [] : ["--no-controllers"]),
      ...flags,
    ];
    this.#child = spawn(process.execPath, [PROGRAM, ...all], { stdio: ["ignore", "pipe", "pipe"] });
    this.#child.stdout.on("data", (chunk: Buffer) => this.#hear(chunk.toString()));
    this.#child.stderr.on("data", (chunk: Buffer) => (this.#stderr += chunk.toString()));
    this.#ended = new Promise((resolve) => this.#child.once("close", () => resolve()));
    void this.#ended.then(() => this.#heard?.());
  }

  /** Its URL, as soon as it is ready; undefined when it ended before. */
  async url(): Promise<string | undefined> {
    while (this.alive && !this.#stdout.includes("\n")) {
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
    return this.#stdout.includes("\n") ? this.#stdout.trim() : undefined;
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Its stderr. */
  get stderr(): string {
    return this.#stderr;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  #hear(text: string): void {
    this.#stdout += text;
    this.#heard?.();
  }
}
