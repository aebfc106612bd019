/** A patched Deployment stays valid when the owner's tool writes it while the webhook does not act. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { canonicalJson, field, fieldAt, isJsonObject, type Json, type JsonObject, type KubeObject } from "#kube";
import { clientSideApply, serverSideApply } from "../../test/builders/owner-tools.ts";
import { ownerDeployments, workloadPatches } from "../../test/builders/random-workloads.ts";
import { ownedDeployment, patchOf, podPatch } from "../../test/builders/workload-patches.ts";
import { applyWorkloadPatch, pathText, revertWorkloadPatch, type WorkloadPatch } from "./index.ts";
import { applyAt, containersOf, podOf } from "./applied.test-support.ts";

const allContainersOf = (deployment: KubeObject) => [...containersOf(deployment), ...containersOf(deployment, "initContainers")];
const list = (value: Json | undefined) => (Array.isArray(value) ? (value as readonly Json[]) : []);

const KEY = { configMapKeyRef: { name: "web-env", key: "LEVEL" } };
const SECRET = { secretKeyRef: { name: "own", key: "l" } };
const OURS = { configMapRef: { name: "web-env" } };
const variables = (names: JsonObject = { LEVEL: KEY }, sources: readonly JsonObject[] = [OURS]) =>
  patchOf({}, { envFrom: { main: sources }, variables: { main: names as Record<string, JsonObject> } });
const HELPER = { name: "LATTICE_LEVEL", valueFrom: KEY };
const BY_HELPER = { name: "LEVEL", value: "$(LATTICE_LEVEL)" };
const A = { name: "A", value: "1" };
const MAIN = "spec.template.spec.containers[main]";
const EXCLUDE = (own: string, ours: string) =>
  `the Deployment has ${own} and the service ${ours}, which exclude each other; use ${own} in the service, or remove one of both`;

type Row = {
  name: string;
  given: JsonObject;
  patch: WorkloadPatch;
  want: Readonly<Record<string, Json | undefined>>;
  skipped?: readonly (readonly [string, string])[];
};

const rows: readonly Row[] = [
  { name: "a value becomes a reference to an added variable, which comes first", given: { env: [A, { name: "LEVEL", value: "info" }] }, patch: variables({ LEVEL: KEY, OTHER: KEY }), want: { env: [HELPER, A, BY_HELPER] } },
  { name: "a variable without a value is treated as one with a value", given: { env: [{ name: "LEVEL" }] }, patch: variables(), want: { env: [HELPER, BY_HELPER] } },
  { name: "other variables can use the value", given: { env: [{ name: "LEVEL", value: "info" }, { name: "B", value: "x$(LEVEL)" }] }, patch: variables(), want: { env: [HELPER, BY_HELPER, { name: "B", value: "x$(LEVEL)" }] } },
  { name: "a value stays when the owner has the name of the added variable", given: { env: [{ name: "LEVEL", value: "info" }, { name: "LATTICE_LEVEL", value: "x" }] }, patch: variables(), want: { env: [{ name: "LEVEL", value: "info" }, { name: "LATTICE_LEVEL", value: "x" }] }, skipped: [["env[LEVEL]", "the variable LATTICE_LEVEL is needed to set it and is in use; rename LATTICE_LEVEL, or remove LEVEL from the Deployment"]] },
  { name: "a value stays when the service has the name of the added variable", given: { env: [{ name: "LEVEL", value: "info" }] }, patch: variables({ LEVEL: KEY, LATTICE_LEVEL: KEY }), want: { env: [{ name: "LEVEL", value: "info" }] }, skipped: [["env[LEVEL]", "the variable LATTICE_LEVEL is needed to set it and is in use; rename LATTICE_LEVEL, or remove LEVEL from the Deployment"]] },
  { name: "a reference of the same kind is replaced", given: { env: [{ name: "LEVEL", valueFrom: { configMapKeyRef: { name: "own", key: "l" } } }] }, patch: variables(), want: { env: [{ name: "LEVEL", valueFrom: KEY }] } },
  { name: "a reference of another kind is removed, so that envFrom supplies the variable", given: { env: [{ name: "LEVEL", valueFrom: SECRET }, A] }, patch: variables(), want: { env: [A], envFrom: [OURS] } },
  { name: "references of another kind are removed among other changes", given: { env: [{ name: "X", value: "1" }, { name: "LEVEL", valueFrom: SECRET }, A, { name: "Y", valueFrom: SECRET }] }, patch: variables({ LEVEL: KEY, X: KEY, Y: { configMapKeyRef: { name: "web-env", key: "Y" } } }), want: { env: [{ name: "LATTICE_X", valueFrom: KEY }, { name: "X", value: "$(LATTICE_X)" }, A] } },
  { name: "a list whose only variable is removed is removed", given: { env: [{ name: "LEVEL", valueFrom: SECRET }] }, patch: variables(), want: { env: undefined, envFrom: [OURS] } },
  { name: "a list whose only variable is removed is created again for another variable", given: { env: [{ name: "LEVEL", valueFrom: SECRET }] }, patch: { ...variables(), patch: patchOf({ env: [A] }).patch }, want: { env: [A] } },
  { name: "a reference stays when another variable uses it", given: { env: [{ name: "LEVEL", valueFrom: SECRET }, { name: "B", value: "x$(LEVEL)" }] }, patch: variables(), want: { env: [{ name: "LEVEL", valueFrom: SECRET }, { name: "B", value: "x$(LEVEL)" }] }, skipped: [["env[LEVEL]", "another variable of the container uses $(LEVEL); remove LEVEL from the service, or set it with value in the Deployment"]] },
  { name: "a reference that is there twice stays", given: { env: [{ name: "LEVEL", value: "1" }, { name: "LEVEL", valueFrom: SECRET }] }, patch: variables(), want: { env: [{ name: "LEVEL", value: "1" }, { name: "LEVEL", valueFrom: SECRET }] }, skipped: [["env[LEVEL]", "the container has LEVEL twice; remove one of both from the Deployment"]] },
  { name: "a reference stays when no source has the variable", given: { env: [{ name: "LEVEL", valueFrom: SECRET }] }, patch: variables({ LEVEL: KEY }, [{ ...OURS, prefix: "P_" }]), want: { env: [{ name: "LEVEL", valueFrom: SECRET }] }, skipped: [["env[LEVEL]", "the Deployment has secretKeyRef and the service configMapKeyRef; use the same in both, or remove LEVEL from the Deployment"]] },
  { name: "a variable without a reference has no effect", given: { env: [A] }, patch: variables({ A: {} }), want: { env: [A] } },
  { name: "a variable of the patch stays when the owner has a value and the patch a reference", given: { env: [A] }, patch: patchOf({ env: [{ name: "A", valueFrom: KEY }] }), want: { env: [A] }, skipped: [["env[A]", EXCLUDE("value", "configMapKeyRef")]] },
  { name: "a probe of another type stays", given: { livenessProbe: { exec: { command: ["x"] }, periodSeconds: 7 } }, patch: patchOf({ livenessProbe: { tcpSocket: { port: 80 }, periodSeconds: 9 } }), want: { livenessProbe: { exec: { command: ["x"] }, periodSeconds: 7 } }, skipped: [["livenessProbe", EXCLUDE("exec", "tcpSocket")]] },
  { name: "times of a probe are changed", given: { livenessProbe: { exec: { command: ["x"] }, timeoutSeconds: 1, periodSeconds: 7, successThreshold: 1, failureThreshold: 3 } }, patch: patchOf({ livenessProbe: { periodSeconds: 9 } }), want: { livenessProbe: { exec: { command: ["x"] }, timeoutSeconds: 1, periodSeconds: 9, successThreshold: 1, failureThreshold: 3 } } },
  { name: "a lifecycle handler of another type stays", given: { lifecycle: { preStop: { exec: { command: ["x"] } } } }, patch: patchOf({ lifecycle: { preStop: { sleep: { seconds: 1 } } } }), want: { lifecycle: { preStop: { exec: { command: ["x"] } } } }, skipped: [["lifecycle.preStop", EXCLUDE("exec", "sleep")]] },
  { name: "a seccomp profile with a file stays when the patch has another type", given: { securityContext: { seccompProfile: { type: "Localhost", localhostProfile: "a" } } }, patch: patchOf({ securityContext: { seccompProfile: { type: "RuntimeDefault" } } }), want: { securityContext: { seccompProfile: { type: "Localhost", localhostProfile: "a" } } }, skipped: [["securityContext.seccompProfile", EXCLUDE("type Localhost", "another type")]] },
]; // prettier-ignore

describe("a field that excludes another", () => {
  test.each(rows)("$name", ({ given, patch, want, skipped = [] }) => {
    const owned = ownedDeployment(given);
    const applied = applyAt(owned, patch);
    for (const name of Object.keys(want)) expect(field(containersOf(applied.deployment)[0], name)).toEqual(want[name]);
    expect(applied.skipped.map(({ path, reason }) => [pathText(path), reason])).toEqual(skipped.map(([at, why]) => [`${MAIN}.${at}`, why]));
  });

  test.each(rows)("is reverted exactly, and patched once: $name", ({ given, patch, skipped = [] }) => {
    const owned = ownedDeployment(given);
    const { deployment } = applyAt(owned, patch);
    const again = expectOk(applyWorkloadPatch(deployment, patch, { at: "2027-01-01T00:00:00Z" }));
    expect(again.changed).toBe(false);
    expect(again.skipped).toHaveLength(skipped.length);
    expect(JSON.stringify(revertWorkloadPatch(deployment).deployment)).toBe(JSON.stringify(owned));
  });

  test.each([
    { name: "of the same type is replaced", given: { name: "v", configMap: { name: "own" } }, want: "ours", skipped: 0 },
    { name: "of another type stays", given: { name: "v", emptyDir: {} }, want: undefined, skipped: 1 },
  ])("a volume $name", ({ given, want, skipped }) => {
    const patch = podPatch({ volumes: [{ name: "v", configMap: { name: "ours" } }] });
    const applied = applyAt(ownedDeployment({}, { volumes: [given] }), patch);
    expect(fieldAt(list(podOf(applied.deployment)["volumes"])[0], "configMap", "name")).toBe(want);
    expect(applied.skipped).toHaveLength(skipped);
  });

  test("a helper that another manager keeps removing is given up together with the value that refers to it", () => {
    const owned = ownedDeployment({ env: [{ name: "LEVEL", value: "info" }] });
    let live = applyAt(owned, variables()).deployment;
    for (const minute of [1, 2, 3]) {
      const incoming = JSON.parse(JSON.stringify(live)) as KubeObject;
      const [main] = containersOf(incoming) as [Record<string, Json>];
      main["env"] = list(main["env"]).filter((element) => field(element, "name") !== "LATTICE_LEVEL");
      const write = { at: `2026-01-01T00:0${minute}:00Z`, previous: live };
      live = expectOk(applyWorkloadPatch(incoming, variables(), write)).deployment;
    }
    expect(field(containersOf(live)[0], "env")).toEqual([{ name: "LEVEL", value: "info" }]);
  });
});

/** What an API server refuses: two members of a union in one place. */
function problems(deployment: KubeObject): readonly string[] {
  const found: string[] = [];
  const one = (at: string, value: Json | undefined, isMember: (name: string) => boolean) => {
    const members = isJsonObject(value) ? Object.keys(value).filter(isMember) : [];
    if (members.length > 1) found.push(`${at}: ${members.join(", ")}`);
  };
  for (const container of allContainersOf(deployment)) {
    one("probe", container["livenessProbe"], (name) => ["exec", "httpGet", "tcpSocket", "grpc"].includes(name));
    for (const element of list(container["env"])) {
      one("env", element, (name) => name !== "name");
      one("valueFrom", field(element, "valueFrom"), () => true);
    }
  }
  for (const init of list(podOf(deployment)["initContainers"])) {
    const isSidecar = field(init, "restartPolicy") === "Always";
    if (!isSidecar && field(init, "livenessProbe") !== undefined) found.push("init container with a probe");
  }
  for (const volume of list(podOf(deployment)["volumes"])) one("volume", volume, (name) => name !== "name");
  return found;
}

describe("an owner that writes its manifest again while the webhook does not act", () => {
  test.each([
    { name: "server-side", tool: serverSideApply },
    { name: "client-side", tool: clientSideApply },
  ])("stores a valid Deployment with its own variables: $name", ({ tool }) => {
    fc.assert(
      fc.property(ownerDeployments, workloadPatches, (owned, patch) => {
        const { deployment } = applyAt(owned, patch);
        expect(problems(deployment)).toEqual([]);
        const written = tool(deployment, owned, owned);
        expect(problems(written)).toEqual([]);
        for (const [index, container] of allContainersOf(owned).entries()) {
          const texts = list(field(allContainersOf(written)[index], "env")).map((element) => canonicalJson(element));
          for (const element of list(container["env"])) expect(texts).toContain(canonicalJson(element));
        }
      }),
      { numRuns: 300 },
    );
  });
});
