/**
 * Calls webhooks over HTTPS and keeps the connections to them. It decides whether a response is a success, with the messages of client-go; the
 * caller interprets the body.
 */
import type { Agent } from "node:https";
import { err, ok, sleep, type Clock, type Result } from "#base";
import { responseError } from "./response-errors.ts";
import { serverNameOf, type ClientConfig } from "./client-config.ts";
import type { WebhookResponse } from "./exchange.ts";
import type { Address, ResolveService } from "../protocol/resolve-service.ts";

export type WebhookClientOptions = {
  readonly clock: Clock;
  /** Ends every call and closes every connection. */
  readonly closing: AbortSignal;
  readonly resolveService: ResolveService;
};

const MAX_RETRIES = 10;
const MAX_CLIENTS = 200;

export class WebhookClients {
  readonly #options: WebhookClientOptions;
  /** Least recently used first. */
  readonly #agents = new Map<string, Agent>();

  constructor(options: WebhookClientOptions) {
    this.#options = options;
    options.closing.addEventListener("abort", () => this.#close(), { once: true });
  }

  /** The body of a successful response, or the error message. */
  async post(config: ClientConfig, body: string, timeoutSeconds: number): Promise<Result<Buffer, string>> {
    // loaded with the first webhook: most clusters have none, and loading node:https is slow
    const transport = await import("./exchange.ts");
    const { clock } = this.#options;
    const end = clock.monotonic() + timeoutSeconds * 1_000;
    const path = `${config.path}?timeout=${timeoutSeconds}s`;
    const url = `${config.origin}${path}`;
    const address = this.#addressOf(config);
    if (!address.ok) return err(`Post ${JSON.stringify(url)}: ${address.error}`);
    for (let tries = 0; ; tries += 1) {
      const serverName = config.service === undefined ? address.value.host : serverNameOf(config.service);
      const sent = await transport.exchange({
        agent: this.#agentOf(config, () => transport.agentFor(serverName, config.authorities)),
        address: address.value,
        hostHeader: config.origin.replace(/^https:\/\//, ""),
        clock,
        signal: this.#options.closing,
        url,
        path,
        body,
        timeoutMs: end - clock.monotonic(),
      });
      if (!sent.ok) return sent;
      const pause = requestedPause(sent.value);
      if (pause === undefined || tries === MAX_RETRIES) return bodyOf(sent.value);
      const left = end - clock.monotonic();
      const rested = await sleep(clock, Math.min(pause * 1_000, left), this.#options.closing);
      if (!rested || pause * 1_000 >= left) return err(`Post ${JSON.stringify(url)}: ${rested ? transport.DEADLINE : transport.CANCELLED}`);
    }
  }

  #addressOf({ service, origin }: ClientConfig): Result<Address, string> {
    if (service !== undefined) return this.#options.resolveService(service);
    if (!URL.canParse(origin)) return err("unsupported protocol scheme");
    const { hostname, port } = new URL(origin);
    return ok({ host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? 443 : Number(port) });
  }

  #agentOf(config: ClientConfig, make: () => Agent): Agent {
    const key = JSON.stringify([config.origin, config.authorities]);
    const agent = this.#agents.get(key) ?? make();
    this.#agents.delete(key);
    this.#agents.set(key, agent);
    for (const [oldest, idle] of this.#agents) {
      if (this.#agents.size <= MAX_CLIENTS) break;
      this.#agents.delete(oldest);
      idle.destroy();
    }
    return agent;
  }

  #close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }
}

/** An overloaded server may send the seconds after which to retry. */
function requestedPause({ status, retryAfter }: WebhookResponse): number | undefined {
  return status === 429 || status >= 500 ? retryAfter : undefined;
}

function bodyOf(response: WebhookResponse): Result<Buffer, string> {
  const problem = responseError(response);
  return problem === undefined ? ok(response.body) : err(problem);
}
