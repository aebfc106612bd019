/** An answer and what a contract may claim of it. Every failed claim shows the request and the answer. */
import { expect } from "vitest";
import { isJsonObject, parseJson, type Json } from "#kube";
import type { Received, Request } from "./exchange.ts";

/** `[reason, field, message]` of one cause in `details.causes`. */
export type Cause = readonly [reason: string, field: string | undefined, message: string];

export type Refusal = {
  readonly causes?: readonly Cause[];
  /** Go walks maps as it likes: the causes are a set. */
  readonly unordered?: boolean;
  readonly details?: unknown;
};

const SHOWN = 1_500;

export class Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Received["headers"];
  readonly #what: string;

  constructor(request: Request, received: Received) {
    this.status = received.status;
    this.text = received.text;
    this.headers = received.headers;
    this.#what = `${request.method} ${request.path} ${(request.body ?? "").slice(0, SHOWN)}\n  answered ${this.status} ${this.text.slice(0, SHOWN)}`;
  }

  /** Undefined when it is no JSON. */
  get body(): Json | undefined {
    const parsed = parseJson(this.text);
    return parsed.ok ? parsed.value : undefined;
  }

  /** A field by its path: `metadata.labels`, `items.0.spec`. For keys with dots, give the steps one by one. */
  at(...steps: readonly string[]): Json | undefined {
    const path = steps.length === 1 ? (steps[0] ?? "").split(".") : steps;
    return path.reduce<Json | undefined>(within, this.body);
  }

  /** The same for fields that are text; "" when there is none. */
  textAt(...steps: readonly string[]): string {
    const value = this.at(...steps);
    return typeof value === "string" ? value : "";
  }

  /** The texts of the Warning headers. */
  get warnings(): readonly string[] {
    return (this.headers["warning"] ?? []).map((header) => /"(.*)"$/s.exec(header)?.[1]?.replaceAll(/\\(.)/g, "$1") ?? header);
  }

  get contentType(): string | undefined {
    return this.headers["content-type"]?.[0];
  }

  /** The code, and the fields that count. Objects may have more fields than `match` names, lists not more items. */
  gives(status: number, match: unknown = {}): this {
    expect({ status: this.status, body: this.body }, this.#what).toMatchObject({ status, body: match });
    return this;
  }

  /** The value at a path, whole: nothing more may be there. `undefined`: the field is absent. */
  has(path: string | readonly string[], value: unknown): this {
    const steps = typeof path === "string" ? [path] : path;
    expect(this.at(...steps), `${steps.join(".")} of ${this.#what}`).toEqual(value);
    return this;
  }

  /** A Status with exactly this message. No reason: the field is absent. */
  refuses(code: number, reason: string | undefined, message: unknown, { causes, unordered = false, details }: Refusal = {}): this {
    const found = { status: this.status, body: this.body };
    const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code };
    expect(found, this.#what).toMatchObject({ status: code, body: details === undefined ? status : { ...status, details } });
    expect(this.at("reason"), this.#what).toBe(reason);
    if (causes !== undefined) this.#causes(causes, unordered);
    return this;
  }

  /** All causes, in one line each: `field: message`. Their order is not part of the claim. */
  because(reasons: readonly string[]): this {
    const found = (this.at("details.causes") ?? []) as readonly { field?: string; message: string }[];
    expect(found.map(({ field, message }) => `${field ?? ""}: ${message}`).toSorted(), this.#what).toEqual(reasons.toSorted());
    return this;
  }

  #causes(causes: readonly Cause[], unordered: boolean): void {
    const found = (this.at("details.causes") ?? []) as readonly { reason?: string; field?: string; message: string }[];
    const seen = found.map(({ reason, field, message }) => [reason, field, message].join("\n"));
    const want = causes.map((cause) => cause.join("\n"));
    expect(unordered ? seen.toSorted() : seen, this.#what).toEqual(unordered ? want.toSorted() : want);
  }

  /** The texts of all Warning headers, in this order. */
  warns(...texts: readonly string[]): this {
    expect(this.warnings, this.#what).toEqual(texts);
    return this;
  }
}

function within(value: Json | undefined, step: string): Json | undefined {
  if (Array.isArray(value)) return value[Number(step)];
  return isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}
