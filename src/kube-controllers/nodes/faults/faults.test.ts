import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { Container, Pod } from "#kube";
import { DEFAULT_SPEEDS } from "../options.ts";
import { annotatedMishaps } from "./annotations.ts";
import { behaviourOf, type Role } from "./behaviour.ts";
import { FaultList, matchesPattern, type Fault } from "./fault.ts";

const container: Container = { name: "web", image: "registry.test/web:1" };
const pod = (annotations?: Readonly<Record<string, string>>, more: Partial<Pod["spec"]> = {}): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "shop", labels: { app: "web" }, ...(annotations === undefined ? {} : { annotations }) },
  spec: { containers: [container], ...more },
});
const P = "simulation.lattice.dev/";

describe("a pattern", () => {
  it.each([
    { pattern: "a", text: "a", want: true },
    { pattern: "a", text: "ab", want: false },
    { pattern: "*", text: "", want: true },
    { pattern: "a*", text: "ab", want: true },
    { pattern: "*:broken", text: "x/y:broken", want: true },
    { pattern: "*:broken", text: "x/y:fine", want: false },
    { pattern: "a*b*c", text: "a-b-b-c", want: true },
    { pattern: "a*b*c", text: "a-c-b", want: false },
    { pattern: "ab*ba", text: "aba", want: false },
    { pattern: "x*", text: "y", want: false },
  ])("$pattern on $text", ({ pattern, text, want }) => expect(matchesPattern(pattern, text)).toBe(want));
  it("without stars matches the exact text, and is fast on hostile input", () => {
    fc.assert(fc.property(fc.string(), (text) => matchesPattern(text.replaceAll("*", ""), text.replaceAll("*", ""))));
    expect(matchesPattern("*a".repeat(5_000), "a".repeat(9_999))).toBe(true);
  });
});

describe("a fault hits", () => {
  it.each<{ name: string; on: NonNullable<Fault["on"]>; want: boolean }>([
    { name: "everything", on: {}, want: true },
    { name: "its namespace", on: { namespace: "shop" }, want: true },
    { name: "no other namespace", on: { namespace: "bank" }, want: false },
    { name: "by selector", on: { selector: "app=web" }, want: true },
    { name: "not by another selector", on: { selector: "app!=web" }, want: false },
    { name: "nothing by a selector that cannot be read", on: { selector: "((" }, want: false },
    { name: "by container", on: { container: "web" }, want: true },
    { name: "no other container", on: { container: "db" }, want: false },
    { name: "by image", on: { image: "*/web:*" }, want: true },
    { name: "no other image", on: { image: "*:2" }, want: false },
  ])("$name", ({ on, want }) => expect(new FaultList([{ kind: "image-pull", on }]).on(pod(), container).length > 0).toBe(want));

  it("until it is lifted, and subscribers are notified", () => {
    const faults = new FaultList();
    let notified = 0;
    const end = faults.subscribe(() => (notified += 1));
    const handle = faults.add({ kind: "image-pull" });
    expect(faults.on(pod(), container)).toHaveLength(1);
    handle.lift();
    handle.lift();
    expect([faults.on(pod(), container), notified]).toEqual([[], 2]);
    faults.add({ kind: "probe", probe: "readiness" });
    faults.clear();
    end();
    faults.clear();
    expect([faults.on(pod(), container), notified]).toEqual([[], 4]);
  });
});

test("annotations of the template define the same faults, for all containers or for one", () => {
  expect(annotatedMishaps(pod(), container)).toEqual([]);
  expect(
    annotatedMishaps(
      pod({
        [`${P}image-pull`]: "fail",
        [`${P}exit-code.web`]: "3",
        [`${P}exit-after`]: "2s",
        [`${P}exit-times`]: "1",
        [`${P}fail-probe`]: "readiness,startup,x",
        [`${P}start-delay`]: "1m",
      }),
      container,
    ),
  ).toEqual([
    { kind: "image-pull" },
    { kind: "exit", code: 3, afterMs: 2_000, times: 1 },
    { kind: "probe", probe: "readiness" },
    { kind: "probe", probe: "startup" },
    { kind: "slow-start", ms: 60_000 },
  ]);
  expect(annotatedMishaps(pod({ [`${P}exit-code.db`]: "3", [`${P}start-delay`]: "soon", [`${P}exit-after`]: "x" }), container)).toEqual([]);
});

describe("a container", () => {
  const circumstances = (...faults: Fault[]) => ({ faults: new FaultList(faults), speeds: DEFAULT_SPEEDS });
  const behaviour = (given: {
    spec?: Partial<Pod["spec"]>;
    role?: Role;
    restarts?: number;
    container?: Partial<Container>;
    faults?: Fault[];
  }) =>
    behaviourOf(
      pod(undefined, given.spec),
      { ...container, ...given.container },
      { role: given.role ?? "main", restarts: given.restarts ?? 0 },
      circumstances(...(given.faults ?? [])),
    );

  it("runs forever, unless its Pod runs to completion or it is an init container", () => {
    expect(behaviour({}).exit).toBeUndefined();
    expect(behaviour({ spec: { restartPolicy: "Never" } }).exit).toEqual({ code: 0, afterMs: 50 });
    expect(behaviour({ role: "init" }).exit).toEqual({ code: 0, afterMs: 20 });
    expect(behaviour({ role: "sidecar", spec: { restartPolicy: "OnFailure" } }).exit).toBeUndefined();
  });
  it("exits with the code of a fault, as often as the fault defines", () => {
    const faults: Fault[] = [{ kind: "exit", code: 2, times: 1 }];
    expect([behaviour({ faults }).exit?.code, behaviour({ faults, restarts: 1 }).exit]).toEqual([2, undefined]);
  });
  it("is ready after the delays of its probes", () => {
    const readinessProbe = { initialDelaySeconds: 5, successThreshold: 2, periodSeconds: 3 };
    expect(behaviour({ container: { readinessProbe } })).toMatchObject({ startedAfterMs: 0, readyAfterMs: 8_000 });
    expect(behaviour({ container: { startupProbe: { initialDelaySeconds: 9 }, readinessProbe } })).toMatchObject({
      startedAfterMs: 9_000,
      readyAfterMs: 9_000,
    });
  });
  it("is never ready if a probe fails, and is killed for liveness and startup", () => {
    const probes = { readinessProbe: {}, livenessProbe: { periodSeconds: 1 }, startupProbe: { failureThreshold: 2 } };
    const failing = (probe: "readiness" | "liveness" | "startup") => behaviour({ container: probes, faults: [{ kind: "probe", probe }] });
    expect(failing("readiness")).toMatchObject({ readyAfterMs: undefined, exit: undefined });
    expect(failing("liveness").exit).toEqual({
      code: 137,
      afterMs: 2_000,
      because: "Container web failed liveness probe, will be restarted",
    });
    expect(failing("startup")).toMatchObject({ startedAfterMs: undefined, readyAfterMs: undefined, exit: { code: 137, afterMs: 10_000 } });
    expect(behaviour({ faults: [{ kind: "probe", probe: "readiness" }] }).readyAfterMs).toBe(0);
  });
  it("has the reason why its image cannot be pulled", () => {
    expect(behaviour({ faults: [{ kind: "image-pull" }] }).pullError).toContain('failed to pull and unpack image "registry.test/web:1"');
    expect(
      behaviour({
        faults: [
          { kind: "image-pull", message: "teapot" },
          { kind: "slow-start", ms: 100 },
        ],
      }),
    ).toMatchObject({ pullError: "teapot", startMs: 120 });
  });
});
