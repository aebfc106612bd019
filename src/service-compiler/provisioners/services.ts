/** `service` and `external-service`: peers that are called by their own name. Their outputs are not sensitive. */
import { err, ok, type Result } from "#base";
import { didYouMean } from "#crds";
import { parseDnsLabel } from "#kube";
import { plain } from "../templates/index.ts";
import { hostOf, open } from "./outputs.ts";
import { AGREEMENT_PARAMS } from "./agreement.ts";
import { openText, problem, problemsIn } from "./params.ts";
import type { ResourceOutput, Provisioner, ResourceProblem } from "./provisioner.ts";

const NOT_FOUND: Result<never, ResourceProblem> = err({ kind: "not-found" });

/** A callee without ports still has an address; port 80 is used in templates only, and opens nothing. */
const NO_PORT = 80;

export const serviceProvisioner: Provisioner = {
  type: "service",
  params: AGREEMENT_PARAMS,
  provision: ({ address, surroundings }) => {
    const callee = surroundings.findService(address);
    const host = hostOf(address, surroundings.clusterDomain);
    const port = String(callee === undefined ? NO_PORT : preferred(callee.ports, "http", NO_PORT));
    const known = (text: string): ResourceOutput => (callee === undefined ? () => NOT_FOUND : open(text));
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

/** One port of another workload, as in Score's own tools. */
export const servicePortProvisioner: Provisioner = {
  type: "service-port",
  params: ["workload", "port"],
  provision: ({ address: { namespace }, params, surroundings }) => {
    const workload = openText(params, "workload");
    const port = openText(params, "port");
    if (!workload.ok || !port.ok) return problemsIn([workload, port]);
    if (workload.value === undefined || !parseDnsLabel(workload.value).ok)
      return problem("params.workload must be the name of another workload", "params.workload");
    if (port.value === undefined) return problem("params.port must be the name or the number of one of its ports", "params.port");
    const address = { namespace, name: workload.value };
    const number = () => portOf(surroundings.findService(address)?.ports, port.value ?? "", address.name);
    const known = (text: string): ResourceOutput => {
      return () => {
        const found = number();
        return found.ok ? ok(plain(text)) : found;
      };
    };
    return ok({
      callee: { address, ports: [/^[0-9]+$/.test(port.value) ? Number(port.value) : port.value] },
      outputs: new Map<string, ResourceOutput>([
        ["hostname", known(hostOf(address, surroundings.clusterDomain))],
        [
          "port",
          () => {
            const found = number();
            return found.ok ? ok(plain(String(found.value))) : found;
          },
        ],
      ]),
    });
  },
};

function portOf(ports: ReadonlyMap<string, number> | undefined, wanted: string, workload: string): Result<number, ResourceProblem> {
  if (ports === undefined) return problem(`there is no service ${workload}; add it, or correct params.workload`);
  const number = ports.get(wanted) ?? [...ports.values()].find((port) => String(port) === wanted);
  if (number !== undefined) return ok(number);
  const there = [...ports].map(([name, port]) => `${name} (${port})`).join(", ");
  return problem(
    `${workload} has no port ${wanted}${didYouMean(wanted, ports.keys())}; ${there === "" ? "it has none" : `there are ${there}`}`,
  );
}

/** The endpoint of that name, else the first by name. */
export function preferred<T>(entries: ReadonlyMap<string, T>, name: string, fallback: T): T {
  const named = entries.get(name);
  return named ?? entries.get([...entries.keys()].toSorted()[0] ?? "") ?? fallback;
}

export const externalServiceProvisioner: Provisioner = {
  type: "external-service",
  // all endpoints are open to the allowed requesters; there are no limits
  params: [],
  provision: ({ address, surroundings }) => {
    const external = surroundings.findExternalService(address);
    const url = external === undefined ? undefined : preferred(external.endpoints, "default", "");
    const part = (read: (endpoint: Endpoint) => string): ResourceOutput => {
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

/** The schema of the kind has checked the rest of the URL. */
export function readUrl(url: string): Result<Endpoint, ResourceProblem> {
  const parts = /^([a-z][a-z0-9+.-]*):\/\/(\[[^\]]*\]|[^:/]*)(?::([0-9]{1,5}))?(?:\/|$)/.exec(url);
  const [, scheme = "", host = "", port] = parts ?? [];
  if (parts === null || host === "") return problem(`${JSON.stringify(url)} is not a URL`);
  const number = port === undefined ? WELL_KNOWN.get(scheme) : Number(port);
  return number === undefined
    ? problem(`${JSON.stringify(url)} has no port, and ${scheme} has no default port`)
    : ok({ host, port: number });
}
