/**
 * A secret value: a token, key or password. It prints as "[redacted]" however it is converted to text
 * (string, JSON, inspect, spread); only `reveal` returns it, and is called where the value is used.
 */
const REDACTED = "[redacted]";
const values = new WeakMap<Sensitive<unknown>, unknown>();

/** A value that is redacted in logs, errors and JSON. */
export class Sensitive<T> {
  constructor(value: T) {
    values.set(this, value);
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return REDACTED;
  }

  [Symbol.toPrimitive](): string {
    return REDACTED;
  }
}

export function sensitive<T>(value: T): Sensitive<T> {
  return new Sensitive(value);
}

export function reveal<T>(hidden: Sensitive<T>): T {
  return values.get(hidden) as T;
}

/** Field names whose *text* values are redacted in logs even when the value is not wrapped in Sensitive: a second safeguard. */
const SECRET_NAMES = new Set(
  "authorization cookie setcookie password passwd secret token accesstoken idtoken refreshtoken privatekey clientkey clientkeydata apikey stringdata".split(
    " ",
  ),
);

export function isSecretName(name: string): boolean {
  return SECRET_NAMES.has(name.replace(/[-_]/g, "").toLowerCase());
}

/** A copy that is safe to log: Sensitive values, fields with names of secrets and the data of Secrets are redacted. */
export function redact(value: unknown, depth = 0): unknown {
  if (value instanceof Sensitive) return REDACTED;
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (value instanceof Uint8Array) return `[${value.byteLength} bytes]`;
  if (typeof value !== "object" || value === null) return value;
  if (depth > 8) return "[deep]";
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  const secretObject = (value as { kind?: unknown }).kind === "Secret";
  const safe: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, field] of Object.entries(value)) {
    const hide = (secretObject && (name === "data" || name === "stringData")) || (isSecretName(name) && typeof field !== "boolean");
    safe[name] = hide ? REDACTED : redact(field, depth + 1);
  }
  return safe;
}
