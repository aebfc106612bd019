/** Reads one line of bounded length from a connection. */
import type { Socket } from "node:net";
import { err, ok, type Result } from "#base";

/** The end of the connection also ends the line. */
export function readLine(socket: Socket, maxBytes: number): Promise<Result<string, string>> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (result: Result<string, string>) => {
      socket.off("data", onData).off("end", onEnd).off("close", onEnd);
      resolve(result);
    };
    const onData = (chunk: Buffer) => {
      const end = chunk.indexOf("\n");
      chunks.push(end < 0 ? chunk : chunk.subarray(0, end));
      size += chunk.length;
      if (end >= 0) finish(ok(Buffer.concat(chunks).toString("utf8")));
      else if (size > maxBytes) finish(err(`the line is longer than ${maxBytes} bytes`));
    };
    const onEnd = () =>
      finish(size === 0 ? err("the connection was closed without an answer") : ok(Buffer.concat(chunks).toString("utf8")));
    socket.on("data", onData).on("end", onEnd).on("close", onEnd);
  });
}
