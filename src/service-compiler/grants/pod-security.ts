/**
 * The Pod Security Standards, as far as a LatticeService can violate them. Each row is a check of k8s.io/pod-security-admission (v1.36) on a
 * container as it is compiled; checks on what cannot be expressed (host namespaces, host ports, host paths, sysctls) have no row.
 */
import { POD_SECURITY_LEVELS, type PodSecurityLevel } from "#crds";
import { fieldAt, type Json, type JsonObject } from "#kube";

/** Version of the standards that the checks implement; the namespace labels request the same version. */
const POD_SECURITY_VERSION = "v1.36";

export type PodSecurityViolation = {
  /** Below the container: `securityContext.privileged`. */
  readonly field: string;
  readonly message: string;
  /** The strictest level that allows it. */
  readonly needs: PodSecurityLevel;
};

type Check = {
  readonly field: string;
  /** The strictest level that allows what the check finds. */
  readonly needs: Exclude<PodSecurityLevel, "restricted">;
  /** The violated requirement; undefined: none. */
  readonly violation: (value: Json | undefined, container: JsonObject) => string | undefined;
};

const BASELINE_CAPABILITIES = new Set([
  "AUDIT_WRITE",
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "MKNOD",
  "NET_BIND_SERVICE",
  "SETFCAP",
  "SETGID",
  "SETPCAP",
  "SETUID",
  "SYS_CHROOT",
]);
const SELINUX_TYPES = new Set(["", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"]);

const unlessAbsent = (message: string) => (value: Json | undefined) => (value === undefined || value === "" ? undefined : message);
const unlessIs = (wanted: boolean) => (value: Json | undefined) => (value === wanted ? undefined : `must be ${String(wanted)}`);

function texts(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}

function onlyThese(allowed: ReadonlySet<string>) {
  return (value: Json | undefined) => {
    const extra = texts(value).filter((name) => !allowed.has(name));
    return extra.length === 0 ? undefined : `must not have ${extra.join(", ")}`;
  };
}

const PROBE_HOSTS = ["livenessProbe", "readinessProbe", "startupProbe"].flatMap((probe) =>
  ["httpGet", "tcpSocket"].map((handler) => `${probe}.${handler}.host`),
);

const BASELINE: readonly Check[] = [
  { field: "securityContext.privileged", needs: "privileged", violation: (value) => (value === true ? "must not be true" : undefined) },
  { field: "securityContext.capabilities.add", needs: "privileged", violation: onlyThese(BASELINE_CAPABILITIES) },
  {
    field: "securityContext.procMount",
    needs: "privileged",
    violation: (value) => (value === undefined || value === "Default" ? undefined : "must be Default"),
  },
  {
    field: "securityContext.seccompProfile.type",
    needs: "privileged",
    violation: (value) => (value === "Unconfined" ? "must not be Unconfined" : undefined),
  },
  {
    field: "securityContext.appArmorProfile.type",
    needs: "privileged",
    violation: (value) => (value === "Unconfined" ? "must not be Unconfined" : undefined),
  },
  {
    field: "securityContext.seLinuxOptions.type",
    needs: "privileged",
    violation: (value) =>
      typeof value !== "string" || SELINUX_TYPES.has(value) ? undefined : "must be a type of containers, such as container_t",
  },
  { field: "securityContext.seLinuxOptions.user", needs: "privileged", violation: unlessAbsent("must not be set") },
  { field: "securityContext.seLinuxOptions.role", needs: "privileged", violation: unlessAbsent("must not be set") },
  ...PROBE_HOSTS.map((field): Check => ({
    field,
    needs: "privileged",
    violation: unlessAbsent("must not be set: the node would connect to it"),
  })),
];

const RESTRICTED: readonly Check[] = [
  { field: "securityContext.allowPrivilegeEscalation", needs: "baseline", violation: unlessIs(false) },
  { field: "securityContext.runAsUser", needs: "baseline", violation: (value) => (value === 0 ? "must not be 0" : undefined) },
  {
    field: "securityContext.runAsNonRoot",
    needs: "baseline",
    // with an explicit user, that user is reported
    violation: (value, container) =>
      value === true || fieldAt(container, "securityContext", "runAsUser") === 0 ? undefined : "must be true",
  },
  {
    field: "securityContext.capabilities.drop",
    needs: "baseline",
    violation: (value) => (texts(value).includes("ALL") ? undefined : "must have ALL"),
  },
  { field: "securityContext.capabilities.add", needs: "baseline", violation: onlyThese(new Set(["NET_BIND_SERVICE"])) },
  {
    field: "securityContext.seccompProfile.type",
    needs: "baseline",
    violation: (value) => (value === "RuntimeDefault" || value === "Localhost" ? undefined : "must be RuntimeDefault or Localhost"),
  },
];

const CHECKS: Readonly<Record<PodSecurityLevel, readonly Check[]>> = {
  restricted: [...BASELINE, ...RESTRICTED],
  baseline: BASELINE,
  privileged: [],
};

/** The violations of a compiled container; of two checks on one field the one that needs the wider level is reported. */
export function podSecurityViolations(container: JsonObject, level: PodSecurityLevel): readonly PodSecurityViolation[] {
  const found = new Map<string, PodSecurityViolation>();
  for (const { field, needs, violation } of CHECKS[level]) {
    const message = violation(fieldAt(container, ...field.split(".")), container);
    if (message !== undefined && !found.has(field)) found.set(field, { field, message, needs });
  }
  return consequencesLeftOut([...found.values()]);
}

/** A privileged container has none of the defaults; reporting each would hide the field that the user set. */
function consequencesLeftOut(violations: readonly PodSecurityViolation[]): readonly PodSecurityViolation[] {
  const cause = violations.find(({ field }) => field === "securityContext.privileged");
  return cause === undefined ? violations : [cause];
}

/** The labels of a namespace with this level. `enforced` may be wider than `wanted` where other pods of the namespace need it. */
export function podSecurityLabels(wanted: PodSecurityLevel, enforced: PodSecurityLevel): Readonly<Record<string, string>> {
  const labels = { enforce: enforced, warn: wanted, audit: wanted };
  return Object.fromEntries(
    Object.entries(labels).flatMap(([mode, level]) => [
      [`pod-security.kubernetes.io/${mode}`, level],
      [`pod-security.kubernetes.io/${mode}-version`, POD_SECURITY_VERSION],
    ]),
  );
}

/** The wider of two levels. */
export function widerLevel(one: PodSecurityLevel, other: PodSecurityLevel): PodSecurityLevel {
  return POD_SECURITY_LEVELS.indexOf(one) > POD_SECURITY_LEVELS.indexOf(other) ? one : other;
}
