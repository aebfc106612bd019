/** The conversion webhooks of CustomResourceDefinitions, called over HTTPS. */
import { err, type Result } from "#base";
import { fieldAt, type Json, type JsonObject } from "#kube";
import { readClientConfig, WebhookClients, type WebhookClientOptions } from "../../webhook-client/index.ts";
import { newUid } from "../../protocol/core.ts";
import type { Definition } from "../crd/definition.ts";
import { readResponse, reviewBody, type ConversionReviewVersion } from "./conversion-review.ts";
import type { ConversionWebhook } from "./port.ts";

/** A conversion has no timeout setting: this is the client's own. */
const TIMEOUT_SECONDS = 30;

export type WebhookOf = (definition: Definition) => ConversionWebhook;

export function conversionWebhooks(options: WebhookClientOptions & { readonly random: () => number }): WebhookOf {
  const clients = new WebhookClients(options);
  return (definition) => {
    const config = readClientConfig(fieldAt(definition.conversion, "webhook", "clientConfig"));
    const version = firstKnown(fieldAt(definition.conversion, "webhook", "conversionReviewVersions"));
    return {
      async convert(objects: readonly JsonObject[], desiredAPIVersion: string): Promise<Result<readonly Json[], string>> {
        if (version === undefined) return err("no supported conversion review versions");
        const uid = newUid(options.random);
        const posted = await clients.post(config, reviewBody({ uid, desiredAPIVersion, objects }, version), TIMEOUT_SECONDS);
        return posted.ok ? readResponse(posted.value, uid, version) : posted;
      },
    };
  };
}

function firstKnown(versions: Json | undefined): ConversionReviewVersion | undefined {
  const given = Array.isArray(versions) ? (versions as readonly Json[]) : [];
  return given.find((version) => version === "v1" || version === "v1beta1");
}
