/** `route`: a door from outside. `dns`: a name for one. `volume`: something to mount. None has a secret in it. */
import { ok } from "#base";
import { didYouMean } from "#crds";
import { parseQuantity } from "#kube";
import { open } from "./outputs.ts";
import { listParam, openText, problem } from "./params.ts";
import type { Claim, Provisioner, ResourceRequest } from "./provisioner.ts";

const HOST = /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LONGEST_HOST = 253;

/** A host name below the ingress domain; whoever serves that domain answers for it. */
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
    if (!given.ok) return given;
    if (!path.ok) return path;
    if (!port.ok) return port;
    const { ingressDomain } = surroundings;
    const host = given.value ?? (ingressDomain === undefined ? undefined : `${name}.${ingressDomain}`);
    if (host === undefined)
      return problem("has no host; set params.host, or an ingress domain (ingressDomain of the LatticeEnvironment, --ingress-domain)");
    if (host.length > LONGEST_HOST || !HOST.test(host))
      return problem(`params.host is ${JSON.stringify(host)}; it must be a host name in lower case`);
    const door = path.value ?? "/";
    if (!isRoutePath(door))
      return problem(
        `params.path is ${JSON.stringify(door)}; it must begin with "/", and have no "?", "#", space, "//", "." or ".." in it`,
      );
    return ok({
      route: { host, path: door, port: port.value === undefined ? undefined : portNameOrNumber(port.value) },
      outputs: new Map([
        ["host", open(host)],
        ["path", open(door)],
        ["url", open(`https://${host}${door}`)],
      ]),
    });
  },
};

const LONGEST_PATH = 1_024;

/** As the Gateway API wants it: nothing in it that a proxy would have to resolve or decode first. */
function isRoutePath(path: string): boolean {
  if (path.length > LONGEST_PATH || !/^\/(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|%[0-9A-Fa-f]{2})*$/.test(path)) return false;
  return !path.includes("//") && !/%2f/i.test(path) && !path.split("/").some((part) => part === "." || part === "..");
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
      return problem(`id names namespace ${address.namespace}; pods can only mount what is in their own, ${namespace}`);
    if (!CLASSES.some((known) => known === kind))
      return problem(`class ${JSON.stringify(kind)} is unknown${didYouMean(kind, CLASSES)}; there are ${CLASSES.join(", ")}`);
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

/** With a size the claim is made; without one it must be there already. */
function claimOf({ params, address }: ResourceRequest, kind: string) {
  const size = openText(params, "size");
  const modes = listParam(params, "accessModes");
  const storageClass = openText(params, "storageClass");
  if (!size.ok) return size;
  if (!modes.ok) return modes;
  if (!storageClass.ok) return storageClass;
  if (size.value === undefined) return ok(undefined);
  if (kind !== "pvc") return problem(`params.size is only for class pvc, and this is ${kind}`);
  if (!parseQuantity(size.value).ok) return problem(`params.size is ${JSON.stringify(size.value)}; it must be a quantity, such as 10Gi`);
  const accessModes = modes.value ?? ["ReadWriteOnce"];
  const unknown = accessModes.find((mode) => !ACCESS_MODES.includes(mode));
  if (unknown !== undefined)
    return problem(
      `params.accessModes has ${JSON.stringify(unknown)}${didYouMean(unknown, ACCESS_MODES)}; there are ${ACCESS_MODES.join(", ")}`,
    );
  const claim: Claim = { name: address.name, size: size.value, accessModes, storageClassName: storageClass.value };
  return ok(claim);
}
