export { readClientConfig, type ClientConfig, type ServiceReference } from "./client-config.ts";
export { readReview, saidKind, type ReviewKind } from "./read-review.ts";
export { resolveFromStore, type Address, type ResolveService } from "./service-address.ts";
export { WebhookClients, type WebhookClientOptions } from "./webhook-client.ts";
