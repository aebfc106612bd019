/** Deployments that a LatticeService may not patch: what is reported, and that they stay as they are. */
import { describe, expect, test } from "vitest";
import { latticeServices } from "#crds";
import { calls, isCalledBy, latticeService } from "../../../test/builders/lattice-objects.ts";
import {
  container,
  deployment,
  account,
  patching,
  startPatching,
  nginx,
  storedPatches,
  isPatched,
  main,
} from "../../../test/builders/patched-service.ts";

const ADMISSION = "admissionregistration.k8s.io/v1";
/** A Deployment with annotation `frozen` may have no label of a service. */
const frozenPolicy = [
  {
    apiVersion: ADMISSION,
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: "frozen" },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: ["apps"], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["deployments"] }],
      },
      validations: [
        {
          expression:
            '!("frozen" in object.metadata.?annotations.orValue({})) || !("lattice.dev/service" in object.metadata.?labels.orValue({}))',
        },
      ],
    },
  },
  {
    apiVersion: ADMISSION,
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: "frozen" },
    spec: { policyName: "frozen", validationActions: ["Deny"] },
  },
];

describe("a Deployment that may not be patched", () => {
  test("uses the ServiceAccount default: nothing is open, and the reason is in the conditions", async () => {
    const caller = latticeService("shop/front", { resources: calls("web") });
    const callee = patching({ resources: isCalledBy("front"), service: { ports: { http: { port: 80 } } } });
    await using started = await startPatching([account(), caller, callee, deployment({ account: "default" })]);
    const { operated } = started;
    for (const type of ["Ready", "PoliciesApplied"])
      expect(await operated.condition("shop/web", type)).toMatchObject({
        status: "False",
        reason: "SharedServiceAccount",
        message: expect.stringContaining("set serviceAccountName of its pods to an account of its own") as string,
      });
    expect(isPatched(await nginx(started))).toBe(false);
    expect(await operated.read("AuthorizationPolicy", "shop/web")).toBeUndefined();
    await operated.apply(deployment());
    await operated.live(6_000, 500);
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "True" });
    expect(JSON.stringify(await operated.read("AuthorizationPolicy", "shop/web"))).toContain("/ns/shop/sa/front");
  });

  test("is patched by an older service: the error of the second names the first, and the second gets it afterwards", async () => {
    await using started = await startPatching([account(), deployment(), patching()]);
    const { operated } = started;
    await operated.apply(patching({}, "shop/second"));
    await operated.live(6_000, 500);
    expect(await operated.condition("shop/second", "Ready")).toMatchObject({
      reason: "WorkloadClaimed",
      message: expect.stringContaining("Deployment shop/nginx is patched by LatticeService shop/web, which takes precedence") as string,
    });
    await operated.remove(latticeServices, "shop/web");
    await operated.live(20_000, 500);
    expect(await operated.condition("shop/second", "Ready")).toMatchObject({ status: "True" });
    expect((await nginx(started))?.metadata.labels).toEqual({ "lattice.dev/patched": "true", "lattice.dev/service": "second" });
  });

  const rows = [
    {
      name: "made for another service",
      ref: { name: "own", namespace: "shop" },
      reason: "WorkloadClaimed",
      want: "made for LatticeService shop/own",
    },
    {
      name: "in another namespace",
      ref: { name: "nginx", namespace: "other" },
      reason: "WorkloadNotAllowed",
      want: "not the namespace in which the service runs, shop",
    },
  ];
  test.each(rows)("is $name", async ({ ref, reason, want }) => {
    await using started = await startPatching([account(), deployment(), latticeService("shop/own"), patching({ workloadRef: ref })]);
    const ready = await started.operated.condition("shop/web", "Ready");
    expect(ready).toMatchObject({ status: "False", reason, message: expect.stringContaining(want) as string });
  });

  test("would be refused by the API server with the patch: the patch is not stored, and the owner can write", async () => {
    const annotated = deployment({ metadata: { annotations: { frozen: "true" } } });
    await using started = await startPatching([account(), ...frozenPolicy, annotated, patching()]);
    const { operated } = started;
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({
      reason: "PatchRejected",
      message: expect.stringContaining("the API server refuses Deployment shop/nginx with this patch") as string,
    });
    expect(await storedPatches(operated)).toEqual([]);
    await operated.apply(deployment());
    await operated.live(6_000, 500);
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "True" });
  });

  test("requests more than the limit of the service: the limit is left out and named, and the rest is patched", async () => {
    const requesting = { ...container(), resources: { requests: { memory: "2Gi" } } };
    await using started = await startPatching([account(), deployment({ containers: [requesting] }), patching()]);
    expect(await started.operated.condition("shop/web", "WorkloadPatched")).toMatchObject({
      reason: "FieldsNotPatched",
      message: expect.stringContaining("containers[main].resources.limits.memory") as string,
    });
    const patched = main(await nginx(started));
    expect(patched?.resources).toEqual(requesting.resources);
    expect(patched?.env?.map(({ name }) => name)).toContain("LATTICE_LEVEL");
  });
});
