/** Security contexts of Pods and containers. */
import type { Json, JsonObject } from "#kube";
import { at, isTrueAt, listAt, numberAt, objectAt, objectsAt, textAt, textsAt } from "../../draft.ts";
import { duplicate, inRange, invalid, joined, notSupported, required, tooLong, type Causes } from "../causes.ts";
import { ifSetOneOf, relativePath } from "../shared.ts";

const PROFILE_TYPES = ["Localhost", "RuntimeDefault", "Unconfined"];
const ID_RANGE = [0, 2_147_483_647] as const;

function validateIds(context: JsonObject, path: string, names: readonly string[]): Causes {
  return names.flatMap((name) => {
    const id = numberAt(context, name);
    return id === undefined ? [] : inRange(`${path}.${name}`, id, ID_RANGE);
  });
}

export function validatePodSecurity(spec: JsonObject, path: string): Causes {
  const context = objectAt(spec, "securityContext");
  if (context === undefined) return [];
  const shared = isTrueAt(spec, "shareProcessNamespace") && isTrueAt(spec, "hostPID");
  return joined(
    validateIds(context, path, ["fsGroup", "runAsUser", "runAsGroup"]),
    listAt(context, "supplementalGroups").flatMap((id, index) =>
      typeof id === "number" ? inRange(`${path}.supplementalGroups[${index}]`, id, ID_RANGE) : [],
    ),
    shared ? [invalid(`${path}.shareProcessNamespace`, true, "ShareProcessNamespace and HostPID cannot both be enabled")] : [],
    validateSysctls(context, `${path}.sysctls`),
    ifSetOneOf(`${path}.fsGroupChangePolicy`, context["fsGroupChangePolicy"], ["Always", "OnRootMismatch"]),
    validateSeccomp(context, `${path}.seccompProfile`),
    validateAppArmor(context, `${path}.appArmorProfile`),
    ifSetOneOf(`${path}.supplementalGroupsPolicy`, context["supplementalGroupsPolicy"], ["Merge", "Strict"]),
    ifSetOneOf(`${path}.seLinuxChangePolicy`, context["seLinuxChangePolicy"], ["Recursive"]),
  );
}

const SYSCTL = "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";

function validateSysctls(context: JsonObject, path: string): Causes {
  const names = new Set<string>();
  return objectsAt(context, "sysctls").flatMap((sysctl, index) => {
    const name = textAt(sysctl, "name");
    const again = names.has(name);
    names.add(name);
    if (name === "") return [required(`${path}[${index}].name`)];
    const fits = name.length <= 253 && new RegExp(SYSCTL).test(name);
    return joined(
      fits ? [] : [invalid(`${path}[${index}].name`, name, `must have at most 253 characters and match regex ${SYSCTL}`)],
      again ? [duplicate(`${path}[${index}].name`, name)] : [],
    );
  });
}

export function validateContainerSecurity(context: JsonObject | undefined, path: string, hostUsers: boolean): Causes {
  if (context === undefined) return [];
  const procMount = context["procMount"];
  return joined(
    validateIds(context, path, ["runAsUser", "runAsGroup"]),
    ifSetOneOf(`${path}.procMount`, procMount, ["Default", "Unmasked"]),
    hostUsers && procMount === "Unmasked" ? [invalid(`${path}.procMount`, procMount, "`hostUsers` must be false to use `Unmasked`")] : [],
    validateSeccomp(context, `${path}.seccompProfile`),
    validateEscalation(context, path),
    validateAppArmor(context, `${path}.appArmorProfile`),
  );
}

function validateEscalation(context: JsonObject, path: string): Causes {
  if (at(context, "allowPrivilegeEscalation") !== false) return [];
  const admin = textsAt(context, "capabilities", "add").includes("CAP_SYS_ADMIN");
  return joined(
    isTrueAt(context, "privileged")
      ? [invalid(path, goContext(context), "cannot set `allowPrivilegeEscalation` to false and `privileged` to true")]
      : [],
    admin ? [invalid(path, goContext(context), "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN")] : [],
  );
}

const GO_FIELDS = [
  "Capabilities",
  "Privileged",
  "SELinuxOptions",
  "WindowsOptions",
  "RunAsUser",
  "RunAsGroup",
  "RunAsNonRoot",
  "ReadOnlyRootFilesystem",
  "AllowPrivilegeEscalation",
  "ProcMount",
  "SeccompProfile",
  "AppArmorProfile",
];

/** The server shows its internal struct here: capital letters, null for what is not set. */
function goContext(context: JsonObject): JsonObject {
  return Object.fromEntries(
    GO_FIELDS.map((name) => {
      const value = at(context, name === "SELinuxOptions" ? "seLinuxOptions" : name.charAt(0).toLowerCase() + name.slice(1)) ?? null;
      if (name !== "Capabilities" || value === null) return [name, value];
      return [name, { Add: at(value, "add") ?? null, Drop: at(value, "drop") ?? null }];
    }),
  );
}

function validateSeccomp(holder: JsonObject, path: string): Causes {
  const profile = objectAt(holder, "seccompProfile");
  if (profile === undefined) return [];
  const [type, file] = [textAt(profile, "type"), textAt(profile, "localhostProfile")];
  if (type === "Localhost") {
    if (at(profile, "localhostProfile") === undefined)
      return [required(`${path}.localhostProfile`, "must be set when seccomp type is Localhost")];
    return relativePath(`${path}.localhostProfile`, file);
  }
  return joined(
    validateSeccompType(type, `${path}.type`),
    at(profile, "localhostProfile") === undefined
      ? []
      : [invalid(`${path}.localhostProfile`, { Type: type, LocalhostProfile: file }, "can only be set when seccomp type is Localhost")],
  );
}

function validateSeccompType(type: string, path: string): Causes {
  if (type === "") return [required(path, "type is required when seccompProfile is set")];
  return PROFILE_TYPES.includes(type) ? [] : [notSupported(path, type, PROFILE_TYPES)];
}

const PATH_MAX = 4095;

function validateAppArmor(holder: JsonObject, path: string): Causes {
  const profile = objectAt(holder, "appArmorProfile");
  if (profile === undefined) return [];
  const type = textAt(profile, "type");
  const file = at(profile, "localhostProfile");
  if (type === "Localhost") return validateAppArmorFile(file, `${path}.localhostProfile`);
  if (type === "") return [required(`${path}.type`, "type is required when appArmorProfile is set")];
  if (!["RuntimeDefault", "Unconfined"].includes(type)) return [notSupported(`${path}.type`, type, PROFILE_TYPES)];
  return file === undefined ? [] : [invalid(`${path}.localhostProfile`, file, "can only be set when AppArmor type is Localhost")];
}

function validateAppArmorFile(file: Json | undefined, path: string): Causes {
  const missing = required(path, "must be set when AppArmor type is Localhost");
  if (typeof file !== "string") return [missing];
  const padded = file.trim() !== file;
  return joined(
    padded ? [invalid(path, file, "must not be padded with whitespace")] : file === "" ? [missing] : [],
    file.length > PATH_MAX ? [tooLong(path, PATH_MAX)] : [],
  );
}
