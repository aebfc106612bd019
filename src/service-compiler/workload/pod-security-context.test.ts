/** Pods whose processes are not root read their volumes and files, and a service chooses its user. */
import { describe, expect, test } from "vitest";
import { compiled, mainContainer, mistakes } from "../../../test/builders/service-input.ts";

const file = (mode: string) => mainContainer({ files: { "/etc/key": { content: "k", mode } } });
const GROUP = { fsGroup: 65_532, fsGroupChangePolicy: "OnRootMismatch" };

describe("a pod gets a group for its volumes", () => {
  const rows: readonly { name: string; given: Readonly<Record<string, unknown>>; want: unknown }[] = [
    { name: "with a claim", given: mainContainer({ volumes: { "/data": { source: "pvc:data" } } }), want: GROUP },
    { name: "with a file of mode 0400", given: file("0400"), want: GROUP },
    { name: "with a file of mode 0600", given: file("600"), want: GROUP },
    { name: "with a secret file of mode 0440", given: mainContainer({ files: { "/k": { binaryContent: "AA==", mode: "0440" } } }), want: GROUP },
    { name: "never for files that all users read", given: file("0644"), want: undefined },
    { name: "never for an empty directory, which all users write", given: mainContainer({ volumes: { "/tmp": { source: "emptydir:" } } }), want: undefined },
  ]; // prettier-ignore
  test.each(rows)("$name", ({ given, want }) => expect(compiled(given).pod("securityContext")).toEqual(want));

  test("of any container, init containers too", () => {
    const setup = { image: "b", before: ["main"], files: { "/k": { content: "k", mode: "0400" } } };
    expect(compiled({ containers: { main: { image: "a" }, setup } }).pod("securityContext")).toEqual(GROUP);
  });

  test("with execute permission where the owner has it: the kubelet adds read permission only", () => {
    const modeOf = (mode: string) => compiled(file(mode)).pod("volumes");
    expect(modeOf("0500")).toMatchObject([{ configMap: { items: [{ mode: 0o510 }] } }]);
    expect(modeOf("0400")).toMatchObject([{ configMap: { items: [{ mode: 0o400 }] } }]);
    expect(modeOf("0755")).toMatchObject([{ configMap: { items: [{ mode: 0o755 }] } }]);
  });
});

describe("spec.securityContext", () => {
  const withContext = (securityContext: object, container: Readonly<Record<string, unknown>> = {}) =>
    mainContainer(container, { securityContext });

  test("sets user and groups of the pod", () => {
    const given = { runAsUser: 101, runAsGroup: 102, fsGroup: 103, fsGroupChangePolicy: "Always", supplementalGroups: [104] };
    const { pod, main } = compiled(withContext(given));
    expect(pod("securityContext")).toEqual(given);
    expect(main("securityContext", "runAsNonRoot")).toBe(true);
  });

  test("is completed by the group that volumes need", () => {
    const volumes = { "/data": { source: "pvc:data" } };
    expect(compiled(withContext({ runAsUser: 101 }, { volumes })).pod("securityContext")).toEqual({ runAsUser: 101, ...GROUP });
    expect(compiled(withContext({ fsGroup: 5 }, { volumes })).pod("securityContext")).toEqual({ ...GROUP, fsGroup: 5 });
  });

  test("refuses root at level restricted, once, and allows it at baseline", () => {
    const found = mistakes({ ...withContext({ runAsUser: 0 }), environment: "prod" }, { environment: {} });
    expect(found).toEqual([
      "spec.securityContext.runAsUser: must not be 0 at pod security level restricted\nchange it, or set spec.isolation.podSecurity to baseline in LatticeEnvironment prod",
    ]);
    const { main, pod } = compiled(withContext({ runAsUser: 0 }), { grants: { podSecurity: "baseline" } });
    expect(pod("securityContext")).toEqual({ runAsUser: 0 });
    expect(main("securityContext", "runAsNonRoot")).toBeUndefined();
  });

  test("does not change a container with its own user", () => {
    const own = compiled(withContext({ runAsUser: 0 }, { securityContext: { runAsUser: 7 } }), { grants: { podSecurity: "baseline" } });
    expect(own.main("securityContext")).toMatchObject({ runAsUser: 7, runAsNonRoot: true });
  });
});
