import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expectOk, sha256Hex } from "#base";
import { bundleSources } from "../../test/builders/bundle-sources.ts";
import { parseManifest } from "./bundle-manifest.ts";
import { imagesOf, mirroredName, parseMirror } from "./images.ts";
import { makeBundle, type ComponentSource } from "./make-bundle.ts";
import { substituteVariables } from "./variables.ts";

const settings = { mirrors: [], variables: new Map<string, string>() };
const sources = bundleSources();
const CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n";
const withCilium = (...texts: string[]): ComponentSource[] => [
  ...sources.filter(({ name }) => name !== "cilium"),
  { name: "cilium", version: "1", files: texts.map((text, at) => ({ path: `f${at}.yaml`, text })) },
];

describe("a bundle has", () => {
  const made = expectOk(makeBundle(sources, settings));

  test("a file for each component, and bundle.json with its digests at the end", () => {
    const names = ["cluster-api", "bootstrap-kubeadm", "control-plane-kubeadm", "infrastructure-docker", "cilium"];
    expect([...made.files.keys()]).toEqual([...names.map((name) => `${name}.yaml`), "bundle.json"]);
    expect(made.entries.map(({ sha256 }) => sha256)).toEqual(names.map((name) => sha256Hex(made.files.get(`${name}.yaml`) ?? "")));
    expect(JSON.parse(made.files.get("bundle.json") ?? "")).toMatchObject({ format: 1, components: names.map((name) => ({ name })) });
    expect(made.warnings).toEqual([]);
  });

  test("the same bytes each time", () => {
    expect([...expectOk(makeBundle(sources, settings)).files]).toEqual([...made.files]);
  });

  test("the same bytes when it is made again from its own files", () => {
    const again = made.entries.map(({ name, version, file }) => ({
      name,
      version,
      files: [{ path: file, text: made.files.get(file) ?? "" }],
    }));
    expect([...expectOk(makeBundle(again, settings)).files]).toEqual([...made.files]);
  });

  test("the labels of clusterctl on every object of Cluster API, and on no other", () => {
    const count = (file: string) => made.files.get(file)?.match(/clusterctl\.cluster\.x-k8s\.io: ''/g)?.length ?? 0;
    expect(count("cluster-api.yaml")).toBe(7);
    expect(count("cilium.yaml")).toBe(0);
  });

  test("defaults of variables in Cluster API, and shell variables of Cilium unchanged", () => {
    expect(made.files.get("cluster-api.yaml")).toContain("MachinePool=true,ClusterTopology=false");
    expect(made.files.get("cilium.yaml")).toContain("${BIN_PATH}");
  });
});

describe("images", () => {
  test("get the names of a mirror; those of no mirror are reported", () => {
    const mirrors = [expectOk(parseMirror("registry.k8s.io=m.example/k8s")), expectOk(parseMirror("quay.io=m.example/quay"))];
    const made = expectOk(makeBundle(sources, { ...settings, mirrors }));
    expect(made.entries.flatMap(({ images }) => images)).toEqual([
      "m.example/k8s/cluster-api/cluster-api-controller:v1.14.2",
      "m.example/k8s/cluster-api/kubeadm-bootstrap-controller:v1.14.2",
      "m.example/k8s/cluster-api/kubeadm-control-plane-controller:v1.14.2",
      "gcr.io/k8s-staging-cluster-api/capd-manager:v1.14.0",
      "m.example/quay/cilium/cilium:v1.20.2",
    ]);
    expect(made.warnings).toEqual(["gcr.io/k8s-staging-cluster-api/capd-manager:v1.14.0 is at no mirror; its name is unchanged"]);
  });

  const mirrors = ["docker.io=m/hub", "quay.io=m/q", "quay.io/cilium=m/c", "localhost:5000=m/l"].map((text) => expectOk(parseMirror(text)));
  const rows = [
    { name: "a short name is in docker.io/library", given: "nginx:1", want: "m/hub/library/nginx:1" },
    { name: "an owner is in docker.io", given: "istio/proxyv2@sha256:ab", want: "m/hub/istio/proxyv2@sha256:ab" },
    { name: "the longest prefix is used", given: "quay.io/cilium/cilium:1", want: "m/c/cilium:1" },
    { name: "a prefix ends at a slash", given: "quay.io/ciliumx/a", want: "m/q/ciliumx/a" },
    { name: "a registry with a port", given: "localhost:5000/a", want: "m/l/a" },
    { name: "another registry", given: "quay.iox/a", want: undefined },
  ];
  test.each(rows)("$name", ({ given, want }) => {
    expect(mirroredName(given, mirrors)).toBe(want);
  });
  test.each(["a", "a=", "=b", "a=b=c", "a b=c", "https://a=b"])("%s is not a mirror", (text) => {
    expect(parseMirror(text).ok).toBe(false);
  });
  test("a field image outside containers is not an image", () => {
    const object = {
      apiVersion: "v1",
      kind: "X",
      metadata: { name: "a" },
      spec: { image: "x", containers: [{ image: 1 }, "y", { image: "z" }] },
    };
    expect(imagesOf([object])).toEqual(["z"]);
  });
});

describe("variables", () => {
  const rows: { name: string; given: string; values?: Record<string, string>; want: string }[] = [
    { name: "a default", given: "a=${A:=x}, ${B:-y}, ${C=z}", want: "a=x, y, z" },
    { name: "an empty default", given: `[\${A:=}\${B:=""}\${C:=''}]`, want: "[]" },
    { name: "a value", given: "${A:=x}${B}", values: { A: "1", B: "2" }, want: "12" },
    { name: "a prefix that is replaced", given: "${R/#arn/role: arn}", values: { R: "arn:1" }, want: "role: arn:1" },
    { name: "a prefix without a value", given: "[${R/#arn/role: arn}]", want: "[]" },
    { name: "a prefix that does not fit", given: "${R/#arn/x}", values: { R: "b" }, want: "b" },
    { name: "a name of Object.prototype", given: "${constructor:=c}", want: "c" },
  ];
  test.each(rows)("$name", ({ given, values = {}, want }) => {
    expect(expectOk(substituteVariables(given, new Map(Object.entries(values)))).text).toBe(want);
  });
  test("a value that no manifest uses is reported", () => {
    expect(expectOk(makeBundle(sources, { ...settings, variables: new Map([["NOWHERE", "x"]]) })).warnings).toEqual([
      "no component has a variable NOWHERE",
    ]);
  });
});

describe("documents", () => {
  test("of a List are objects of the component", () => {
    const list = `apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}\n`;
    expect(expectOk(makeBundle(withCilium(list), settings)).entries.at(-1)).toMatchObject({ objects: 1 });
  });
  test("that are metadata of clusterctl are left out, and that is reported", () => {
    const metadata = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries: []\n";
    const made = expectOk(makeBundle(withCilium(metadata, CONFIG), settings));
    expect(made.warnings).toEqual(["left out: f0.yaml: Metadata of clusterctl, which is not an object of a cluster"]);
  });

  const bomb = `a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n`;
  const rows: { name: string; given: ComponentSource[]; want: string }[] = [
    { name: "a YAML bomb", given: withCilium(bomb), want: "aliases are not accepted" },
    { name: "a document that is no object", given: withCilium("a: 1\n"), want: "f0.yaml: a document is not an object with apiVersion" },
    { name: "broken YAML", given: withCilium("a: [\n"), want: "f0.yaml:" },
    { name: "more than 10 MiB", given: withCilium(`# ${"x".repeat(10 * 1024 * 1024)}`), want: "is larger than 10 MiB" },
    { name: "no object", given: withCilium("---\n"), want: "component cilium has no object" },
    { name: "an object twice", given: withCilium(CONFIG, CONFIG), want: "component cilium: ConfigMap b/a is there twice" },
    {
      name: "no namespace",
      given: withCilium(CONFIG.replace(", namespace: b", "")),
      want: "component cilium: ConfigMap a has no namespace",
    },
    {
      name: "too many objects",
      given: withCilium("---\n{apiVersion: v1, kind: X, metadata: {name: a}}\n".repeat(5_001)),
      want: "more than 5000",
    },
    { name: "a missing component", given: sources.slice(1), want: "component cluster-api is missing; add --from cluster-api=FILE" },
    {
      name: "no infrastructure",
      given: sources.filter(({ name }) => !name.startsWith("infra")),
      want: "infrastructure-PROVIDER is missing",
    },
    { name: "an unknown component", given: [...sources, { name: "flux", version: "1", files: [] }], want: '"flux" is not a component' },
    { name: "a path as a name", given: [{ name: "infrastructure-../x", version: "1", files: [] }], want: "is not a component" },
    { name: "a component twice", given: [...sources, ...sources], want: "component cluster-api is given twice" },
    { name: "an invalid version", given: [{ name: "cilium", version: "a b", files: [] }], want: '"a b" is not a version' },
  ];
  test.each(rows)("with $name are refused", ({ given, want }) => {
    expect(makeBundle(given, settings)).toMatchObject({
      ok: false,
      error: { kind: "source", message: expect.stringContaining(want) as string },
    });
  });

  test.each([
    {
      name: "without a value",
      text: "x: ${MISSING} ${ALSO}",
      want: "has variables without a default: ALSO, MISSING; use --set NAME=VALUE",
    },
    { name: "in an unknown form", text: "x: ${A^^}", want: "${A^^} is not a form of variable that is supported" },
  ])("with variables $name are refused", ({ text, want }) => {
    const given = [{ name: "cluster-api", version: "1", files: [{ path: "core.yaml", text }] }, ...sources.slice(1)];
    expect(makeBundle(given, settings)).toMatchObject({ error: { message: expect.stringContaining(`core.yaml: ${want}`) as string } });
  });
});

describe("property: hostile text is refused or read, never an exception", () => {
  test("as bundle.json", () => {
    fc.assert(fc.property(fc.json(), (text) => !parseManifest(text).ok || text.includes("components")));
    fc.assert(fc.property(fc.string(), (text) => !parseManifest(text).ok));
  });
  test("as a component", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => typeof makeBundle(withCilium(text), settings).ok === "boolean"),
      { numRuns: 50 },
    );
  });
  test("as a variable: text without ${ is unchanged", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const read = substituteVariables(text, new Map());
        return text.includes("${") || (read.ok && read.value.text === text);
      }),
    );
  });
});
