import { describe, expect, it } from "vitest";
import { NO_CHANGES } from "#controller-runtime";
import { expectOk } from "#base";
import { latticeKinds, type FieldError } from "#crds";
import { acceptedCondition, describeErrors, describeUnbuilt, implementedCondition, usedFields } from "./conditions.ts";
import { acceptanceController } from "./controller.ts";

const cluster = (spec: Record<string, unknown>) => ({
  apiVersion: "lattice.dev/v1alpha1",
  kind: "LatticeCluster",
  metadata: { name: "mgmt" },
  spec,
});
const valid = cluster({ provider: { type: "docker", kubernetes: { version: "1.36.3" } }, nodes: { controlPlane: 1, workers: 0 } });
const invalid = cluster({ provider: { type: "docker", kubernetes: { version: "1.36.3" } }, nodes: { controlPlane: 2, workers: 0 } });
const controller = acceptanceController(latticeKinds.find(({ kind }) => kind === "LatticeCluster") ?? expectKind());

function expectKind(): never {
  throw new Error("LatticeCluster is a kind");
}

// the tested functions use nothing of the runtime
async function pass(object: typeof valid) {
  const observed = expectOk(await controller.observe(object, undefined as never));
  const plan = controller.plan(object, observed);
  const changes = NO_CHANGES;
  return { plan, status: controller.status?.(object, observed, { outcome: { kind: "settled" }, changes, details: undefined }) };
}

describe("the acceptance controller", () => {
  it("accepts a valid resource and lists every field that has no effect", async () => {
    const { plan, status } = await pass(valid);
    expect(plan).toMatchObject({ ok: true, value: { apply: [], commands: [], outcome: { kind: "waiting", reason: "NotYetBuilt" } } });
    expect(status).toMatchObject({
      phase: "Pending",
      message: "this release of Lattice does not act on spec.nodes, spec.provider yet",
      conditions: [
        { type: "Accepted", status: "True", reason: "Valid" },
        { type: "Implemented", status: "False", reason: "NotYetBuilt" },
      ],
    });
  });

  it("rejects an invalid resource with the field and the reason", async () => {
    const { plan, status } = await pass(invalid);
    expect(plan).toMatchObject({
      ok: false,
      error: { kind: "invalid-spec", message: expect.stringContaining("spec.nodes.controlPlane: must be odd") as string },
    });
    expect(status).toMatchObject({
      phase: "Failed",
      conditions: [{ type: "Accepted", status: "False", reason: "InvalidSpec" }, { type: "Implemented" }],
    });
  });

  it("a valid resource that other controllers read is Ready", async () => {
    const config = latticeKinds.find(({ kind }) => kind === "LatticeServiceConfig") ?? expectKind();
    const reader = acceptanceController(config, { readByOthers: true });
    const object = {
      apiVersion: "lattice.dev/v1alpha1",
      kind: "LatticeServiceConfig",
      metadata: { name: "a", namespace: "shop" },
      spec: { appliesTo: { service: "api" }, values: {} },
    };
    const observed = expectOk(await reader.observe(object, undefined as never));
    expect(reader.plan(object, observed)).toEqual({ ok: true, value: { apply: [], commands: [] } });
    const changes = NO_CHANGES;
    expect(reader.status?.(object, observed, { outcome: { kind: "settled" }, changes, details: undefined })).toMatchObject({
      phase: "Ready",
      conditions: [
        { type: "Accepted", status: "True" },
        { type: "Ready", status: "True", reason: "Accepted" },
      ],
    });
  });

  it("every kind has a controller with a unique name", () => {
    expect(new Set(latticeKinds.map((kind) => acceptanceController(kind).name)).size).toBe(8);
  });
});

describe("acceptance conditions", () => {
  it("list ten errors and count the rest", () => {
    const errors = Array.from({ length: 12 }, (_, n): FieldError => ({ kind: "invalid", path: `spec.f${n}`, message: "is wrong" }));
    expect(describeErrors(errors)).toMatch(/^spec\.f0: is wrong; .*spec\.f9: is wrong; and 2 more$/);
    expect(acceptedCondition([{ kind: "invalid", path: "", message: "is no object" }]).message).toBe("is no object");
  });

  it("name the spec as the field when it is empty", () => {
    expect(usedFields({ ...valid, spec: {} } as never)).toEqual(["its spec"]);
    expect(describeUnbuilt(["its spec"])).toBe("this release of Lattice does not act on its spec yet");
  });

  it("replace the condition of an older release, and are not added otherwise", () => {
    const written = [{ type: "Implemented", status: "False", reason: "NotYetBuilt", message: "", lastTransitionTime: "" } as const];
    expect(implementedCondition([], written)).toMatchObject([{ type: "Implemented", status: "True", reason: "Built" }]);
    expect(implementedCondition([], undefined)).toEqual([]);
  });
});
