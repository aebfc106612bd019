/** Invalid conversion stanzas and obsolete settings of a CRD, with the messages of kube-apiserver 1.36.3. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "#kube";
import { admitted, crdOf, GROUP, refusalsOf } from "../widget.test-support.ts";

const OBJECT = { type: "object" };
const webhook = (clientConfig: JsonObject, conversionReviewVersions: readonly string[] = ["v1"]): JsonObject =>
  crdOf(OBJECT, {}, { conversion: { strategy: "Webhook", webhook: { conversionReviewVersions, clientConfig } } });
const service = (more: JsonObject): JsonObject => webhook({ service: { name: "n", namespace: "s", ...more } });
const CLIENT = "spec.conversion.webhookClientConfig";
const starting = (text: string): string => expect.stringContaining(text) as string;

describe("a conversion is refused for", () => {
  test.each<{ name: string; given: JsonObject; want: readonly string[] }>([
    {
      name: "a webhook with a URL and a Service",
      given: webhook({ url: "https://a", service: { name: "n", namespace: "s" } }),
      want: [`${CLIENT}: Required value: exactly one of url or service is required`],
    },
    {
      name: "an invalid URL",
      given: webhook({ url: "https://a:b" }),
      want: [
        `${CLIENT}.url: Required value: url must be a valid URL: parse "https://a:b": invalid port ":b" after host; desired format: https://host[/path]`,
      ],
    },
    {
      name: "a URL with user, query and fragment",
      given: webhook({ url: "https://u@?q#f" }),
      want: [
        `${CLIENT}.url: Invalid value: "": host must be specified; desired format: https://host[/path]`,
        `${CLIENT}.url: Invalid value: "u": user information is not permitted in the URL`,
        `${CLIENT}.url: Invalid value: "f": fragments are not permitted in the URL`,
        `${CLIENT}.url: Invalid value: "q": query parameters are not permitted in the URL`,
      ],
    },
    {
      name: "a Service without a name, reported as its namespace",
      given: service({ name: "", path: "//" }),
      want: [`${CLIENT}.service.namespace: Required value`, `${CLIENT}.service.path: Invalid value: "//": segment[0] may not be empty`],
    },
    {
      name: "a Service without a namespace and with a bad port",
      given: service({ namespace: "", port: 0, path: "a//B/" }),
      want: [
        `${CLIENT}.service.name: Required value`,
        `${CLIENT}.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive`,
        `${CLIENT}.service.path: Invalid value: "a//B/": must start with a '/'`,
        `${CLIENT}.service.path: Invalid value: "a//B/": segment[0] may not be empty`,
        `${CLIENT}.service.path: Invalid value: "a//B/": segment[1] may not be empty`,
        starting(`${CLIENT}.service.path: Invalid value: "a//B/": segment[2]: a lowercase RFC 1123 subdomain`),
      ],
    },
    {
      name: "unknown review versions",
      given: webhook({ url: "https://a" }, ["v9", "v9", "V"]),
      want: [
        'spec.conversion.conversionReviewVersions[1]: Invalid value: "v9": duplicate version',
        starting('spec.conversion.conversionReviewVersions[2]: Invalid value: "V": a DNS-1035 label'),
        'spec.conversion.conversionReviewVersions: Invalid value: ["v9","v9","V"]: must include at least one of v1, v1beta1',
      ],
    },
    {
      name: "a webhook with strategy None",
      given: crdOf(
        OBJECT,
        {},
        { conversion: { strategy: "None", webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: "https://a" } } } },
      ),
      want: [
        `${CLIENT}: Forbidden: should not be set when strategy is not set to Webhook`,
        "spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook",
      ],
    },
  ])("$name", ({ given, want }) => {
    expect(refusalsOf(given)).toEqual(want);
  });
});

describe("a CRD of an older server", () => {
  const old = admitted(crdOf(OBJECT)).object;
  const metadata = { name: `widgets.${GROUP}`, resourceVersion: "1" };
  const open = { ...old, metadata, spec: { ...(old["spec"] as JsonObject), preserveUnknownFields: true } };
  test("may keep preserveUnknownFields, but not with defaults or a webhook", () => {
    const next = (schema: JsonObject, more: JsonObject = {}): JsonObject => ({
      ...crdOf(schema, {}, { preserveUnknownFields: true, ...more }),
      metadata,
    });
    expect(refusalsOf(next(OBJECT), open)).toEqual([]);
    expect(refusalsOf(next({ type: "object", properties: { a: { type: "string", default: "x" } } }), open)).toContain(
      "spec.preserveUnknownFields: Invalid value: true: must be false in order to use defaults in the schema",
    );
    const conversion = { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: "https://a" } } };
    expect(refusalsOf(next(OBJECT, { conversion }), open)).toEqual([
      'spec.conversion.strategy: Invalid value: "Webhook": must be None if spec.preserveUnknownFields is true',
    ]);
  });
  test("cannot get an invalid certificate", () => {
    const conversion = (caBundle: string): JsonObject => ({
      strategy: "Webhook",
      webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: "https://a", caBundle } },
    });
    const served = {
      ...old,
      metadata,
      status: { ...(old["status"] as JsonObject), conditions: [{ type: "Established", status: "True" }] },
    };
    const next = (caBundle: string): JsonObject => ({ ...crdOf(OBJECT, {}, { conversion: conversion(caBundle) }), metadata });
    expect(refusalsOf(next("aGVsbG8="), served)).toEqual([
      'spec.conversion.webhookClientConfig.caBundle: Invalid value: "aGVsbG8=": unable to load root certificates: unable to parse bytes as PEM block',
    ]);
    expect(refusalsOf(next(btoa("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----")), served)).toEqual([]);
  });
});
