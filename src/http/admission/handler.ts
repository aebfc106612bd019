/**
 * One request to the admission server, from its path to its answer. What is wrong with the server itself becomes a warning of an allowed review: a
 * Deployment must never be refused because of a webhook that only adds something to it.
 */
import { describeThrown, fromThrowing, LATENCY_BUCKETS, type Clock, type Counter, type Histogram, type Logger, type Metrics } from "#base";
import { readBody, type HttpRequest } from "#listener";
import { parseAdmissionReview, type AdmissionRequest, type ReviewedDeployment } from "./admission-review.ts";
import { BodyBudget } from "./body-budget.ts";
import type { AdmissionLimits } from "./limits.ts";
import { formatAnswer, NO_CHANGE, type ReviewAnswer } from "./review-answer.ts";

export const MUTATE_DEPLOYMENTS_PATH = "/mutate/deployments";

/** Decides about one Deployment, from memory. Undefined: no service refers to it. */
export type ReviewDeployment = (reviewed: ReviewedDeployment) => ReviewAnswer | undefined;

export type AdmissionHandlerOptions = {
  readonly review: ReviewDeployment;
  readonly limits: AdmissionLimits;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
};

/** `refused` is an HTTP error, which the API server ignores; all others allow the write. */
export type ReviewResult = "patched" | "unchanged" | "not-referenced" | "not-understood" | "failed" | "refused";

export type AdmissionAnswer = { readonly result: ReviewResult; readonly status: number; readonly body: string };

export class AdmissionHandler {
  readonly #options: AdmissionHandlerOptions;
  readonly #budget: BodyBudget;
  readonly #reviews: Counter;
  readonly #seconds: Histogram;
  #logged: string | undefined;

  constructor(options: AdmissionHandlerOptions) {
    const { limits, metrics } = options;
    this.#options = options;
    this.#budget = new BodyBudget(limits.bodiesBytes, limits.listener.bodyBytes);
    this.#reviews = metrics.counter("lattice_admission_reviews_total", "Reviews of Deployments by result.");
    this.#seconds = metrics.histogram("lattice_admission_review_seconds", "Time from a review's headers to its answer.", LATENCY_BUCKETS);
  }

  async handle(request: HttpRequest): Promise<AdmissionAnswer> {
    const { clock } = this.#options;
    const since = clock.monotonic();
    const answer = await this.#answer(request);
    this.#reviews.add(1, LABELS[answer.result]);
    this.#seconds.observe((clock.monotonic() - since) / 1_000);
    return answer;
  }

  async #answer(request: HttpRequest): Promise<AdmissionAnswer> {
    const wrong = wrongRequest(request);
    if (wrong !== undefined) return wrong;
    const free = this.#budget.reserve(request);
    if (free === undefined) return refused(503, "too many reviews at a time");
    try {
      const { clock, limits } = this.#options;
      const body = await readBody(request, { clock, limits: limits.listener });
      if (body.ok) return this.#review(body.value);
      return body.error === "too-large"
        ? refused(413, `the body must have at most ${limits.listener.bodyBytes} bytes`)
        : refused(400, "the body is not complete");
    } finally {
      free();
    }
  }

  #review(body: Uint8Array): AdmissionAnswer {
    const parsed = parseAdmissionReview(body);
    if (!parsed.ok) return refused(400, parsed.error);
    const { result, answer } = this.#decide(parsed.value);
    return { result, status: 200, body: formatAnswer(parsed.value.uid, answer) };
  }

  #decide({ reviewed }: AdmissionRequest): { readonly result: ReviewResult; readonly answer: ReviewAnswer } {
    if (!reviewed.ok)
      return { result: "not-understood", answer: { patch: [], warnings: [`lattice has not changed this object: ${reviewed.error}`] } };
    const decided = fromThrowing(() => this.#options.review(reviewed.value), describeThrown);
    if (!decided.ok) return { result: "failed", answer: this.#bug(decided.error) };
    const answer = decided.value ?? NO_CHANGE;
    if (decided.value === undefined) return { result: "not-referenced", answer };
    return { result: answer.patch.length === 0 ? "unchanged" : "patched", answer };
  }

  /** The text of the exception is for the log only: it may quote the object. */
  #bug(error: string): ReviewAnswer {
    if (this.#logged !== error) this.#options.logger.error("the review of a Deployment met a bug", { error });
    this.#logged = error;
    return { patch: [], warnings: ["lattice has not changed this Deployment: internal error; see the log of lattice-operator"] };
  }
}

/** Hot path: label objects are reused, so that their text is cached. */
const LABELS: Readonly<Record<ReviewResult, { readonly result: ReviewResult }>> = {
  patched: { result: "patched" },
  unchanged: { result: "unchanged" },
  "not-referenced": { result: "not-referenced" },
  "not-understood": { result: "not-understood" },
  failed: { result: "failed" },
  refused: { result: "refused" },
};

function wrongRequest({ method, url = "", headers }: HttpRequest): AdmissionAnswer | undefined {
  if (url.split("?", 1)[0] !== MUTATE_DEPLOYMENTS_PATH) return refused(404, `not found; there is ${MUTATE_DEPLOYMENTS_PATH}`);
  if (method !== "POST") return refused(405, "only POST is answered here");
  if (headers["content-encoding"] !== undefined) return refused(415, "the body must not be compressed");
  const type = (headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase();
  return type === "application/json" ? undefined : refused(415, "the body must be application/json");
}

function refused(status: number, message: string): AdmissionAnswer {
  return { result: "refused", status, body: `${JSON.stringify({ error: message })}\n` };
}
