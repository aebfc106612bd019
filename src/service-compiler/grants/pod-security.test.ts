/** The rows are those of k8s.io/pod-security-admission's own tests, as far as a LatticeService can express them. */
import { describe, expect, test } from "vitest";
import { compiled, mainContainer, mistakes } from "../../../test/builders/service-input.ts";
import { podSecurityLabels, podSecurityViolations, widerLevel } from "./pod-security.ts";

type Row = { name: string; given: Readonly<Record<string, unknown>>; field: string; needs: "baseline" | "privileged" };

const context = (given: object) => ({ securityContext: given });
const rows: readonly Row[] = [
  { name: "a privileged container", given: context({ privileged: true }), field: "privileged", needs: "privileged" },
  {
    name: "a capability beyond those of baseline",
    given: context({ capabilities: { add: ["NET_ADMIN"] } }),
    field: "capabilities.add",
    needs: "privileged",
  },
  { name: "a capability of baseline", given: context({ capabilities: { add: ["CHOWN"] } }), field: "capabilities.add", needs: "baseline" },
  {
    name: "capabilities that are not dropped",
    given: context({ capabilities: { drop: ["NET_RAW"] } }),
    field: "capabilities.drop",
    needs: "baseline",
  },
  { name: "an unmasked /proc", given: context({ procMount: "Unmasked" }), field: "procMount", needs: "privileged" },
  { name: "no seccomp", given: context({ seccompProfile: { type: "Unconfined" } }), field: "seccompProfile.type", needs: "privileged" },
  { name: "no AppArmor", given: context({ appArmorProfile: { type: "Unconfined" } }), field: "appArmorProfile.type", needs: "privileged" },
  { name: "an SELinux type", given: context({ seLinuxOptions: { type: "spc_t" } }), field: "seLinuxOptions.type", needs: "privileged" },
  { name: "an SELinux user", given: context({ seLinuxOptions: { user: "root" } }), field: "seLinuxOptions.user", needs: "privileged" },
  { name: "an SELinux role", given: context({ seLinuxOptions: { role: "sysadm_r" } }), field: "seLinuxOptions.role", needs: "privileged" },
  {
    name: "privilege escalation",
    given: context({ allowPrivilegeEscalation: true }),
    field: "allowPrivilegeEscalation",
    needs: "baseline",
  },
  { name: "user 0", given: context({ runAsUser: 0 }), field: "runAsUser", needs: "baseline" },
  { name: "runAsNonRoot that is not true", given: context({ runAsNonRoot: false }), field: "runAsNonRoot", needs: "baseline" },
];
const probes: readonly Row[] = [
  {
    name: "a probe of another host",
    given: { livenessProbe: { httpGet: { port: 80, host: "10.0.0.1" } } },
    field: "livenessProbe.httpGet.host",
    needs: "privileged",
  },
  {
    name: "a connection to another host",
    given: { startupProbe: { tcpSocket: { port: 80, host: "db" } } },
    field: "startupProbe.tcpSocket.host",
    needs: "privileged",
  },
];

describe("a service is refused for", () => {
  const all = [...rows.map((row) => ({ ...row, field: `securityContext.${row.field}` })), ...probes];
  test.each(all)("$name, with the field and the level that it needs", ({ given, field, needs }) => {
    const found = mistakes(mainContainer(given));
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`spec.containers.main.${field}: `);
    expect(found[0]).toContain("at pod security level restricted");
    expect(found[0]).toContain(`set spec.isolation.podSecurity to ${needs} in a LatticeEnvironment that the service names`);
    expect(mistakes(mainContainer(given), { grants: { podSecurity: needs } })).toEqual([]);
    if (needs === "privileged") expect(mistakes(mainContainer(given), { grants: { podSecurity: "baseline" } })).toHaveLength(1);
  });
});

test("the compiled defaults meet restricted, init containers too", () => {
  const { pod } = compiled({ containers: { main: { image: "a" }, setup: { image: "b", before: ["main"] } } });
  for (const container of [...(pod("containers") as []), ...(pod("initContainers") as [])])
    expect(podSecurityViolations(container, "restricted")).toEqual([]);
  expect(
    mistakes({ containers: { main: { image: "a" }, setup: { image: "b", before: ["main"], ...context({ privileged: true }) } } }),
  ).toEqual([expect.stringContaining("spec.containers.setup.securityContext.privileged")]);
});

test("fields that restricted allows are not refused", () => {
  const given = {
    runAsUser: 1000,
    capabilities: { drop: ["ALL"], add: ["NET_BIND_SERVICE"] },
    seLinuxOptions: { type: "container_t", level: "s0" },
  };
  const profiles = {
    seccompProfile: { type: "Localhost", localhostProfile: "a.json" },
    appArmorProfile: { type: "RuntimeDefault" },
    procMount: "Default",
  };
  expect(mistakes(mainContainer(context({ ...given, ...profiles })))).toEqual([]);
});

test("the error names the environment that must grant it", () => {
  const found = mistakes(mainContainer(context({ runAsUser: 0 })), { environment: {} });
  expect(found[0]).toContain("set spec.isolation.podSecurity to baseline in LatticeEnvironment prod");
});

test("the labels of a namespace warn about violations of the level, also when a wider one is enforced", () => {
  expect(podSecurityLabels("restricted", widerLevel("restricted", "baseline"))).toMatchObject({
    "pod-security.kubernetes.io/enforce": "baseline",
    "pod-security.kubernetes.io/enforce-version": "v1.36",
    "pod-security.kubernetes.io/warn": "restricted",
    "pod-security.kubernetes.io/audit": "restricted",
  });
  expect(widerLevel("privileged", "baseline")).toBe("privileged");
});
