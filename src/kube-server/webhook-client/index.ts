export { readClientConfig, type ClientConfig } from "./client-config.ts";
export { readReview, declaredKind, type ReviewKind } from "./read-review.ts";
export { resolveFromStore } from "./service-address.ts";
export { STATUS, struct, UID } from "./status-shape.ts";
export { WebhookClients, type WebhookClientOptions } from "./webhook-client.ts";
