/** Variables of a container: `env`, `envFrom`, and references to fields of the Pod. */
import { objectAt, objectsAt, textAt } from "../../draft.ts";
import type { JsonObject } from "#kube";
import { invalid, invalidEach, joined, notSupported, required, type Causes } from "../causes.ts";
import { dataKey, dnsSubdomain, envName, qualifiedName } from "../formats.ts";
import { requiredText } from "../shared.ts";

const ENV_FIELDS = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];
export const VOLUME_FIELDS = ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];
const KNOWN_FIELDS = new Set([...ENV_FIELDS, ...VOLUME_FIELDS, "spec.restartPolicy", "spec.schedulerName", "status.phase", "spec.host"]);
const RESOURCE_FIELDS = [
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
];
const SOURCES = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"] as const;

export function validateEnv(container: JsonObject, path: string): Causes {
  return objectsAt(container, "env").flatMap((variable, index) => {
    const at = `${path}.env[${index}]`;
    return joined(requiredText(`${at}.name`, textAt(variable, "name"), envName), validateValueFrom(variable, `${at}.valueFrom`));
  });
}

function validateValueFrom(variable: JsonObject, path: string): Causes {
  const from = objectAt(variable, "valueFrom");
  if (from === undefined) return [];
  const present = SOURCES.filter((name) => objectAt(from, name) !== undefined);
  const causes = present.flatMap((name) => validateSource(name, objectAt(from, name) ?? {}, `${path}.${name}`));
  return joined(causes, countSources(present.length, textAt(variable, "value"), path));
}

function countSources(count: number, value: string, path: string): Causes {
  if (count === 0) {
    return [invalid(path, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`")];
  }
  if (value !== "") return [invalid(path, "", "may not be specified when `value` is not empty")];
  return count > 1 ? [invalid(path, "", "may not have more than one field specified at a time")] : [];
}

function validateSource(name: (typeof SOURCES)[number], source: JsonObject, path: string): Causes {
  switch (name) {
    case "fieldRef":
      return validateFieldRef(source, ENV_FIELDS, path);
    case "resourceFieldRef":
      return validateResourceFieldRef(source, path);
    case "configMapKeyRef":
    case "secretKeyRef":
      return joined(
        invalidEach(`${path}.name`, textAt(source, "name"), dnsSubdomain(textAt(source, "name"))),
        requiredText(`${path}.key`, textAt(source, "key"), dataKey),
      );
    case "fileKeyRef":
      return joined(
        requiredText(`${path}.key`, textAt(source, "key")),
        requiredText(`${path}.volumeName`, textAt(source, "volumeName")),
        requiredText(`${path}.path`, textAt(source, "path")),
      );
  }
}

const SUBSCRIPT = /^(.*)\['(.*)'\]$/;

export function validateFieldRef(ref: JsonObject, supported: readonly string[], path: string): Causes {
  const wanted = textAt(ref, "fieldPath");
  if (textAt(ref, "apiVersion") === "") return [required(`${path}.apiVersion`)];
  if (wanted === "") return [required(`${path}.fieldPath`)];
  const [, base, key = ""] = SUBSCRIPT.exec(wanted) ?? [];
  if (base === "metadata.annotations") return invalidEach(path, key.toLowerCase(), qualifiedName(key.toLowerCase()));
  if (base === "metadata.labels") return invalidEach(path, key, qualifiedName(key));
  if (base !== undefined || !KNOWN_FIELDS.has(wanted)) {
    const why = base === undefined ? `field label not supported: ${wanted}` : `field label does not support subscript: ${wanted}`;
    return [invalid(`${path}.fieldPath`, wanted, `error converting fieldPath: ${why}`)];
  }
  return supported.includes(wanted) ? [] : [notSupported(`${path}.fieldPath`, wanted, supported)];
}

export function validateResourceFieldRef(ref: JsonObject, path: string, needsContainer = false): Causes {
  const resource = textAt(ref, "resource");
  if (needsContainer && textAt(ref, "containerName") === "") return [required(`${path}.containerName`)];
  if (resource === "") return [required(`${path}.resource`)];
  const known = RESOURCE_FIELDS.includes(resource) || /^(requests|limits)\.hugepages-/.test(resource);
  return known ? [] : [notSupported(`${path}.resource`, resource, RESOURCE_FIELDS)];
}

export function validateEnvFrom(container: JsonObject, path: string): Causes {
  return objectsAt(container, "envFrom").flatMap((source, index) => {
    const at = `${path}.envFrom[${index}]`;
    const prefix = textAt(source, "prefix");
    const refs = ["configMapRef", "secretRef"].filter((name) => objectAt(source, name) !== undefined);
    return joined(
      prefix === "" ? [] : invalidEach(`${at}.prefix`, prefix, envName(prefix)),
      refs.flatMap((name) => requiredText(`${at}.${name}.name`, textAt(source, name, "name"), dnsSubdomain)),
      refs.length === 0 ? [invalid(`${path}.envFrom`, "", "must specify one of: `configMapRef` or `secretRef`")] : [],
      refs.length > 1 ? [invalid(`${path}.envFrom`, "", "may not have more than one field specified at a time")] : [],
    );
  });
}
