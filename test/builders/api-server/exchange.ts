/**
 * One request over a real socket, and a watch. Without a complete response the result is "in doubt": the write may have happened or not.
 */
import { Agent, request as httpRequest } from "node:http";
import { text } from "node:stream/consumers";
import { expectOk } from "#base";
import { parseJson, type Json, type JsonObject } from "#kube";
import { TOKEN } from "./server-process.ts";

export type ExchangeRequest = {
  readonly method: string;
  readonly path: string;
  readonly body?: Json | undefined;
  readonly type?: string | undefined;
};
export type ExchangeResponse = { readonly code: number; readonly body: JsonObject };

export const IN_DOUBT = "in doubt";

export class Exchange {
  readonly #url: string;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(url: string) {
    this.#url = url;
  }

  async request({ method, path, body, type = "application/json" }: ExchangeRequest): Promise<ExchangeResponse | typeof IN_DOUBT> {
    try {
      const payload = body === undefined ? undefined : JSON.stringify(body);
      const response = await this.#send({ method, path, payload, type });
      const answer = await text(response);
      if (!response.complete) return IN_DOUBT;
      return { code: response.statusCode ?? 0, body: expectOk(parseJson(answer)) as JsonObject };
    } catch {
      return IN_DOUBT; // refused, reset or truncated: the caller handles all three alike
    }
  }

  /** Lines until the stream ends for any reason; an incomplete last line is dropped. */
  async *lines(path: string, signal: AbortSignal): AsyncGenerator<string, void> {
    let rest = "";
    try {
      const response = await this.#send({ method: "GET", path, signal });
      for await (const chunk of response.setEncoding("utf8") as AsyncIterable<string>) {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop() ?? "";
        yield* lines;
      }
    } catch {
      return; // the caller reconnects
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #send({
    method,
    path,
    payload,
    type,
    signal,
  }: {
    method: string;
    path: string;
    payload?: string | undefined;
    type?: string;
    signal?: AbortSignal;
  }) {
    return new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${TOKEN}`,
        "user-agent": "load/1",
        ...(payload === undefined ? {} : { "content-type": type }),
      };
      const sent = httpRequest(
        new URL(path, this.#url),
        { method, headers, agent: this.#agent, ...(signal === undefined ? {} : { signal }) },
        resolve,
      );
      sent.on("error", reject);
      sent.end(payload);
    });
  }
}
