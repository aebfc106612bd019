import { expect, test } from "vitest";
import { expectOk } from "#base";
import { applyWorkloadPatch } from "#workload-patch";
import { AT, ownedDeployment, patchOf } from "../../test/builders/workload-patches.ts";
import { withoutQuotedValues } from "./quoted-values.ts";

const env = [
  { name: "LEVEL", value: "info-before" },
  { name: "KEY", value: 'hunter2"x' },
  { name: "PART", value: "hunter2" },
  { name: "FEW", value: "eu" },
];
const owned = ownedDeployment(
  { env, args: ["--key=abcdef"], command: ["run"] },
  { initContainers: [{ name: "i", image: "i", env: [{ name: "I", value: "of-init" }] }] },
);
const reference = { configMapKeyRef: { name: "web-env", key: "LEVEL" } };
const patched = expectOk(applyWorkloadPatch(owned, patchOf({}, { variables: { main: { LEVEL: reference } } }), { at: AT })).deployment;

test.each([
  { name: "a value of a variable", given: 'denied: hunter2"x', want: "denied: (hidden)" },
  { name: "a value inside of a quoted text", given: 'Invalid value: "hunter2\\"x": no', want: 'Invalid value: "(hidden)": no' },
  { name: "a value of an init container", given: "of-init", want: "(hidden)" },
  { name: "an argument", given: "not --key=abcdef here", want: "not (hidden) here" },
  { name: "a value that the patch has replaced", given: "was info-before", want: "was (hidden)" },
  { name: "nothing but values", given: "must be less than the limit in eu", want: "must be less than the limit in eu" },
])("an error about a Deployment hides $name", ({ given, want }) => {
  expect(withoutQuotedValues({ kind: "forbidden", message: given }, patched)).toEqual({ kind: "forbidden", message: want });
});

test("an error without a Deployment stays as it is", () => {
  expect(withoutQuotedValues({ message: "hunter2" }, undefined)).toEqual({ message: "hunter2" });
});

test.each([
  { name: "a long message", deployment: owned, message: `hunter2${"x".repeat(70_000)}` },
  {
    name: "a Deployment with many values",
    deployment: ownedDeployment({ env: Array.from({ length: 1_001 }, (_, at) => ({ name: `V${at}`, value: `value-${at}` })) }),
    message: "denied: value-1000",
  },
])("an error that cannot be searched in time is hidden as a whole: $name", ({ deployment, message }) => {
  expect(withoutQuotedValues({ message }, deployment).message).toMatch(/^the answer is hidden/);
});
