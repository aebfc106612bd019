/** `spec.resources` and `spec.service` of a LatticeService: its dependencies, and the ports it offers. */
import { anyFields, dnsLabelKeys, mapOf, object, portNameKeys } from "../collections.ts";
import { dnsSubdomain, oneOf, patterned, portNumber } from "../fields.ts";
import { withRules } from "../rules.ts";

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

/** `type` is any name: for an unknown type the compiler reports an error that lists the known types. */
const resource = () =>
  object("A resource that the service needs, or a service that may call it.", {
    type: patterned(
      "Kind of resource: service, external-service, service-port, postgres, mysql, mongodb, redis, amqp, s3, route, dns, volume, environment, or one of your own.",
      {
        pattern: "^[a-z][a-z0-9]*(-[a-z0-9]+)*$",
        max: 63,
        message: "must be in kebab-case, such as external-service",
      },
    ).default("service"),
    direction: oneOf("outbound: this service calls it; inbound: it calls this service. Traffic flows when both sides declare it.", [
      "inbound",
      "outbound",
      "both",
    ]).default("outbound"),
    id: patterned("Name of what is meant, or namespace/name; absent: the name of this entry.", {
      pattern: `^(${LABEL}/)?${LABEL}(\\.${LABEL})*$`,
      max: 317,
      message: "must be a name or namespace/name: lower case letters, digits, '-' and '.'",
    }).optional(),
    class: dnsSubdomain("Which variant of the type, such as pvc for a volume.").optional(),
    params: anyFields("Settings that the type understands; ${…} is filled in.", 64).default({}),
    metadata: anyFields("Notes for tools; Lattice does not read them.", 64).default({}),
  });

export const resources = () => mapOf("What the service needs, and who may call it, by name.", resource(), { max: 128, keys: dnsLabelKeys });

const port = () =>
  object("A port.", {
    port: portNumber("Port of the Service."),
    targetPort: portNumber("Port of the container; absent: the same.").optional(),
    protocol: oneOf("Transport protocol.", ["TCP", "UDP", "SCTP"]).default("TCP"),
  });

const ports = () =>
  withRules(mapOf("Ports, by name.", port(), { max: 32, keys: portNameKeys }), [
    {
      cel: "self.all(a, self.exists_one(b, self[a].port == self[b].port && self[a].protocol == self[b].protocol))",
      message: "no two ports may have the same number and protocol",
      reason: "FieldValueDuplicate",
      holds: (map) =>
        new Set(Object.values(map).map(({ port: number, protocol }) => `${protocol}/${number}`)).size === Object.keys(map).length,
    },
  ]);

export const service = () => object("What the service offers to others.", { ports: ports().optional() });
