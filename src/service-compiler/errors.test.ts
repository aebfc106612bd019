/** The eight errors of a service, each with its exact first line. */
import { describe, expect, test } from "vitest";
import { describeCompileError, placeOf } from "./errors.ts";
import { compileService } from "./compile-service.ts";
import { serviceErrorCases } from "../../test/builders/service-error-cases.ts";
import { mainContainer, mistakes, serviceInput } from "../../test/builders/service-input.ts";

describe("the message of", () => {
  test.each(serviceErrorCases)("$name", ({ given, want, place }) => {
    const result = compileService(serviceInput(given));
    const [error, ...others] = result.ok ? [] : result.error;
    expect(others).toEqual([]);
    if (error === undefined) throw new Error("it compiled");
    const [first] = describeCompileError(error).split("\n");
    expect(first?.startsWith(want), first).toBe(true);
    expect(placeOf(error)).toBe(place);
  });
});

test("the lines after the first list what is missing and what exists", () => {
  const wanted = mainContainer(
    { variables: { A: "${resources.backend.url}", B: "${resources.stripe.url}" } },
    { resources: { backend: {}, stripe: { type: "external-service", id: "pay/stripe" }, queue: { type: "postgress" } } },
  );
  expect(mistakes(wanted)).toEqual([
    "spec.resources.backend: resource 'backend' of type 'service' not found\na template reads its outputs, and there is no LatticeService prod/backend; add it, or correct the id",
    "spec.resources.stripe: resource 'stripe' of type 'external-service' not found\na template reads its outputs, and there is no LatticeExternalService pay/stripe; add it, or correct the id",
    `spec.resources.queue: no provisioner registered for resource type 'postgress'\nresource 'queue' uses it; did you mean "postgres"?; there are service, external-service, service-port, postgres, mysql, mongodb, redis, amqp, s3, route, dns, volume, environment\na ConfigMap with the label lattice.dev/provisioner declares another type`,
  ]);
});

test("a cycle of containers is an error of the same kind", () => {
  const containers = {
    a: { image: "a:1", before: ["b"] },
    b: { image: "b:1", before: ["c"] },
    c: { image: "c:1", before: ["a"] },
  };
  expect(mistakes({ containers })).toEqual(["spec.containers: circular dependency detected: c -> a -> b -> c"]);
});
