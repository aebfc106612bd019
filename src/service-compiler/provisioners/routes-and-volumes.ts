/** The types `route` (a host and path on the ingress gateway), `dns` (a host name) and `volume`. None has a secret output. */
import { ok, type Result } from "#base";
import { didYouMean } from "#crds";
import { parseQuantity } from "#kube";
import { hasEmptySegment, resolvedUrlPath } from "../paths.ts";
import { open } from "./outputs.ts";
import { listParam, openText, problem, problemsIn } from "./params.ts";
import type { Claim, Provisioner, ResourceProblem, ProvisionRequest } from "./provisioner.ts";

const HOST = /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LONGEST_HOST = 253;

/** A host name below the ingress domain; the DNS server of that domain must resolve it. */
export const dnsProvisioner: Provisioner = {
  type: "dns",
  params: [],
  provision: ({ address, surroundings: { ingressDomain } }) =>
    ingressDomain === undefined
      ? problem("has no domain to be in; set ingressDomain of the LatticeEnvironment, or --ingress-domain")
      : ok({ outputs: new Map([["host", open(`${address.name}.${ingressDomain}`)]]) }),
};

export const routeProvisioner: Provisioner = {
  type: "route",
  params: ["host", "path", "port"],
  provision: ({ name, params, surroundings }) => {
    const given = openText(params, "host");
    const path = openText(params, "path");
    const port = openText(params, "port");
    if (!given.ok || !path.ok || !port.ok) return problemsIn([given, path, port]);
    const host = hostFor(given.value, name, surroundings.ingressDomain);
    const prefix = path.value ?? "/";
    const checked = checkRoutePath(prefix);
    if (!host.ok || !checked.ok) return problemsIn([host, checked]);
    return ok({
      route: { host: host.value, path: prefix, port: port.value === undefined ? undefined : portNameOrNumber(port.value) },
      outputs: new Map([
        ["host", open(host.value)],
        ["path", open(prefix)],
        ["url", open(`https://${host.value}${prefix}`)],
      ]),
    });
  },
};

function hostFor(given: string | undefined, name: string, ingressDomain: string | undefined): Result<string, ResourceProblem> {
  const host = given ?? (ingressDomain === undefined ? undefined : `${name}.${ingressDomain}`);
  if (host === undefined)
    return problem("has no host; set params.host, or an ingress domain (ingressDomain of the LatticeEnvironment, --ingress-domain)");
  if (host.length <= LONGEST_HOST && HOST.test(host)) return ok(host);
  return problem(`params.host is ${JSON.stringify(host)}; it must be a host name in lower case`, "params.host");
}

const LONGEST_PATH = 1_024;

function checkRoutePath(path: string): Result<void, ResourceProblem> {
  if (isRoutePath(path)) return ok(undefined);
  return problem(
    `params.path is ${JSON.stringify(path)}; it must begin with "/", and have no "?", "#", space, "//", "." or ".." in it`,
    "params.path",
  );
}

/** As the Gateway API requires: without anything that a proxy would resolve or decode. */
function isRoutePath(path: string): boolean {
  if (path.length > LONGEST_PATH || !/^\/(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|%[0-9A-Fa-f]{2})*$/.test(path)) return false;
  return !hasEmptySegment(path) && !/%2f/i.test(path) && resolvedUrlPath(path) === path;
}

function portNameOrNumber(text: string): string | number {
  return /^[0-9]+$/.test(text) ? Number(text) : text;
}

const CLASSES = ["pvc", "configmap", "secret", "emptydir"] as const;
const ACCESS_MODES = ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"];

export const volumeProvisioner: Provisioner = {
  type: "volume",
  params: ["size", "accessModes", "storageClass"],
  provision: (request) => {
    const { address } = request;
    const { namespace } = request.surroundings;
    const kind = request.class ?? "pvc";
    if (address.namespace !== namespace)
      return problem(`id names namespace ${address.namespace}; pods can only mount what is in their own, ${namespace}`, "id");
    if (!CLASSES.some((known) => known === kind))
      return problem(`class ${JSON.stringify(kind)} is unknown${didYouMean(kind, CLASSES)}; there are ${CLASSES.join(", ")}`, "class");
    const claim = claimOf(request, kind);
    if (!claim.ok) return claim;
    const reference = kind === "emptydir" ? "emptydir:" : `${kind}:${address.name}`;
    return ok({
      ...(claim.value === undefined ? {} : { claim: claim.value }),
      outputs: new Map([
        ["name", open(address.name)],
        ["ref", open(reference)],
        ["source", open(reference)],
        ["class", open(kind)],
      ]),
    });
  },
};

/** With a size the claim is created; without one it must exist. */
function claimOf({ params, address }: ProvisionRequest, kind: string) {
  const size = openText(params, "size");
  const modes = listParam(params, "accessModes");
  const storageClass = openText(params, "storageClass");
  if (!size.ok || !modes.ok || !storageClass.ok) return problemsIn([size, modes, storageClass]);
  if (size.value === undefined) return ok(undefined);
  const accessModes = modes.value ?? ["ReadWriteOnce"];
  const checks = [sizeFor(size.value, kind), knownModes(accessModes)];
  if (checks.some((check) => !check.ok)) return problemsIn(checks);
  const claim: Claim = { name: address.name, size: size.value, accessModes, storageClassName: storageClass.value };
  return ok(claim);
}

function sizeFor(size: string, kind: string): Result<void, ResourceProblem> {
  if (kind !== "pvc") return problem(`params.size is only for class pvc, and this is ${kind}`, "params.size");
  if (parseQuantity(size).ok) return ok(undefined);
  return problem(`params.size is ${JSON.stringify(size)}; it must be a quantity, such as 10Gi`, "params.size");
}

function knownModes(modes: readonly string[]): Result<void, ResourceProblem> {
  const unknown = modes.find((mode) => !ACCESS_MODES.includes(mode));
  if (unknown === undefined) return ok(undefined);
  const hint = `${didYouMean(unknown, ACCESS_MODES)}; there are ${ACCESS_MODES.join(", ")}`;
  return problem(`params.accessModes has ${JSON.stringify(unknown)}${hint}`, "params.accessModes");
}
