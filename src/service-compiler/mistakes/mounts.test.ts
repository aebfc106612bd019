/** Mistakes in files and volumes, with their exact messages. */
import { describe, expect, test } from "vitest";
import { mainContainer, mistakes, type InputOptions } from "../../../test/builders/service-input.ts";

const around: InputOptions = {
  bindings: { b: { bindings: { s: { secretRef: { name: "s" } }, v: { external: { storeRef: { name: "vault" }, key: "k" } } } } },
  secrets: { "s/k": "CANARY-VALUE" },
};

describe("a volume", () => {
  const rows: readonly { name: string; given: Readonly<Record<string, unknown>>; want: string }[] = [
    {
      name: "an unknown class",
      given: { source: "hostpath:/etc" },
      want: `'hostpath' is no kind of volume; there are pvc, configmap, secret, emptydir, as in "pvc:data"`,
    },
    {
      name: "a class in capitals",
      given: { source: "PVC:data" },
      want: `'PVC' is no kind of volume; there are pvc, configmap, secret, emptydir, as in "pvc:data"`,
    },
    {
      name: "no class before the colon",
      given: { source: ":data" },
      want: `'' is no kind of volume; there are pvc, configmap, secret, emptydir, as in "pvc:data"`,
    },
    {
      name: "what JavaScript has",
      given: { source: "__proto__:x" },
      want: `'__proto__' is no kind of volume; there are pvc, configmap, secret, emptydir, as in "pvc:data"`,
    },
    { name: "no name behind it", given: { source: "pvc:" }, want: "'' is not a valid name; use lower case letters, digits, '-' and '.'" },
    {
      name: "a name in capitals",
      given: { source: "pvc:Data" },
      want: "'Data' is not a valid name; use lower case letters, digits, '-' and '.'",
    },
    {
      name: "a bare name that is none",
      given: { source: "my data" },
      want: "'my data' is not a valid name; use lower case letters, digits, '-' and '.'",
    },
    {
      name: "a name that climbs",
      given: { source: "configmap:../x" },
      want: "'../x' is not a valid name; use lower case letters, digits, '-' and '.'",
    },
    {
      name: "a name in unicode",
      given: { source: "secret:schlüssel" },
      want: "'schlüssel' is not a valid name; use lower case letters, digits, '-' and '.'",
    },
    {
      name: "a sensitive source",
      given: { source: "secret:${secrets.s.k}" },
      want: "its source is sensitive, and would be readable without access to Secrets",
    },
    {
      name: "a source that only a store knows",
      given: { source: "${secrets.v.k}" },
      want: "its source is sensitive, and would be readable without access to Secrets",
    },
    { name: "a broken template", given: { source: "pvc:${metadata.x}" }, want: "${metadata.x}: metadata has no 'x' (line 1, column 5)" },
    { name: "an absolute path inside", given: { source: "pvc:d", path: "/a" }, want: "path must be relative and without '..'" },
    { name: "a path inside that climbs", given: { source: "pvc:d", path: "a/../../b" }, want: "path must be relative and without '..'" },
  ];
  test.each(rows)("$name", ({ given, want }) => {
    const found = mistakes(mainContainer({ volumes: { "/data": given } }), around);
    expect(found).toEqual([`spec.containers.main.volumes["/data"]: invalid volume mount at '/data': ${want}`]);
    expect(found.join()).not.toContain("CANARY-VALUE");
  });
});

describe("a file", () => {
  const rows: readonly { name: string; given: Readonly<Record<string, unknown>>; want: string }[] = [
    { name: "base64 that is cut off", given: { binaryContent: "AAA" }, want: "binaryContent is not valid base64" },
    {
      name: "base64 with something in its middle",
      given: { binaryContent: "AA=A" },
      want: "binaryContent is not valid base64",
    },
    { name: "a source where there are no files", given: { source: "secret.conf" }, want: "source: secret.conf cannot be read" },
  ];
  test.each(rows)("$name", ({ given, want }) => {
    expect(mistakes(mainContainer({ files: { "/etc/f": given } }))).toEqual([
      `spec.containers.main.files["/etc/f"]: invalid file mount at '/etc/f': ${want}`,
    ]);
  });

  test("that combines an external store with a Secret", () => {
    const content = "a=${secrets.s.k}\nb=${secrets.v.k}\n";
    expect(mistakes(mainContainer({ files: { "/etc/f": { content } } }), around)).toEqual([
      `spec.containers.main.files["/etc/f"]: template error in container 'main' file '/etc/f': this mixes a value of External Secrets with one from a Secret; give each a variable or file of its own`,
    ]);
  });
});
