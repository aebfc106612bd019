/** A ConfigMap or Secret that the API server would refuse is an error, with the exact limit. */
import { describe, expect, test } from "vitest";
import { compiled, mainContainer, mistakes } from "../../../test/builders/service-input.ts";

const MIB = 1_048_576;
const big = "x".repeat(32_768);

function variablesOf(bytes: number, text = big): Readonly<Record<string, string>> {
  const size = new TextEncoder().encode(text).byteLength;
  const whole = Math.floor(bytes / size);
  const rest = { REST: "r".repeat(bytes - whole * size) };
  return { ...Object.fromEntries(Array.from({ length: whole }, (_, at) => [`V${at}`, text])), ...rest };
}

const message = (kind: string, size: number) =>
  `the ${kind} for it would hold ${size} bytes, and may hold ${MIB}; this is the largest part of it`;

describe("variables", () => {
  test("of one MiB fit", () => expect(mistakes(mainContainer({ variables: variablesOf(MIB) }))).toEqual([]));

  test("of one byte more are refused, and the largest is reported", () => {
    expect(mistakes(mainContainer({ variables: variablesOf(MIB + 1) }))).toEqual([
      `spec.containers.main.variables.V0: template error in container 'main' variable 'V0': ${message("ConfigMap", MIB + 1)}`,
    ]);
  });

  test("are counted in bytes, not in characters", () => {
    const wide = "漢".repeat(10_000);
    expect(mistakes(mainContainer({ variables: variablesOf(MIB, wide) }))).toEqual([]);
    expect(mistakes(mainContainer({ variables: variablesOf(MIB + 1, wide) }))).toHaveLength(1);
  });

  test("that are sensitive are counted before base64", () => {
    const around = {
      bindings: { b: { bindings: { s: { secretRef: { name: "s" } } } } },
      secrets: { "s/k": "y".repeat(MIB), "s/l": "y".repeat(MIB + 1) },
    };
    expect(mistakes(mainContainer({ variables: { A: "${secrets.s.k}" } }), around)).toEqual([]);
    expect(mistakes(mainContainer({ variables: { A: "${secrets.s.l}" } }), around)).toEqual([
      `spec.containers.main.variables.A: template error in container 'main' variable 'A': has more than ${MIB} bytes when its templates are filled in; make the texts that it reads shorter`,
    ]);
  });
});

describe("files", () => {
  test("of one MiB fit, also in bytes", () => {
    const files = { "/a": { content: "a".repeat(MIB) }, "/b": { binaryContent: Buffer.alloc(MIB).toString("base64") } };
    expect(mistakes(mainContainer({ files }))).toEqual([]);
  });

  test("that are too large together are reported at the largest of them", () => {
    const files = { "/etc/a": { content: "a".repeat(MIB) }, "/etc/b": { content: "b" }, "/etc/c": { binaryContent: "AAAA" } };
    expect(mistakes(mainContainer({ files }))).toEqual([
      `spec.containers.main.files["/etc/a"]: invalid file mount at '/etc/a': ${message("ConfigMap", MIB + 1)}`,
    ]);
  });
});

test("ten megabytes from a secret store are refused, and legal sizes compile", () => {
  const around = { bindings: { b: { bindings: { s: { secretRef: { name: "s" } } } } }, secrets: { "s/k": "z".repeat(10_000_000) } };
  expect(mistakes(mainContainer({ variables: { A: "${secrets.s.k}${secrets.s.k}" } }), around)).toEqual([
    `spec.containers.main.variables.A: template error in container 'main' variable 'A': has more than ${MIB} bytes when its templates are filled in; make the texts that it reads shorter`,
  ]);
});

test("ten thousand placeholders in one file are expanded", () => {
  const { find } = compiled(mainContainer({ files: { "/f": { content: "${metadata.name}\n".repeat(10_000) } } }));
  expect((find("ConfigMap") as unknown as { data: { f: string } }).data.f).toBe("api\n".repeat(10_000));
});
