/** The ports of a Service. */
import type { JsonObject, KubeObject } from "#kube";
import { at, numberAt, objectsAt, textAt } from "../draft.ts";
import { type Causes, duplicate, forbidden, invalidEach, required } from "./causes.ts";
import { dnsLabel, portNumber, qualifiedName } from "./formats.ts";
import { validatePort } from "./pod/probes.ts";
import { oneOf } from "./shared.ts";
import { typeOf } from "../kinds/service-allocation.ts";

export function validatePorts(ports: readonly JsonObject[]): Causes {
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const path = `spec.ports[${index}]`;
    const [name, number, protocol] = [textAt(port, "name"), numberAt(port, "port") ?? 0, textAt(port, "protocol")];
    const again = name !== "" && names.has(name);
    names.add(name);
    const appProtocol = at(port, "appProtocol");
    return [
      ...(ports.length > 1 && name === "" ? [required(`${path}.name`)] : []),
      ...(name === "" ? [] : invalidEach(`${path}.name`, name, dnsLabel(name))),
      ...(again ? [duplicate(`${path}.name`, name)] : []),
      ...invalidEach(`${path}.port`, number, portNumber(number)),
      ...oneOf(`${path}.protocol`, protocol, ["SCTP", "TCP", "UDP"]),
      ...validatePort(`${path}.targetPort`, port["targetPort"]),
      ...(typeof appProtocol !== "string" ? [] : invalidEach(`${path}.appProtocol`, appProtocol, qualifiedName(appProtocol))),
    ];
  });
}

/** The server shows its internal struct here. */
export function repeatedPorts(service: KubeObject): Causes {
  const taken = new Set<string>();
  return objectsAt(service, "spec", "ports").flatMap((port, index) => {
    const [number, protocol] = [numberAt(port, "port") ?? 0, textAt(port, "protocol")];
    const again = taken.has(`${protocol}/${number}`);
    taken.add(`${protocol}/${number}`);
    const shown = { Name: "", Protocol: protocol, AppProtocol: null, Port: number, TargetPort: 0, NodePort: 0 };
    return again ? [duplicate(`spec.ports[${index}]`, shown)] : [];
  });
}

/** A new Service that asks for a port twice is refused where ports are given out. */
export function validateNodePorts(service: KubeObject, isNew: boolean): Causes {
  const inside = typeOf(service) === "ClusterIP";
  const seen = new Set<string>();
  return objectsAt(service, "spec", "ports").flatMap((port, index) => {
    const number = numberAt(port, "nodePort") ?? 0;
    if (number === 0) return [];
    if (inside) return [forbidden(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'")];
    const key = `${textAt(port, "protocol")}/${number}`;
    const again = seen.has(key);
    seen.add(key);
    return again && !isNew ? [duplicate(`spec.ports[${index}].nodePort`, number)] : [];
  });
}
