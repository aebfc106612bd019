/** The port that resolves the Service of a webhook to an address. */
import type { Result } from "#base";

export type ServiceReference = { readonly namespace: string; readonly name: string; readonly port: number };
export type Address = { readonly host: string; readonly port: number };

/** The error is reported as the reason why the webhook could not be called. */
export type ResolveService = (service: ServiceReference) => Result<Address, string>;
