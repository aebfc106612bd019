/** A contract: one claim about an API server, and the requests that check it, on every server. */
import type { Api } from "./client/api.ts";

export type Contract = { readonly area: string; readonly name: string; readonly run: (api: Api) => Promise<void> };

/** The claims of one area, by name. */
export function area(name: string, claims: Readonly<Record<string, Contract["run"]>>): readonly Contract[] {
  return Object.entries(claims).map(([claim, run]) => ({ area: name, name: claim, run }));
}
