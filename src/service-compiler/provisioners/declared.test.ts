import { describe, expect, test } from "vitest";
import type { JsonObject, KubeObject } from "#kube";
import { declaredProvisioner } from "./declared.ts";
import { registryWith } from "./registry.ts";
import { entry, resolved } from "./resources.test-support.ts";

describe("a resource type that a ConfigMap declares", () => {
  const configMap = (text: string): KubeObject =>
    ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "s3", namespace: "lattice-system", labels: { "lattice.dev/provisioner": "s3" } },
      data: { "provisioner.yaml": text },
    }) as KubeObject;
  const S3 = `
type: s3
params: {region: eu-west-1, bucket: null, port: 9000}
outputs:
  endpoint: https://s3.\${params.region}.test
  who: \${resource.name}/\${resource.id}/\${resource.namespace} in \${cluster.domain}
  hidden: {value: "\${params.region}", sensitive: true}
  key: {secret: "s3/\${resource.id}/key"}
  class: \${resource.class}
  nothing: \${params.other}
  bad: {secret: "\${params.pw}"}
  lost: {secret: nowhere}
peer: {name: "\${resource.id}-s3", port: "\${params.port}"}
`;
  const registry = () => {
    const made = declaredProvisioner(configMap(S3));
    return registryWith(made?.ok === true ? [made.value] : []);
  };
  const made = (params: JsonObject = {}) => resolved([entry("store", { type: "s3", id: "files", params })], registry());

  const rows: readonly { name: string; read: string; params?: JsonObject; want: string }[] = [
    { name: "a default", read: "endpoint", want: "https://s3.eu-west-1.test" },
    { name: "a param", read: "endpoint", params: { region: "us" }, want: "https://s3.us.test" },
    { name: "a param that is a number", read: "endpoint", params: { region: 7 }, want: "https://s3.7.test" },
    { name: "the resource itself", read: "who", want: "store/files/prod in cluster.local" },
    { name: "a value that is declared sensitive", read: "hidden", want: "secret: eu-west-1" },
    { name: "a secret", read: "key", want: "secret: k3y" },
  ];
  test.each(rows)("reads $name", ({ read, params, want }) => expect(made(params).read(`\${resources.store.${read}}`)).toBe(want));

  const wrong: readonly { read: string; params?: JsonObject; want: string }[] = [
    { read: "class", want: "resource.class is not set" },
    { read: "nothing", want: "params.other is not given, and has no default" },
    { read: "bad", params: { pw: "${secrets.a.b}" }, want: "the path of a secret must not be sensitive itself" },
    { read: "lost", want: "there is no secret 'nowhere'" },
  ];
  test.each(wrong)("reports the error of $read", ({ read, params, want }) => {
    const all = made(params);
    all.read(`\${resources.store.${read}}`);
    expect(all.finish().errors[0]).toMatchObject({ message: expect.stringContaining(want) });
  });

  test("declares a call to its peer", () => {
    expect(made().finish().provisioned.get("store")?.peer).toEqual({ address: { namespace: "prod", name: "files-s3" }, port: 9000 });
    expect(made({ port: "x" }).finish().errors[0]).toMatchObject({ message: 'peer.port is "x"; it must be a port' });
    expect(made({ port: "${secrets.a.b}" }).finish().errors[0]).toMatchObject({ message: "peer must not be sensitive" });
  });

  const refused: readonly { given: string; want: string }[] = [
    { given: "a: [", want: "provisioner.yaml: " },
    { given: "type: S3", want: "type must be a name in kebab-case" },
    { given: "type: s3", want: "outputs must have at least one entry" },
    { given: "type: s3\noutputs: {a: {value: x, secret: y}}", want: "outputs.a must be a text, {value: …} or {secret: PATH}" },
    { given: "type: s3\noutputs: {a: b}\npeer: {name: x}", want: "peer must have a name and a port" },
  ];
  test.each(refused)("is refused: $want", ({ given, want }) => {
    const read = declaredProvisioner(configMap(given));
    expect(read?.ok === false && read.error).toContain(want);
  });

  test("other ConfigMaps declare no type", () => {
    expect(declaredProvisioner({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } })).toBeUndefined();
    expect(declaredProvisioner({ ...configMap(""), data: {} } as KubeObject)).toMatchObject({ ok: false });
  });
});
