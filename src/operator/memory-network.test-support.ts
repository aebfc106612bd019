/** Connections in memory: verified as TLS would, and streams whose messages arrive later, in order. */
import { X509Certificate } from "node:crypto";
import { err, ok, type Result } from "#base";
import type { AgentChannel, AgentSessions } from "#link";

type CellStream = Parameters<AgentSessions["accept"]>[0];

/** As TLS does it: signed by an authority of the bundle, and both are valid at this time. */
export function verifyCertificate(pem: string, bundle: string, now: number): Result<void, string> {
  const certificate = new X509Certificate(pem);
  const isValid = ({ validFromDate, validToDate }: X509Certificate) => validFromDate.getTime() <= now && now <= validToDate.getTime();
  if (!isValid(certificate)) return err("certificate has expired");
  const authorities = (bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map(
    (one) => new X509Certificate(one),
  );
  const issuer = authorities.find((one) => certificate.checkIssued(one) && certificate.verify(one.publicKey) && isValid(one));
  return issuer === undefined ? err("unable to verify the first certificate") : ok(undefined);
}

type MemoryStreams = { readonly agent: AgentChannel["control"]; readonly cell: CellStream };
type Passes = (kind: string) => boolean;

/** Two connected streams; messages arrive later, in order. `passes`: whether a message of the agent arrives; `answers`: whether one of the cell does. */
export function memoryStreams(passes: Passes, answers: Passes = () => true): MemoryStreams {
  const [toAgent, toCell] = [new Queue(), new Queue()];
  const close = (reason: unknown) => {
    toAgent.push({ close: reason });
    toCell.push({ close: reason });
  };
  const end = (incoming: Queue, outgoing: Queue, lets: Passes) => ({
    listen: (listener: Listener) => incoming.listen(listener),
    write: (message: Message) => lets(message.payload?.case ?? message.command?.case ?? "") && outgoing.push({ message }),
    queued: () => 0,
    close,
  });
  return { agent: end(toAgent, toCell, passes), cell: end(toCell, toAgent, answers) } as unknown as MemoryStreams;
}

/** Of the agent, or of the cell. */
type Message = { readonly payload?: { readonly case?: string }; readonly command?: { readonly case?: string } };
type Listener = { message(message: Result<unknown, string>): void; ended(close: unknown): void };
type Item = { readonly message: unknown } | { readonly close: unknown };

class Queue {
  readonly #items: Item[] = [];
  #listener: Listener | undefined;
  #isClosed = false;

  listen(listener: Listener): void {
    this.#listener = listener;
    queueMicrotask(() => this.#deliver());
  }

  push(item: Item): void {
    if (this.#isClosed) return;
    this.#isClosed = "close" in item;
    this.#items.push(item);
    queueMicrotask(() => this.#deliver());
  }

  #deliver(): void {
    for (const item of this.#listener === undefined ? [] : this.#items.splice(0)) {
      if ("close" in item) this.#listener?.ended(item.close);
      else this.#listener?.message(ok(item.message));
    }
  }
}
