/** LatticeExternalService: a service outside the mesh, and its allowed callers. Its URLs must not contain credentials, because many users can read them. */
import type * as z from "zod";
import { dnsLabelKeys, listOf, mapOf, object } from "./collections.ts";
import { anyText, dnsLabel, oneOf, patterned } from "./fields.ts";
import { defineKind, type ObjectOf } from "./kind.ts";
import { ageColumn, messageColumn, phaseColumn, readyColumn } from "./manifest.ts";
import { nameAsLabel } from "./metadata.ts";
import { celPattern, matcher, withRules } from "./rules.ts";
import { SIMPLE_PHASES, statusOf } from "./status.ts";

const HOST = "(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?)";

/** A scheme without a well-known port needs a port in the URL. */
const endpoint = () =>
  patterned("URL, such as https://api.stripe.com or tcp://10.0.0.5:5432.", {
    pattern: `^(https?://${HOST}(:[0-9]{1,5})?|[a-z][a-z0-9+.-]*://${HOST}:[0-9]{1,5})(/[^\\s]*)?$`,
    max: 2_048,
    message: "must be a URL without credentials, such as https://api.stripe.com; other schemes than http and https need a port",
  });

const OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";

/** A pattern and not `isIP(url(self).getHostname())`: the API server cannot estimate its cost, and rejects the CRD. */
const ADDRESS_URL = `^[a-z][a-z0-9+.-]*://(${OCTET}(\\.${OCTET}){3}|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?(/.*)?$`;
const isAddressUrl = matcher(ADDRESS_URL);

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

const requester = () =>
  patterned('A LatticeService: NAME, NAMESPACE/NAME, or "*" for all of the namespace.', {
    pattern: `^(\\*|(${LABEL}/)?${LABEL})$`,
    max: 127,
    message: 'must be NAME, NAMESPACE/NAME or "*"',
  });

const specFields = () =>
  object("The external service.", {
    environment: dnsLabel("LatticeEnvironment it belongs to; absent: this object's namespace.").optional(),
    endpoints: mapOf("URLs, by name.", endpoint(), { max: 32, keys: dnsLabelKeys, notEmpty: true }),
    allowedRequesters: listOf("Services that may call it; absent: none.", requester(), { max: 256, type: "set" }).optional(),
    resolution: oneOf("dns: hosts are names that are looked up; static: hosts are addresses.", ["dns", "static"]).default("dns"),
    description: anyText("What it is, for people.", 4_096).optional(),
  });

const spec = () =>
  withRules(specFields(), [
    {
      cel: `self.resolution != 'static' || self.endpoints.all(name, self.endpoints[name].matches(${celPattern(ADDRESS_URL)}))`,
      message: "must have an IP address as host, because resolution is static; use an address, or resolution dns",
      field: ["endpoints"],
      violations: ({ resolution, endpoints }: z.output<ReturnType<typeof specFields>>) =>
        Object.entries(endpoints).flatMap(([name, url]) => (resolution === "static" && !isAddressUrl(url) ? [["endpoints", name]] : [])),
    },
  ]);

const status = () =>
  statusOf(SIMPLE_PHASES, {
    hosts: listOf("Hosts that are open to the requesters.", anyText("A host.", 253), { max: 64, type: "set" }).optional(),
  });

/** A service outside the mesh, and which services may call it. */
export type LatticeExternalService = ObjectOf<"LatticeExternalService", ReturnType<typeof spec>, ReturnType<typeof status>>;

export const latticeExternalServiceKind = defineKind<LatticeExternalService>({
  kind: "LatticeExternalService",
  plural: "latticeexternalservices",
  shortName: "les",
  namespaced: true,
  purpose: "Something outside the mesh, and who may call it.",
  name: nameAsLabel(63, "labels bear that name"),
  spec,
  status,
  columns: [
    phaseColumn,
    readyColumn,
    { name: "Environment", type: "string", jsonPath: ".spec.environment", description: "LatticeEnvironment it belongs to." },
    { name: "Resolution", type: "string", jsonPath: ".spec.resolution", description: "dns or static." },
    { name: "Hosts", type: "string", jsonPath: ".status.hosts", description: "Hosts that are open.", priority: 1 },
    messageColumn,
    ageColumn,
  ],
});

export const latticeExternalServices = latticeExternalServiceKind.resource;
export const parseLatticeExternalService = latticeExternalServiceKind.parse;
