/** Seed 001, phase 8.1: the eight errors, each with the seed's text as its first line (DECISIONS 44). */
import { describe, expect, test } from "vitest";
import { describeCompileError, placeOf } from "./errors.ts";
import { compileService } from "./compile-service.ts";
import { mainContainer, mistakes, serviceInput } from "../../test/builders/service-input.ts";

type Row = { name: string; given: Readonly<Record<string, unknown>>; want: string; place: string };

describe("phase 8.1", () => {
  const rows: readonly Row[] = [
    {
      name: "TemplateVariable",
      given: mainContainer({ variables: { LEVEL: "${config.level}" } }),
      place: "spec.containers.main.variables.LEVEL",
      want: "template error in container 'main' variable 'LEVEL': ${config.level}: config has no 'level'",
    },
    {
      name: "TemplateFile",
      given: mainContainer({ files: { "/etc/a.conf": { content: "a\n  ${config.level}" } } }),
      place: 'spec.containers.main.files["/etc/a.conf"]',
      want: "template error in container 'main' file '/etc/a.conf': ${config.level}: config has no 'level' (line 2, column 3)",
    },
    {
      name: "ResourceNotFound",
      given: mainContainer({ variables: { URL: "${resources.backend.url}" } }, { resources: { backend: {} } }),
      place: "spec.resources.backend",
      want: "resource 'backend' of type 'service' not found",
    },
    {
      name: "UnsupportedResourceType",
      given: mainContainer({}, { resources: { queue: { type: "kafka" } } }),
      place: "spec.resources.queue",
      want: "no provisioner registered for resource type 'kafka'",
    },
    {
      name: "ProvisionerError",
      given: mainContainer({}, { resources: { db: { type: "postgres", params: { port: 0 } } } }),
      place: "spec.resources.db",
      want: `resource 'db' provisioner error: params.port is "0"; it must be a port from 1 to 65535`,
    },
    {
      name: "InvalidFileMount",
      given: mainContainer({ files: { "/etc/key": { binaryContent: "AAA" } } }),
      place: 'spec.containers.main.files["/etc/key"]',
      want: "invalid file mount at '/etc/key': binaryContent ",
    },
    {
      name: "InvalidVolumeMount",
      given: mainContainer({ volumes: { "/data": { source: "nfs:server" } } }),
      place: 'spec.containers.main.volumes["/data"]',
      want: `invalid volume mount at '/data': 'nfs' is no kind of volume; there are pvc, configmap, secret, emptydir, as in "pvc:data"`,
    },
    {
      name: "CircularDependency",
      given: mainContainer(
        {},
        {
          resources: {
            a: { type: "postgres", params: { database: "${resources.b.database}" } },
            b: { type: "postgres", params: { database: "${resources.a.database}" } },
          },
        },
      ),
      place: "spec.resources",
      want: "circular dependency detected: a -> b -> a",
    },
  ];
  test.each(rows)("$name", ({ given, want, place }) => {
    const result = compileService(serviceInput(given));
    const [error, ...others] = result.ok ? [] : result.error;
    expect(others).toEqual([]);
    if (error === undefined) throw new Error("it compiled");
    const [first] = describeCompileError(error).split("\n");
    expect(first?.startsWith(want), first).toBe(true);
    expect(placeOf(error)).toBe(place);
  });
});

test("what is missing, and what there is, stands in the lines after the first", () => {
  const wanted = mainContainer(
    { variables: { A: "${resources.backend.url}", B: "${resources.stripe.url}" } },
    { resources: { backend: {}, stripe: { type: "external-service", id: "pay/stripe" }, queue: { type: "postgress" } } },
  );
  expect(mistakes(wanted)).toEqual([
    "spec.resources.backend: resource 'backend' of type 'service' not found\na template reads its outputs, and there is no LatticeService prod/backend; add it, or correct the id",
    "spec.resources.stripe: resource 'stripe' of type 'external-service' not found\na template reads its outputs, and there is no LatticeExternalService pay/stripe; add it, or correct the id",
    `spec.resources.queue: no provisioner registered for resource type 'postgress'\nresource 'queue' uses it; did you mean "postgres"?; there are service, external-service, postgres, redis, route, dns, volume`,
  ]);
});

test("a circle of containers is one of the same kind", () => {
  const containers = {
    a: { image: "a:1", before: ["b"] },
    b: { image: "b:1", before: ["c"] },
    c: { image: "c:1", before: ["a"] },
  };
  expect(mistakes({ containers })).toEqual(["spec.containers: circular dependency detected: c -> a -> b -> c"]);
});
