/** A Pod's spec, wherever it stands: in a Pod, or in the template of what makes Pods. The order of causes is the server's. */
import type { JsonObject } from "#kube";
import { at, isTrueAt, numberAt, objectAt, objectsAt, textAt, textsAt } from "../../draft.ts";
import { duplicate, inRange, invalid, invalidEach, joined, required, type Causes } from "../causes.ts";
import { dnsLabel, dnsSearch, dnsSubdomain, qualifiedName } from "../formats.ts";
import { validateLabels } from "../object-meta.ts";
import { ifSetOneOf, oneOf, textIfSet, validateIP } from "../shared.ts";
import { validateContainers, validateEphemeralContainers, validateInitContainers, type PodContext } from "./containers.ts";
import { validateHostProcess, validateHostUsers, validateOs } from "./host-access.ts";
import { validatePodClaims } from "./resource-claims.ts";
import { validateRequirements } from "./resources.ts";
import { validateAffinity, validateTolerations, validateTopologySpread } from "./scheduling.ts";
import { validatePodSecurity } from "./security.ts";
import { validateVolumes } from "./volumes.ts";

const RESTART_POLICIES = ["Always", "OnFailure", "Never"];
const DNS_POLICIES = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];

export function validatePodSpec(spec: JsonObject, path: string, options: { readonly isPod: boolean }): Causes {
  const { causes, volumes } = validateVolumes(spec, `${path}.volumes`);
  const context: PodContext = {
    volumes,
    claims: new Set(objectsAt(spec, "resourceClaims").map((claim) => textAt(claim, "name"))),
    grace: numberAt(spec, "terminationGracePeriodSeconds"),
    restartPolicy: textAt(spec, "restartPolicy"),
    hostUsers: at(spec, "hostUsers") !== false,
  };
  return joined(
    causes,
    validatePodClaims(spec, `${path}.resourceClaims`),
    validateContainers(objectsAt(spec, "containers"), `${path}.containers`, context),
    validateInitContainers(spec, `${path}.initContainers`, context),
    options.isPod ? validateEphemeralContainers(spec, `${path}.ephemeralContainers`, context) : [],
    hostNetworkPorts(spec, path, options.isPod),
    oneOf(`${path}.restartPolicy`, context.restartPolicy, RESTART_POLICIES),
    oneOf(`${path}.dnsPolicy`, textAt(spec, "dnsPolicy"), DNS_POLICIES),
    validateLabels(at(spec, "nodeSelector"), `${path}.nodeSelector`),
    validatePodSecurity(spec, `${path}.securityContext`),
    validateAffinity(spec, `${path}.affinity`),
    validateDnsConfig(spec, `${path}.dnsConfig`),
    validateGates(spec, path),
    validateTopologySpread(spec, `${path}.topologySpreadConstraints`),
    validateHostProcess(spec, path),
    validateHostUsers(spec, path),
    validateNames(spec, path),
    validateTolerations(spec, `${path}.tolerations`),
    validateHostAliases(spec, `${path}.hostAliases`),
    textIfSet(`${path}.priorityClassName`, textAt(spec, "priorityClassName"), dnsSubdomain),
    textIfSet(`${path}.runtimeClassName`, textAt(spec, "runtimeClassName"), dnsSubdomain),
    ifSetOneOf(`${path}.preemptionPolicy`, spec["preemptionPolicy"], ["PreemptLowerPriority", "Never"]),
    validateRequirements({ limits: objectAt(spec, "overhead") ?? {} }, `${path}.overhead`, new Set()),
    validateOs(spec, path),
  );
}

function hostNetworkPorts(spec: JsonObject, path: string, isPod: boolean): Causes {
  if (!isTrueAt(spec, "hostNetwork")) return [];
  return objectsAt(spec, "containers").flatMap((container, index) =>
    objectsAt(container, "ports").flatMap((port, portIndex) => {
      const [host, inside] = [numberAt(port, "hostPort") ?? 0, numberAt(port, "containerPort") ?? 0];
      if (host === inside || (host === 0 && !isPod)) return [];
      return [
        invalid(`${path}.containers[${index}].ports[${portIndex}].hostPort`, host, "must match `containerPort` when `hostNetwork` is true"),
      ];
    }),
  );
}

function validateDnsConfig(spec: JsonObject, path: string): Causes {
  const config = objectAt(spec, "dnsConfig");
  const [servers, searches] = [textsAt(config, "nameservers"), textsAt(config, "searches")];
  if (spec["dnsPolicy"] === "None") {
    if (config === undefined) return [required(path, "must provide `dnsConfig` when `dnsPolicy` is None")];
    if (servers.length === 0) return [required(`${path}.nameservers`, "must provide at least one DNS nameserver when `dnsPolicy` is None")];
  }
  return joined(
    servers.length > 3 ? [invalid(`${path}.nameservers`, servers, "must not have more than 3 nameservers")] : [],
    servers.flatMap((server, index) => validateIP(`${path}.nameservers[${index}]`, server)),
    searches.length > 32 ? [invalid(`${path}.searches`, searches, "must not have more than 32 search paths")] : [],
    searches.flatMap((search, index) => (search === "." ? [] : invalidEach(`${path}.searches[${index}]`, search, dnsSearch(search)))),
    objectsAt(config, "options").flatMap((option, index) =>
      textAt(option, "name") === "" ? [required(`${path}.options[${index}]`, "must not be empty")] : [],
    ),
  );
}

function validateGates(spec: JsonObject, path: string): Causes {
  const seen = new Set<string>();
  const readiness = objectsAt(spec, "readinessGates").flatMap((gate, index) => {
    const type = textAt(gate, "conditionType");
    return invalidEach(`${path}.readinessGates[${index}].conditionType`, type, qualifiedName(type));
  });
  const scheduling = objectsAt(spec, "schedulingGates").flatMap((gate, index) => {
    const name = textAt(gate, "name");
    const again = seen.has(name);
    seen.add(name);
    const here = `${path}.schedulingGates[${index}]`;
    return joined(invalidEach(here, name, qualifiedName(name)), again ? [duplicate(here, name)] : []);
  });
  return joined(readiness, scheduling);
}

function validateNames(spec: JsonObject, path: string): Causes {
  const deadline = numberAt(spec, "activeDeadlineSeconds");
  return joined(
    textIfSet(`${path}.serviceAccountName`, textAt(spec, "serviceAccountName"), dnsSubdomain),
    textIfSet(`${path}.nodeName`, textAt(spec, "nodeName"), dnsSubdomain),
    deadline === undefined ? [] : inRange(`${path}.activeDeadlineSeconds`, deadline, [1, 2_147_483_647]),
    textIfSet(`${path}.hostname`, textAt(spec, "hostname"), dnsLabel),
    textIfSet(`${path}.subdomain`, textAt(spec, "subdomain"), dnsLabel),
  );
}

function validateHostAliases(spec: JsonObject, path: string): Causes {
  return objectsAt(spec, "hostAliases").flatMap((alias, index) =>
    joined(
      validateIP(`${path}[${index}].ip`, textAt(alias, "ip")),
      textsAt(alias, "hostnames").flatMap((name, at) => invalidEach(`${path}[${index}].hostnames[${at}]`, name, dnsSubdomain(name))),
    ),
  );
}
