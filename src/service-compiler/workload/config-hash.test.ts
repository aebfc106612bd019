/** Pods roll when any of their config changes. */
import { describe, expect, test } from "vitest";
import { hmacSha256Hex, sensitive, sha256Hex } from "#base";
import { compiled, mainContainer, type InputOptions } from "../../../test/builders/service-input.ts";

const ANNOTATION = "lattice.dev/config-hash";

type Config = {
  readonly level?: string;
  readonly password?: string;
  readonly file?: string;
  readonly binary?: string;
  readonly around?: InputOptions;
  readonly image?: string;
};

function spec({ level = "info", file = "text", binary = "AAAA", image = "a:1" }: Config) {
  const files = { "/f": { content: file }, "/b": { binaryContent: binary }, "/s": { content: "p=${resources.db.password}" } };
  const variables = { LEVEL: level, PASSWORD: "${resources.db.password}" };
  return mainContainer({ image, variables, files }, { resources: { db: { type: "postgres" } } });
}

function hashOf(config: Config = {}): string {
  const { find } = compiled(spec(config), { secrets: { "postgres/db/password": config.password ?? "hunter2" }, ...config.around });
  return annotationOf(find("Deployment")) ?? "";
}

function annotationOf(deployment: unknown): string | undefined {
  const { spec: inner } = deployment as { spec: { template: { metadata: { annotations?: Record<string, string> } } } };
  return inner.template.metadata.annotations?.[ANNOTATION];
}

describe("the config hash", () => {
  test("Config hash changes when ConfigMap data changes", () => {
    expect(hashOf({ level: "debug" })).not.toBe(hashOf());
    expect(hashOf({ file: "other" })).not.toBe(hashOf());
  });

  test("Config hash changes when Secret data changes", () => {
    expect(hashOf({ password: "other" })).not.toBe(hashOf());
    expect(hashOf({ binary: "AAAB" })).not.toBe(hashOf());
  });

  test("Same config produces same hash (deterministic)", () => {
    expect(hashOf()).toBe(hashOf());
    expect(hashOf({ image: "b:2" })).toBe(hashOf());
  });

  test("Deployment has config-hash annotation", () => expect(hashOf()).toMatch(/^sha256:[0-9a-f]{64}$/));
});

test("a service without config has no annotation", () => {
  expect(annotationOf(compiled(mainContainer({})).find("Deployment"))).toBeUndefined();
});

test("keys and values are delimited: a=bc differs from ab=c", () => {
  const hash = (variables: Readonly<Record<string, string>>) => annotationOf(compiled(mainContainer({ variables })).find("Deployment"));
  expect(hash({ A: "BC" })).not.toBe(hash({ AB: "C" }));
  expect(hash({ A: "1", B: "2" })).toBe(hash({ B: "2", A: "1" }));
});

describe("secrets are hashed with the cluster's key", () => {
  test("another key gives another hash", () => {
    const under = (key: string) => hashOf({ around: { secrets: { "postgres/db/password": "x" }, settings: { hashKey: sensitive(key) } } });
    expect(under("one")).not.toBe(under("two"));
  });

  test("a guessed value cannot be verified without the key", () => {
    const password = "1234";
    const guesses = [password, JSON.stringify({ PASSWORD: btoa(password) }), btoa(password)].flatMap((text) => [
      sha256Hex(text),
      hmacSha256Hex("", text),
    ]);
    for (const guess of guesses) expect(hashOf({ password })).not.toContain(guess);
  });
});

test("values of External Secrets are hashed by the resourceVersion of their Secret", () => {
  const bindings = { b: { bindings: { app: { external: { storeRef: { name: "vault" }, key: "app" } } } } };
  const hash = (version: string | undefined) => {
    const given = { bindings, syncedVersion: () => version };
    return annotationOf(compiled(mainContainer({ variables: { KEY: "${secrets.app.key}" } }), given).find("Deployment"));
  };
  expect(new Set([hash(undefined), hash("1"), hash("2")]).size).toBe(3);
  expect(hash("1")).toBe(hash("1"));
});
