/** `service` and `external-service`: what is called by its own name. None of it is sensitive: an address is no secret. */
import { err, ok, type Result } from "#base";
import { plain } from "../templates/index.ts";
import { hostOf, open } from "./outputs.ts";
import { AGREEMENT_PARAMS } from "./agreement.ts";
import { problem } from "./params.ts";
import type { Output, Provisioner, ResourceProblem } from "./provisioner.ts";

const NOT_FOUND: Result<never, ResourceProblem> = err({ kind: "not-found" });

/** A callee without ports still has an address; 80 stands in templates only, and opens nothing. */
const NO_PORT = 80;

export const serviceProvisioner: Provisioner = {
  type: "service",
  params: AGREEMENT_PARAMS,
  provision: ({ address, surroundings }) => {
    const callee = surroundings.findService(address);
    const host = hostOf(address, surroundings.clusterDomain);
    const port = String(callee === undefined ? NO_PORT : preferred(callee.ports, "http", NO_PORT));
    const known = (text: string): Output => (callee === undefined ? () => NOT_FOUND : open(text));
    return ok({
      outputs: new Map([
        ["host", known(host)],
        ["port", known(port)],
        ["url", known(`http://${host}:${port}`)],
        ["name", known(address.name)],
      ]),
    });
  },
};

/** The one of that name, else the first by name. */
function preferred<T>(entries: ReadonlyMap<string, T>, name: string, fallback: T): T {
  const named = entries.get(name);
  return named ?? entries.get([...entries.keys()].toSorted()[0] ?? "") ?? fallback;
}

export const externalServiceProvisioner: Provisioner = {
  type: "external-service",
  // all endpoints of it are open to those whom it allows; there is nothing to narrow
  params: [],
  provision: ({ address, surroundings }) => {
    const external = surroundings.findExternalService(address);
    const url = external === undefined ? undefined : preferred(external.endpoints, "default", "");
    const part = (read: (endpoint: Endpoint) => string): Output => {
      if (url === undefined) return () => NOT_FOUND;
      const endpoint = readUrl(url);
      return () => (endpoint.ok ? ok(plain(read(endpoint.value))) : endpoint);
    };
    return ok({
      outputs: new Map([
        ["host", part(({ host }) => host)],
        ["port", part(({ port }) => String(port))],
        ["url", part(() => url ?? "")],
        ["name", part(() => address.name)],
      ]),
    });
  },
};

type Endpoint = { readonly host: string; readonly port: number };

const WELL_KNOWN: ReadonlyMap<string, number> = new Map([
  ["http", 80],
  ["https", 443],
]);

/** The schema of the kind has seen to the rest of the form. */
function readUrl(url: string): Result<Endpoint, ResourceProblem> {
  const parts = /^([a-z][a-z0-9+.-]*):\/\/(\[[^\]]*\]|[^:/]*)(?::([0-9]{1,5}))?(?:\/|$)/.exec(url);
  const [, scheme = "", host = "", port] = parts ?? [];
  if (parts === null || host === "") return problem(`${JSON.stringify(url)} is no URL`);
  const number = port === undefined ? WELL_KNOWN.get(scheme) : Number(port);
  return number === undefined ? problem(`${JSON.stringify(url)} has no port, and ${scheme} has no usual one`) : ok({ host, port: number });
}
