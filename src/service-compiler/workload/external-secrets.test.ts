/** Values that only External Secrets knows: they are joined in the cluster. */
import { describe, expect, test } from "vitest";
import { compiled, mainContainer, type CompiledObjects } from "../../../test/builders/service-input.ts";

const store = (name: string, kind = "SecretStore") => ({ kind, name });
const bindings = {
  b: {
    bindings: {
      app: { external: { storeRef: store("vault"), key: "apps/api", refreshInterval: "30m" } },
      other: { external: { storeRef: store("aws", "ClusterSecretStore"), key: "other", refreshInterval: "5m" }, keys: { token: "TOKEN" } },
    },
  },
};
const outside = (given: Readonly<Record<string, unknown>>): CompiledObjects => compiled(mainContainer(given), { bindings });

test("a variable becomes an ExternalSecret that creates the Secret", () => {
  const { find, main } = outside({ variables: { KEY: "${secrets.app.key}", LEVEL: "info" } });
  const labels = { "app.kubernetes.io/name": "api", "app.kubernetes.io/managed-by": "lattice", "lattice.dev/config-type": "secrets" };
  expect(find("ExternalSecret")).toEqual({
    apiVersion: "external-secrets.io/v1",
    kind: "ExternalSecret",
    metadata: { name: "api-external-secrets", namespace: "prod", labels },
    spec: {
      refreshInterval: "30m",
      secretStoreRef: store("vault"),
      target: {
        name: "api-external-secrets",
        creationPolicy: "Owner",
        template: { engineVersion: "v2", metadata: { labels }, data: { KEY: "{{ .value0 }}" } },
      },
      data: [{ secretKey: "value0", remoteRef: { key: "apps/api", property: "key" } }],
    },
  });
  expect(main("envFrom")).toEqual([{ configMapRef: { name: "api-env" } }, { secretRef: { name: "api-external-secrets" } }]);
});

test("several stores are read into one Secret, with the shortest refresh interval", () => {
  const { find } = outside({ variables: { A: "${secrets.app.key}", B: "${secrets.other.token}-${secrets.app.key}" } });
  expect(find("ExternalSecret")).toMatchObject({
    spec: {
      refreshInterval: "5m",
      secretStoreRef: store("vault"),
      target: { template: { data: { A: "{{ .value0 }}", B: "{{ .value1 }}-{{ .value0 }}" } } },
      data: [
        { secretKey: "value0", remoteRef: { key: "apps/api", property: "key" } },
        {
          secretKey: "value1",
          remoteRef: { key: "other", property: "TOKEN" },
          sourceRef: { storeRef: store("aws", "ClusterSecretStore") },
        },
      ],
    },
  });
});

test("files are mounted from it", () => {
  const { find, pod, main } = outside({ files: { "/etc/key": { content: "k=${secrets.app.key}\n", mode: "0400" } } });
  expect(find("ExternalSecret", "api-files-external")).toMatchObject({
    spec: { target: { template: { data: { "etc-key": "k={{ .value0 }}\n" } } } },
  });
  expect(pod("volumes")).toEqual([
    {
      name: "files-external",
      secret: { secretName: "api-files-external", defaultMode: 0o600, items: [{ key: "etc-key", path: "etc-key", mode: 0o400 }] },
    },
  ]);
  expect(main("volumeMounts")).toEqual([{ name: "files-external", mountPath: "/etc/key", subPath: "etc-key", readOnly: true }]);
});

describe("braces that Go templates would interpret", () => {
  const rows: readonly { name: string; given: string; want: string }[] = [
    { name: "two of them", given: "a {{ b ${secrets.app.key}", want: 'a {{ "{" }}{ b {{ .value0 }}' },
    { name: "one right before a value", given: "{${secrets.app.key}}", want: '{{ "{" }}{{ .value0 }}}' },
    { name: "three and a value", given: "{{{${secrets.app.key}", want: '{{ "{" }}{{ "{" }}{{ "{" }}{{ .value0 }}' },
    { name: "alone they are harmless", given: '{"k": "${secrets.app.key}"}', want: '{"k": "{{ .value0 }}"}' },
    { name: "closing ones too", given: "${secrets.app.key} }}", want: "{{ .value0 }} }}" },
  ];
  test.each(rows)("$name", ({ given, want }) => {
    const made = outside({ variables: { V: given } }).find("ExternalSecret") as unknown as {
      spec: { target: { template: { data: { V: string } } } };
    };
    expect(made.spec.target.template.data.V).toBe(want);
  });
});

test("names of JavaScript's built-in properties are ordinary names", () => {
  const { find } = outside({ variables: { constructor: "${secrets.app.key}", toString: "${secrets.app.__proto__x}" } });
  expect(find("ExternalSecret")).toMatchObject({
    spec: { target: { template: { data: { constructor: "{{ .value0 }}", toString: "{{ .value1 }}" } } } },
  });
});
