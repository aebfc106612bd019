import { describe, expect, test } from "vitest";
import { expectOk, FakeClock, reveal } from "#base";
import { inClusterConfig } from "./in-cluster.ts";

const PEM = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";
const live = new AbortController().signal;

type Files = Readonly<Record<string, string>>;
const reading = (files: Files) => (path: string) => {
  const file = Object.hasOwn(files, path) ? files[path] : undefined;
  return file === undefined ? Promise.reject(Object.assign(new Error("ENOENT"), { code: "ENOENT" })) : Promise.resolve(file);
};

describe("in a pod", () => {
  const folder = "/var/run/secrets/kubernetes.io/serviceaccount";
  const files = { [`${folder}/token`]: "t1", [`${folder}/ca.crt`]: PEM, [`${folder}/namespace`]: "lattice-system\n" };
  const env = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };
  const inPod = (given: Files, environment: Record<string, string> = env) =>
    inClusterConfig({ env: environment, clock: new FakeClock(), readFile: reading(given) });

  test("the service account is the identity", async () => {
    const config = expectOk(await inPod(files));
    expect(config).toMatchObject({ server: "https://10.0.0.1", certificateAuthority: PEM, namespace: "lattice-system" });
    const { token } = expectOk(await config.credentials.get(live));
    expect(token && reveal(token)).toBe("t1");
  });

  test("the address may be IPv6, and the namespace may be unknown", async () => {
    const { [`${folder}/namespace`]: _namespace, ...rest } = files;
    const config = expectOk(await inPod(rest, { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "6443" }));
    expect(config).toMatchObject({ server: "https://[fd00::1]:6443", namespace: undefined });
  });

  const rows: { name: string; given: () => ReturnType<typeof inPod>; want: string }[] = [
    {
      name: "outside of one",
      given: () => inPod(files, {}),
      want: "this is not a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set",
    },
    { name: "with an invalid address", given: () => inPod(files, { ...env, KUBERNETES_SERVICE_PORT: "x" }), want: "are not an address" },
    {
      name: "without a token",
      given: () => inPod({ [`${folder}/ca.crt`]: PEM }),
      want: `${folder}/token does not exist; set automountServiceAccountToken`,
    },
    {
      name: "without a CA",
      given: () => inPod({ [`${folder}/token`]: "t" }),
      want: `${folder}/ca.crt does not exist; set automountServiceAccountToken`,
    },
  ];
  test.each(rows)("$name it is an error with the reason", async ({ given, want }) => {
    const config = await given();
    expect(config.ok ? "" : config.error.message).toContain(want);
  });
});
