/** Limits for the templates of one service, including templates that refer to each other. */
import { describe, expect, test } from "vitest";
import { doublingResources } from "../../test/builders/attacks/doubling-service.ts";
import { compiled, dataOf, mainContainer, mistakes, serviceInput } from "../../test/builders/service-input.ts";
import { compileService, resolveDeclarations } from "./index.ts";

const MIB = 1_048_576;

describe("a value of more than 1 MiB", () => {
  test("that params produce by doubling each other is refused, with the field and the path", () => {
    const found = mistakes(mainContainer({}, { resources: doublingResources(25, 16_385) }));
    expect(found).toEqual([
      "spec.resources.r06: resource 'r06' provisioner error: params.database: has more than 1048576 bytes when its templates are filled in; " +
        "make the texts that it reads shorter (r06 -> r05 -> r04 -> … -> r00)",
    ]);
  });

  test("is refused in a variable, a file and the source of a volume", () => {
    const configs = { c: { appliesTo: { service: "api" }, values: { a: "x".repeat(32_768) } } };
    const text = "${config.a}".repeat(33);
    const place = "has more than 1048576 bytes when its templates are filled in; make the texts that it reads shorter";
    expect(mistakes(mainContainer({ variables: { A: text } }), { configs })).toEqual([
      `spec.containers.main.variables.A: template error in container 'main' variable 'A': ${place}`,
    ]);
    expect(mistakes(mainContainer({ files: { "/a": { content: text } } }), { configs })).toEqual([
      `spec.containers.main.files["/a"]: template error in container 'main' file '/a': ${place}`,
    ]);
    expect(mistakes(mainContainer({ volumes: { "/a": { source: text } } }), { configs })).toEqual([
      `spec.containers.main.volumes["/a"]: invalid volume mount at '/a': ${place}`,
    ]);
  });

  test("is measured in bytes, not in characters", () => {
    const text = (characters: number) => mainContainer({ variables: { A: `\${metadata.name}${"é".repeat(characters)}` } });
    expect(mistakes(text(MIB / 2))[0]).toContain("has more than 1048576 bytes");
    expect(compiled(text(1_000)).find("ConfigMap")).toBeDefined();
  });

  test("may contain secrets, and the message does not contain them", () => {
    const secret = "s3cr3t".repeat(10_000);
    const found = mistakes(
      mainContainer({ variables: { A: "${resources.db.password}".repeat(20) } }, { resources: { db: { type: "postgres" } } }),
      {
        secrets: { "postgres/db/password": secret },
      },
    );
    expect(found[0]).toContain("has more than 1048576 bytes");
    expect(found.join()).not.toContain("s3cr3t");
  });
});

test("a service of 5 KB whose params double 25 times is refused in every order of reading", () => {
  const resources = doublingResources(25);
  expect(JSON.stringify(resources).length).toBeLessThan(5_120);
  const together = "the rendered templates of the service up to this one have more than 1048576 bytes together; make them shorter";
  for (const read of ["r00", "r24"]) {
    const [first = ""] = mistakes(mainContainer({ variables: { A: `\${resources.${read}.url}` } }, { resources }));
    expect(first).toMatch(/^spec\.resources\.r(19|20): resource 'r\1' provisioner error: params\.database: /);
    expect(first).toContain(together);
    expect(first).toMatch(/\(r(19|20) -> r1[89] -> r1[78] -> … -> r00\)$/);
  }
});

describe("mistakes of a service", () => {
  test("are listed up to fifty, and the last line states the limit", () => {
    const variables = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`V${at}`, "${config.a} ${config.b}"]));
    const found = mistakes(mainContainer({ variables }));
    expect(found).toHaveLength(51);
    expect(found.at(-1)).toBe("spec: further mistakes are not listed; correct these first");
  });

  test("are short, even when they quote long texts", () => {
    const around = { configs: { c: { appliesTo: { service: "api" }, values: { a: "x".repeat(32_768) } } } };
    const resources = { web: { type: "route", params: { host: "${config.a}${config.a}" } } };
    const found = mistakes(mainContainer({ volumes: { "/v": { source: "${config.a}:x" } } }, { resources }), around);
    expect(found).toHaveLength(2);
    expect(found.every((text) => text.length < 1_200)).toBe(true);
  });

  test("with more than 64 objects with config or bindings are reported without reading all objects", () => {
    const many = <T>(spec: T) => Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`c${at}`, spec]));
    const configs = many({ appliesTo: { service: "api" }, values: { a: "b" } });
    const bindings = many({ bindings: { s: { secretRef: { name: "s" } } } });
    const found = mistakes(mainContainer({ variables: { A: "${config.a}", B: "${secrets.s.k}" } }), { configs, bindings });
    expect(found).toEqual([
      expect.stringContaining("65 objects of kind LatticeServiceConfig apply to this service, and at most 64 may") as string,
      expect.stringContaining("65 objects of kind LatticeSecretBindings apply to this service, and at most 64 may") as string,
    ]);
  });
});

test("the number of warnings about literal dollars is limited too", () => {
  const args = Array.from({ length: 256 }, () => "${x}");
  const result = compileService(serviceInput(mainContainer({ args })));
  expect(result.ok && result.value.warnings.length).toBe(50);
});

test("a URL that is too long for the status is omitted from it", () => {
  const resources = { long: { type: "postgres", params: { database: "d".repeat(5_000) } }, short: { type: "postgres" } };
  const result = compileService(serviceInput(mainContainer({}, { resources })));
  expect(result.ok && [...result.value.resolvedDependencies.keys()]).toEqual(["short"]);
});

test("the URLs in the status have at most 64 KiB in total", () => {
  const resources = Object.fromEntries(
    Array.from({ length: 100 }, (_, at) => [`r${at}`, { type: "postgres", params: { database: "d".repeat(4_000) } }]),
  );
  const result = compileService(serviceInput(mainContainer({}, { resources })));
  expect(result.ok && result.value.resolvedDependencies.size).toBe(16);
});

test("half of a surrogate pair in a database name is replaced, not thrown", () => {
  const resources = { db: { type: "postgres", params: { database: "a\ud800b" } } };
  const variables = { A: "${resources.db.url}" };
  expect(dataOf(compiled(mainContainer({ variables }, { resources })).find("ConfigMap"))?.["A"]).toMatch(/a%EF%BF%BDb$/);
});

describe("all values of a service together", () => {
  test("may have 1 MiB; only the first that exceeds it is reported", () => {
    const configs = { c: { appliesTo: { service: "api" }, values: { a: "x".repeat(32_768) } } };
    const variables = Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`V${String(at).padStart(2, "0")}`, "${config.a}"]));
    expect(mistakes(mainContainer({ variables }), { configs })).toEqual([
      "spec.containers.main.variables.V32: template error in container 'main' variable 'V32': the rendered templates of the service up to this one " +
        "have more than 1048576 bytes together; make them shorter",
    ]);
  });

  test("texts without templates are not counted: the size limit of the object applies", () => {
    const files = { "/a": { content: "x".repeat(600_000) }, "/b": { content: "$".repeat(400_000) } };
    expect(Object.keys(dataOf(compiled(mainContainer({ files })).find("ConfigMap")) ?? {})).toEqual(["a", "b"]);
  });

  test("params that are too large open nothing in the mesh", () => {
    const { agreements, provisioned } = resolveDeclarations(serviceInput(mainContainer({}, { resources: doublingResources(25, 16_385) })));
    expect([provisioned.has("r05"), provisioned.has("r06"), agreements.has("r06"), agreements.has("r24")]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});
