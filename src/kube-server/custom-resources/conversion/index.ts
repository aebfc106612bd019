export { conversionWebhooks, type WebhookOf } from "./call-converter.ts";
export { Converter, usesWebhook } from "./converter.ts";
export type { ConversionWebhook } from "./port.ts";
