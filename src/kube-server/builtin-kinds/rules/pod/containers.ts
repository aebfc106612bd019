/** Containers, init containers and sidecars. */
import type { JsonObject } from "#kube";
import { isTrueAt, numberAt, objectAt, objectsAt, textAt } from "../../draft.ts";
import { duplicate, forbidden, invalid, invalidEach, joined, notFound, required, type Causes } from "../causes.ts";
import { dnsLabel, portName, portNumber } from "../formats.ts";
import { ifSetOneOf, oneOf, relativePath, requiredText } from "../shared.ts";
import { validateEnv, validateEnvFrom } from "./environment.ts";
import { validateLifecycle, validateProbes } from "./probes.ts";
import { validateRequirements } from "./resources.ts";
import { validateContainerSecurity } from "./security.ts";

export type PodContext = {
  /** Volumes that containers can mount. */
  readonly volumes: ReadonlyMap<string, JsonObject>;
  readonly claims: ReadonlySet<string>;
  readonly grace: number | undefined;
  readonly restartPolicy: string;
  readonly hostUsers: boolean;
};

const ONLY_SIDECARS = "may not be set for init containers without restartPolicy=Always";

export function validateContainers(containers: readonly JsonObject[], path: string, context: PodContext): Causes {
  if (containers.length === 0) return [required(path)];
  const names = new Set<string>();
  const each = containers.flatMap((container, index) => {
    const at = `${path}[${index}]`;
    const name = textAt(container, "name");
    const again = names.has(name);
    names.add(name);
    return joined(
      validateContainer(container, at, context),
      again ? [duplicate(`${at}.name`, name)] : [],
      validateLifecycle(container, at, context.grace),
      validateProbes(container, at, context.grace),
      validateRestartPolicy(container, at),
    );
  });
  return joined(each, hostPortConflicts(containers, path));
}

export function validateInitContainers(spec: JsonObject, path: string, context: PodContext): Causes {
  const names = new Set(objectsAt(spec, "containers").map((container) => textAt(container, "name")));
  return objectsAt(spec, "initContainers").flatMap((container, index) => {
    const at = `${path}[${index}]`;
    const name = textAt(container, "name");
    const again = names.has(name);
    if (name !== "") names.add(name);
    const sidecar = container["restartPolicy"] === "Always";
    const tooEarly = ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"].filter(
      (part) => objectAt(container, part) !== undefined,
    );
    return joined(
      validateContainer(container, at, context),
      validateRestartPolicy(container, at),
      again ? [duplicate(`${at}.name`, name)] : [],
      hostPortConflicts([container], path),
      sidecar
        ? joined(validateLifecycle(container, at, context.grace), validateProbes(container, at, context.grace))
        : tooEarly.map((part) => forbidden(`${at}.${part}`, ONLY_SIDECARS)),
    );
  });
}

/** In the order of the struct. An ephemeral container has no probes, ports or lifecycle. */
const NOT_FOR_VISITORS = "ports resizePolicy restartPolicy restartPolicyRules livenessProbe readinessProbe startupProbe lifecycle".split(
  " ",
);
const FOR_WORKERS = "cannot be set for an Ephemeral Container";

export function validateEphemeralContainers(spec: JsonObject, path: string, context: PodContext): Causes {
  const others = new Set(["containers", "initContainers"].flatMap((list) => objectsAt(spec, list)).map((one) => textAt(one, "name")));
  const names = new Set(others);
  return objectsAt(spec, "ephemeralContainers").flatMap((container, index) => {
    const at = `${path}[${index}]`;
    const [name, target] = [textAt(container, "name"), textAt(container, "targetContainerName")];
    const again = names.has(name);
    names.add(name);
    return joined(
      validateContainer(container, at, context),
      again ? [duplicate(`${at}.name`, name)] : [],
      target !== "" && !others.has(target) ? [notFound(`${at}.targetContainerName`, target)] : [],
      partsOfWorkers(container).map((part) => forbidden(`${at}.${part}`, FOR_WORKERS)),
      objectsAt(container, "volumeMounts").flatMap((mount, mountIndex) =>
        ["subPath", "subPathExpr"]
          .filter((part) => textAt(mount, part) !== "")
          .map((part) => forbidden(`${at}.volumeMounts[${mountIndex}].${part}`, FOR_WORKERS)),
      ),
    );
  });
}

function partsOfWorkers(container: JsonObject): readonly string[] {
  const parts = NOT_FOR_VISITORS.filter((part) => container[part] !== undefined);
  const measured = Object.keys(objectAt(container, "resources") ?? {}).length > 0;
  return measured ? [...parts.filter((part) => part === "ports"), "resources", ...parts.filter((part) => part !== "ports")] : parts;
}

function validateRestartPolicy(container: JsonObject, path: string): Causes {
  const rules = objectsAt(container, "restartPolicyRules");
  if (container["restartPolicy"] === undefined) {
    return rules.length === 0 ? [] : [required(`${path}.restartPolicy`, "must specify restartPolicy when restart rules are used")];
  }
  return ifSetOneOf(`${path}.restartPolicy`, container["restartPolicy"], ["Always", "Never", "OnFailure"]);
}

function validateContainer(container: JsonObject, path: string, context: PodContext): Causes {
  return joined(
    requiredText(`${path}.name`, textAt(container, "name"), dnsLabel),
    requiredText(`${path}.image`, textAt(container, "image")),
    oneOf(`${path}.terminationMessagePolicy`, textAt(container, "terminationMessagePolicy"), ["File", "FallbackToLogsOnError"]),
    validatePorts(container, `${path}.ports`),
    validateEnv(container, path),
    validateEnvFrom(container, path),
    validateMounts(container, `${path}.volumeMounts`, context),
    validateDevices(container, `${path}.volumeDevices`, context),
    oneOf(`${path}.imagePullPolicy`, textAt(container, "imagePullPolicy"), ["Always", "IfNotPresent", "Never"]),
    validateRequirements(objectAt(container, "resources"), `${path}.resources`, context.claims),
    validateResizePolicy(container, `${path}.resizePolicy`, context.restartPolicy),
    validateContainerSecurity(objectAt(container, "securityContext"), `${path}.securityContext`, context.hostUsers),
  );
}

function validatePorts(container: JsonObject, path: string): Causes {
  const names = new Set<string>();
  return objectsAt(container, "ports").flatMap((port, index) => {
    const at = `${path}[${index}]`;
    const [name, number, host] = [textAt(port, "name"), numberAt(port, "containerPort") ?? 0, numberAt(port, "hostPort") ?? 0];
    const wrongName = name === "" ? [] : invalidEach(`${at}.name`, name, portName(name));
    const again = name !== "" && wrongName.length === 0 && names.has(name);
    names.add(name);
    return joined(
      wrongName,
      again ? [duplicate(`${at}.name`, name)] : [],
      number === 0 ? [required(`${at}.containerPort`)] : invalidEach(`${at}.containerPort`, number, portNumber(number)),
      host === 0 ? [] : invalidEach(`${at}.hostPort`, host, portNumber(host)),
      oneOf(`${at}.protocol`, textAt(port, "protocol"), ["SCTP", "TCP", "UDP"]),
    );
  });
}

function hostPortConflicts(containers: readonly JsonObject[], path: string): Causes {
  const taken = new Set<string>();
  return containers.flatMap((container, index) =>
    objectsAt(container, "ports").flatMap((port, portIndex) => {
      const host = numberAt(port, "hostPort") ?? 0;
      const id = `${textAt(port, "protocol")}/${textAt(port, "hostIP")}/${host}`;
      if (host === 0 || !taken.has(id)) {
        if (host !== 0) taken.add(id);
        return [];
      }
      return [duplicate(`${path}[${index}].ports[${portIndex}].hostPort`, id)];
    }),
  );
}

function validateMounts(container: JsonObject, path: string, { volumes }: PodContext): Causes {
  const paths = new Set<string>();
  const devices = objectsAt(container, "volumeDevices");
  return objectsAt(container, "volumeMounts").flatMap((mount, index) => {
    const at = `${path}[${index}]`;
    const [name, mountPath, subPath, subPathExpr] = ["name", "mountPath", "subPath", "subPathExpr"].map((part) => textAt(mount, part)) as [
      string,
      string,
      string,
      string,
    ];
    const again = paths.has(mountPath);
    paths.add(mountPath);
    return joined(
      requiredText(`${at}.name`, name),
      volumes.has(name) ? [] : [notFound(`${at}.name`, name)],
      requiredText(`${at}.mountPath`, mountPath),
      again ? [invalid(`${at}.mountPath`, mountPath, "must be unique")] : [],
      devices.some((device) => device["name"] === name) ? [invalid(`${at}.name`, name, "must not already exist in volumeDevices")] : [],
      devices.some((device) => device["devicePath"] === mountPath)
        ? [invalid(`${at}.mountPath`, mountPath, "must not already exist as a path in volumeDevices")]
        : [],
      subPath === "" ? [] : relativePath(`${path}.subPath`, subPath),
      subPathExpr !== "" && subPath !== ""
        ? [invalid(`${at}.subPathExpr`, subPathExpr, "subPathExpr and subPath are mutually exclusive")]
        : [],
      subPathExpr === "" ? [] : relativePath(`${path}.subPathExpr`, subPathExpr),
      validatePropagation(mount, container, path),
    );
  });
}

function validatePropagation(mount: JsonObject, container: JsonObject, path: string): Causes {
  const mode = mount["mountPropagation"];
  const privileged = isTrueAt(container, "securityContext", "privileged");
  return joined(
    ifSetOneOf(`${path}.mountPropagation`, mode, ["Bidirectional", "HostToContainer", "None"]),
    mode === "Bidirectional" && !privileged
      ? [forbidden(`${path}.mountPropagation`, "Bidirectional mount propagation is available only to privileged containers")]
      : [],
    ifSetOneOf(`${path}.recursiveReadOnly`, mount["recursiveReadOnly"], ["Disabled", "Enabled", "IfPossible"]),
  );
}

function validateDevices(container: JsonObject, path: string, { volumes }: PodContext): Causes {
  return objectsAt(container, "volumeDevices").flatMap((device, index) => {
    const [name, devicePath] = [textAt(device, "name"), textAt(device, "devicePath")];
    const at = `${path}[${index}]`;
    const source = volumes.get(name);
    const block =
      source === undefined || objectAt(source, "persistentVolumeClaim") !== undefined || objectAt(source, "ephemeral") !== undefined;
    return joined(
      requiredText(`${at}.name`, name),
      source === undefined ? [notFound(`${at}.name`, name)] : [],
      block ? [] : [invalid(`${at}.name`, name, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode")],
      requiredText(`${at}.devicePath`, devicePath),
    );
  });
}

function validateResizePolicy(container: JsonObject, path: string, podRestartPolicy: string): Causes {
  const seen = new Set<string>();
  return objectsAt(container, "resizePolicy").flatMap((policy, index) => {
    const [resource, restart] = [textAt(policy, "resourceName"), textAt(policy, "restartPolicy")];
    const again = seen.has(resource);
    seen.add(resource);
    return joined(
      again ? [duplicate(`${path}[${index}]`, resource)] : [],
      oneOf(path, resource, ["cpu", "memory"]),
      oneOf(path, restart, ["NotRequired", "RestartContainer"]),
      podRestartPolicy === "Never" && restart !== "NotRequired"
        ? [invalid(path, restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'")]
        : [],
    );
  });
}
