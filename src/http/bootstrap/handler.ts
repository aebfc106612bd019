/**
 * One request to the bootstrap server, from its path to its answer: authenticate, limit, read the body, act.
 *
 * The token is checked before the body is read and before any request to the API server, so that clients without one cost little.
 */
import { err, ok, sensitive, textOfBytes, type Clock, type Result, type Sensitive } from "#base";
import { readBody, type HttpRequest } from "#listener";
import {
  answerOfError,
  busy,
  disconnected,
  invalid,
  jsonAnswer,
  limited,
  notFound,
  tooLarge,
  unauthenticated,
  yamlAnswer,
  type BootstrapAnswer,
  type BootstrapOutcome,
} from "./answers.ts";
import type { BootstrapLimits } from "./limits.ts";
import type { OnReport } from "./ports.ts";
import { clientAddress, RateLimit } from "./rate-limits.ts";
import type { Registrations } from "./registrations.ts";
import { parseReport } from "./report-body.ts";
import { routeOf, type BootstrapRoute } from "./routes.ts";
import { bearerToken, clusterOfToken } from "./tokens.ts";

export type HandlerOptions = {
  readonly registrations: Registrations;
  readonly onReport: OnReport;
  readonly clock: Clock;
  readonly limits: BootstrapLimits;
};

/** The answer, and what the audit records. */
export type HandledRequest = {
  readonly endpoint: string;
  readonly cluster: string | undefined;
  readonly address: string;
  readonly answer: BootstrapAnswer;
};

/** What a client without a token can cause. */
const FAILURES: ReadonlySet<BootstrapOutcome> = new Set(["unauthenticated", "not-found", "invalid", "too-large", "disconnected"]);
/** No token has this text: requests without a token are compared too. */
const NO_TOKEN = sensitive("");

export class BootstrapHandler {
  readonly #options: HandlerOptions;
  readonly #failures: RateLimit;
  readonly #requests: RateLimit;
  readonly #reports: RateLimit;
  readonly #renewals: RateLimit;
  #inProgress = 0;

  constructor(options: HandlerOptions) {
    const { limits, clock } = options;
    this.#options = options;
    this.#failures = new RateLimit(limits.failures, clock);
    this.#requests = new RateLimit(limits.requests, clock);
    this.#reports = new RateLimit(limits.reports, clock);
    this.#renewals = new RateLimit(limits.renewals, clock);
  }

  async handle(request: HttpRequest): Promise<HandledRequest> {
    const address = clientAddress(request.socket.remoteAddress);
    const route = routeOf(request.url);
    const token = bearerToken(request.rawHeaders);
    const cluster = route !== undefined && "cluster" in route ? route.cluster : token === undefined ? undefined : clusterOfToken(token);
    const answer = await this.#answer(request, route, { address, token: token ?? NO_TOKEN });
    return { endpoint: route?.endpoint ?? "none", cluster, address, answer: this.#limitFailure(answer, address) };
  }

  /** After the limit every failure of an address has the same answer. Valid requests from it are still served. */
  #limitFailure(answer: BootstrapAnswer, address: string): BootstrapAnswer {
    if (!FAILURES.has(answer.outcome)) return answer;
    const waitMs = this.#failures.take(address);
    return waitMs > 0 ? limited(waitMs) : answer;
  }

  async #answer(request: HttpRequest, route: BootstrapRoute | undefined, client: Client): Promise<BootstrapAnswer> {
    if (route === undefined) return notFound();
    if (request.method !== "POST") return invalid("only POST is answered here", 405);
    if (request.headers["content-encoding"] !== undefined) return invalid("the body must not be compressed", 415);
    switch (route.endpoint) {
      case "register":
        return this.#register(client);
      case "csr":
        return this.#csr(request, route.cluster, client);
      case "renew":
        return this.#renew(request, route.cluster, client);
      case "report":
        return this.#report(request, route.cluster, client);
    }
  }

  async #register({ token }: Client): Promise<BootstrapAnswer> {
    const { registrations } = this.#options;
    const cluster = registrations.authenticateBootstrap(token);
    if (cluster === undefined) return unauthenticated();
    return this.#within(this.#requests.take(cluster), async () => {
      const manifests = await registrations.register(cluster, token);
      return manifests.ok ? yamlAnswer(manifests.value) : answerOfError(manifests.error);
    });
  }

  async #csr(request: HttpRequest, cluster: string, { token }: Client): Promise<BootstrapAnswer> {
    const { registrations, limits } = this.#options;
    if (registrations.authenticateCsr(token) !== cluster) return unauthenticated();
    const waitMs = this.#requests.take(cluster);
    if (waitMs > 0) return limited(waitMs);
    const csr = await this.#text(request, limits.csrBytes);
    if (!csr.ok) return csr.error;
    return this.#within(0, async () => {
      const signed = await registrations.signFirst(cluster, csr.value, token);
      return signed.ok ? jsonAnswer(signed.value) : answerOfError(signed.error);
    });
  }

  async #renew(request: HttpRequest, cluster: string, { address }: Client): Promise<BootstrapAnswer> {
    const { registrations, limits } = this.#options;
    const waitMs = this.#renewals.take(address);
    if (waitMs > 0) return limited(waitMs);
    const body = await this.#text(request, limits.renewalBytes);
    if (!body.ok) return body.error;
    return this.#within(0, async () => {
      const renewed = await registrations.renewExpired(cluster, body.value);
      if (renewed.ok) return jsonAnswer(renewed.value);
      // what is wrong with it is for the log only: the client is not authenticated
      const { kind, message } = renewed.error;
      return kind === "invalid-request" ? unauthenticated(message) : answerOfError(renewed.error);
    });
  }

  async #report(request: HttpRequest, cluster: string, { token }: Client): Promise<BootstrapAnswer> {
    const { registrations, limits, onReport } = this.#options;
    if (registrations.authenticateBootstrap(token) !== cluster) return unauthenticated();
    const waitMs = this.#reports.take(cluster);
    if (waitMs > 0) return limited(waitMs);
    const body = await this.#body(request, limits.reportBytes);
    if (!body.ok) return body.error;
    const report = parseReport(body.value, token);
    if (!report.ok) return invalid(report.error);
    return this.#within(0, async () => {
      const kept = await registrations.report(cluster, report.value);
      if (!kept.ok) return answerOfError(kept.error);
      onReport(cluster, kept.value);
      return jsonAnswer({});
    });
  }

  async #within(waitMs: number, work: () => Promise<BootstrapAnswer>): Promise<BootstrapAnswer> {
    if (waitMs > 0) return limited(waitMs);
    if (this.#inProgress >= this.#options.limits.concurrent) return busy();
    this.#inProgress += 1;
    return work().finally(() => {
      this.#inProgress -= 1;
    });
  }

  async #text(request: HttpRequest, most: number): Promise<Result<string, BootstrapAnswer>> {
    const body = await this.#body(request, most);
    if (!body.ok) return body;
    const text = textOfBytes(body.value);
    return text.ok ? text : err(invalid("the body must be text in UTF-8"));
  }

  async #body(request: HttpRequest, most: number): Promise<Result<Uint8Array, BootstrapAnswer>> {
    const { limits, clock } = this.#options;
    const body = await readBody(request, { limits: { ...limits.listener, bodyBytes: most }, clock });
    if (body.ok) return ok(body.value);
    return err(body.error === "too-large" ? tooLarge(most) : disconnected);
  }
}

type Client = { readonly address: string; readonly token: Sensitive<string> };
