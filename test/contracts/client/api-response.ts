/** A response and the assertions of contracts about it. A failed assertion prints the request and the response. */
import { expect } from "vitest";
import { isJsonObject, parseJson, type Json } from "#kube";
import type { Received, Request } from "./exchange.ts";

/** `[reason, field, message]` of one cause in `details.causes`. */
export type Cause = readonly [reason: string, field: string | undefined, message: string];

export type FailureDetails = {
  readonly causes?: readonly Cause[];
  /** Compared as a set, because Go iterates maps in random order. */
  readonly unordered?: boolean;
  readonly details?: unknown;
};

const SHOWN = 1_500;

export class ApiResponse {
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

  /** Undefined when the body is not JSON. */
  get body(): Json | undefined {
    const parsed = parseJson(this.text);
    return parsed.ok ? parsed.value : undefined;
  }

  /** A field by its path: `metadata.labels`, `items.0.spec`. For keys with dots, pass the steps as separate arguments. */
  at(...steps: readonly string[]): Json | undefined {
    const path = steps.length === 1 ? (steps[0] ?? "").split(".") : steps;
    return path.reduce<Json | undefined>(within, this.body);
  }

  /** The same for fields that are strings; "" when the field is absent. */
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

  /** Checks the status code and some fields. Objects may have more fields than `match`, lists may not have more items. */
  gives(status: number, match: unknown = {}): this {
    expect({ status: this.status, body: this.body }, this.#what).toMatchObject({ status, body: match });
    return this;
  }

  /** Checks the complete value at a path. `undefined`: the field is absent. */
  has(path: string | readonly string[], value: unknown): this {
    const steps = typeof path === "string" ? [path] : path;
    expect(this.at(...steps), `${steps.join(".")} of ${this.#what}`).toEqual(value);
    return this;
  }

  /** Checks for a Status with exactly this message. No reason: the field is absent. */
  refuses(code: number, reason: string | undefined, message: unknown, { causes, unordered = false, details }: FailureDetails = {}): this {
    const found = { status: this.status, body: this.body };
    const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code };
    expect(found, this.#what).toMatchObject({ status: code, body: details === undefined ? status : { ...status, details } });
    expect(this.at("reason"), this.#what).toBe(reason);
    if (causes !== undefined) this.#causes(causes, unordered);
    return this;
  }

  /** Checks all causes, each as `field: message`, in any order. */
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

  /** Checks the texts of all Warning headers, in this order. */
  warns(...texts: readonly string[]): this {
    expect(this.warnings, this.#what).toEqual(texts);
    return this;
  }
}

function within(value: Json | undefined, step: string): Json | undefined {
  if (Array.isArray(value)) return value[Number(step)];
  return isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}
