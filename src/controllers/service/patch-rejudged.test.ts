/** A patch that the API server refused is checked again, without a change of the service or the Deployment. */
import { expect, test } from "vitest";
import { failWith } from "#embedded-cluster";
import {
  account,
  deployment,
  main,
  nginx,
  patching,
  refusingImage,
  startPatching,
  storedPatches,
} from "../../../test/builders/patched-service.ts";

test("a patch that a policy refused is applied when the policy is removed", async () => {
  const service = patching({ containers: { main: { image: "nginx:2" } } });
  await using started = await startPatching([account(), ...refusingImage("nginx:2"), deployment(), service]);
  const { operated } = started;
  expect(await operated.condition("shop/web", "WorkloadPatched")).toMatchObject({ reason: "PatchRejected" });
  await operated.live(150_000, 2_000);
  const checks = [...operated.cluster.actions].filter(({ fieldManager }) => fieldManager === "lattice-patch-check").length;
  expect(checks).toBeGreaterThan(1);
  expect(checks).toBeLessThan(5);
  expect(await operated.condition("shop/web", "WorkloadPatched")).toMatchObject({ reason: "PatchRejected" });
  expect(main(await nginx(started))?.image).toBe("nginx:1");
  const bindings = operated.cluster.resource("ValidatingAdmissionPolicyBinding", "admissionregistration.k8s.io/v1");
  await operated.remove(bindings, "images");
  await operated.live(130_000, 2_000);
  expect(await operated.condition("shop/web", "WorkloadPatched")).toMatchObject({ status: "True" });
  expect(main(await nginx(started))?.image).toBe("nginx:2");
});

test("a patch that a webhook without dry runs refused is applied half an hour later, when the webhook is gone", async () => {
  await using started = await startPatching([account(), deployment()]);
  const { operated } = started;
  const refuse = failWith("invalid", { message: "refused" });
  const counts = { requests: 0 };
  const refusing = operated.cluster.intercept({ verb: ["patch"], resource: "deployments", name: "nginx" }, (action, next, context) => {
    if (action.dryRun || action.user.name !== operated.user.name) return next();
    counts.requests += 1;
    return refuse(action, next, context);
  });
  await operated.apply(patching());
  await operated.live(1_500_000, 10_000);
  expect(await operated.condition("shop/web", "WorkloadPatched")).toMatchObject({ reason: "PatchRejected" });
  expect([counts.requests, await storedPatches(operated)]).toEqual([1, []]);
  refusing[Symbol.dispose]();
  await operated.live(420_000, 10_000);
  expect(await operated.condition("shop/web", "WorkloadPatched")).toMatchObject({ status: "True" });
});
