/** The plugin in a server: the account of a pod, the fields that it adds, and the references that it refuses. */
import { describe, expect, it } from "vitest";
import { ok, silentLogger } from "#base";
import { fieldAt, type Json, type KubeObject } from "#kube";
import { realServer, type TestServer } from "../../rest/server.test-support.ts";
import type { AdmissionPlugin, Attributes } from "../../protocol/admission-port.ts";
import { serviceAccounts } from "./index.ts";

const PATH = "/api/v1/namespaces/default";
const MOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

type Account = { readonly name: string; readonly annotations?: Json; readonly more?: object };

async function serverWith(...accounts: readonly Account[]): Promise<TestServer> {
  const running = realServer({ admission: (context) => [serviceAccounts(context)] });
  for (const account of accounts) await addAccount(running, account);
  return running;
}

async function addAccount({ ask }: TestServer, { name, annotations = {}, more = {} }: Account): Promise<void> {
  const body = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, annotations }, ...more };
  expect((await ask("POST", `${PATH}/serviceaccounts`, { body: body as Json })).status).toBe(201);
}

function pod(spec: object = {}, metadata: object = {}): Json {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", ...metadata },
    spec: { containers: [{ name: "c", image: "i" }], ...spec },
  };
}

/** The plugin alone, with the context of a server. */
function pluginOf({ server, clock }: TestServer): AdmissionPlugin {
  const { store, types } = server;
  const authorize = () => ({ allowed: true, reason: "" });
  return serviceAccounts({ store, types, clock, random: () => 0, logger: silentLogger, closing: new AbortController().signal, authorize });
}

function debugged({ server }: TestServer, object: Json): Attributes {
  const type = server.types.find("", "v1", "pods");
  if (type === undefined) throw new Error("there are pods");
  return {
    operation: "UPDATE",
    type,
    kind: type.resource,
    subresource: "ephemeralcontainers",
    namespace: "default",
    name: "p",
    user: { name: "u", uid: "", groups: [] },
    dryRun: false,
    options: () => ({}),
    object: object as unknown as KubeObject,
    old: object as unknown as KubeObject,
    warn: () => {},
  };
}

const create = (running: TestServer, given: Json) => running.ask("POST", `${PATH}/pods?dryRun=All`, { body: given });
const volumesOf = (body: Json) => fieldAt(body, "spec", "volumes");

describe("a new pod", () => {
  it("runs as default, with a token mounted in its containers", async () => {
    const running = await serverWith({ name: "default" });
    const { body } = await create(running, pod({ initContainers: [{ name: "i", image: "i" }] }));
    const [volume] = volumesOf(body) as readonly Json[];
    const name = fieldAt(volume, "name");
    expect(name).toMatch(/^kube-api-access-[a-z0-9]{5}$/);
    expect(fieldAt(body, "spec", "serviceAccountName")).toBe("default");
    expect(fieldAt(body, "spec", "serviceAccount")).toBe("default");
    expect(volume).toEqual({
      name,
      projected: {
        sources: [
          { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
          { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
          { downwardAPI: { items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }] } },
        ],
        defaultMode: 420,
      },
    });
    for (const list of ["containers", "initContainers"]) {
      const [container] = fieldAt(body, "spec", list) as readonly Json[];
      expect(fieldAt(container, "volumeMounts")).toEqual([{ name, readOnly: true, mountPath: MOUNT }]);
    }
  });

  it.each([
    { name: "neither pod nor account sets it", account: {}, spec: {}, want: true },
    { name: "the account disables it", account: { automountServiceAccountToken: false }, spec: {}, want: false },
    {
      name: "the pod enables it",
      account: { automountServiceAccountToken: false },
      spec: { automountServiceAccountToken: true },
      want: true,
    },
    { name: "the pod disables it", account: {}, spec: { automountServiceAccountToken: false }, want: false },
  ])("has a token: $want, when $name", async ({ account, spec, want }) => {
    const running = await serverWith({ name: "default", more: account });
    expect(volumesOf((await create(running, pod(spec))).body) !== undefined).toBe(want);
  });

  it("keeps its own mount at that path", async () => {
    const running = await serverWith({ name: "default" });
    const containers = [{ name: "c", image: "i", volumeMounts: [{ name: "v", mountPath: MOUNT }] }];
    const volumes = [{ name: "v", emptyDir: {} }];
    expect(volumesOf((await create(running, pod({ containers, volumes }))).body)).toEqual(volumes);
  });

  it("uses an existing volume of that name", async () => {
    const running = await serverWith({ name: "default" });
    const volumes = [{ name: "kube-api-access-mine", emptyDir: {} }];
    const { body } = await create(running, pod({ volumes }));
    expect(volumesOf(body)).toEqual(volumes);
    const [container] = fieldAt(body, "spec", "containers") as readonly Json[];
    expect(fieldAt(container, "volumeMounts")).toEqual([{ name: "kube-api-access-mine", readOnly: true, mountPath: MOUNT }]);
  });

  it("gets the account's pull secrets, unless it has its own", async () => {
    const running = await serverWith({ name: "default", more: { imagePullSecrets: [{ name: "a" }, { name: "b" }] } });
    const secretsOf = async (spec: object) => fieldAt((await create(running, pod(spec))).body, "spec", "imagePullSecrets");
    expect(await secretsOf({})).toEqual([{ name: "a" }, { name: "b" }]);
    expect(await secretsOf({ imagePullSecrets: [{ name: "own" }] })).toEqual([{ name: "own" }]);
  });

  it("is refused when its account does not exist", async () => {
    const running = await serverWith();
    const refused = await create(running, pod({ serviceAccountName: "x" }));
    expect(refused.status).toBe(403);
    expect(fieldAt(refused.body, "message")).toBe(
      'pods "p" is forbidden: error looking up service account default/x: serviceaccount "x" not found',
    );
  });
});

describe("the account default", () => {
  it("is waited for: it is created shortly after its namespace", async () => {
    const running = await serverWith();
    const answer = create(running, pod());
    await addAccount(running, { name: "other" });
    await addAccount(running, { name: "default" });
    expect((await answer).status).toBe(201);
    expect(running.clock.pending).toBe(0);
  });

  it("is not waited for without a limit", async () => {
    const running = await serverWith();
    const answer = create(running, pod());
    await running.clock.advance(2_000);
    expect(fieldAt((await answer).body, "message")).toBe(
      'pods "p" is forbidden: error looking up service account default/default: serviceaccount "default" not found',
    );
  });

  it("is not waited for when the server closes", async () => {
    const running = await serverWith();
    const answer = create(running, pod());
    running.server.close();
    expect((await answer).status).toBe(403);
    expect(running.clock.pending).toBe(0);
  });
});

describe("an account that lists its secrets", () => {
  const strict: Account = {
    name: "strict",
    annotations: { "kubernetes.io/enforce-mountable-secrets": "true" },
    more: { secrets: [{ name: "ok" }], imagePullSecrets: [{ name: "reg" }] },
  };
  const key = (name: string) => [{ name: "E", valueFrom: { secretKeyRef: { name, key: "k" } } }];
  const notAllowed = "is not allowed because service account strict does not reference that secret";
  it.each([
    { name: "nothing", given: {}, want: undefined },
    { name: "a listed secret", given: { volumes: [{ name: "v", secret: { secretName: "ok" } }] }, want: undefined },
    {
      name: "a volume",
      given: { volumes: [{ name: "v", secret: { secretName: "bad" } }] },
      want: `volume with secret.secretName="bad" ${notAllowed}`,
    },
    {
      name: "a variable",
      given: { containers: [{ name: "c", image: "i", env: key("bad") }] },
      want: `container c with envVar E referencing secret.secretName="bad" ${notAllowed}`,
    },
    {
      name: "a whole environment",
      given: { initContainers: [{ name: "i", image: "i", envFrom: [{ secretRef: { name: "bad" } }] }] },
      want: `init container i with envFrom referencing secret.secretName="bad" ${notAllowed}`,
    },
    {
      name: "a pull secret",
      given: { imagePullSecrets: [{ name: "reg" }, { name: "bad" }] },
      want: 'imagePullSecrets[1].name="bad" is not allowed because service account strict does not reference that imagePullSecret',
    },
  ])("checks $name", async ({ given, want }) => {
    const running = await serverWith(strict);
    const { body } = await create(running, pod({ serviceAccountName: "strict", ...given }));
    expect(fieldAt(body, "message")).toBe(want === undefined ? undefined : `pods "p" is forbidden: ${want}`);
  });

  it("checks ephemeral containers too", async () => {
    const running = await serverWith(strict);
    const plugin = pluginOf(running);
    const debug = (name: string): Json => ({ ephemeralContainers: [{ name: "d", image: "i", env: key(name) }] });
    const validated = (spec: object) => plugin.validate?.(debugged(running, pod(spec)));
    expect(validated({ serviceAccountName: "strict", ...(debug("ok") as object) })).toEqual(ok(undefined));
    expect(validated({ serviceAccountName: "strict", ...(debug("bad") as object) })).toMatchObject({
      error: {
        message: `pods "p" is forbidden: ephemeral container d with envVar E referencing secret.secretName="bad" ${notAllowed}`,
      },
    });
    expect(validated({})).toMatchObject({ error: { message: 'pods "p" is forbidden: no service account specified for pod default/p' } });
    await addAccount(running, { name: "free" });
    expect(validated({ serviceAccountName: "free", ...(debug("bad") as object) })).toEqual(ok(undefined));
  });
});

describe("a mirror pod", () => {
  const mirror = (spec: object): Json => pod({ nodeName: "n", ...spec }, { annotations: { "kubernetes.io/config.mirror": "x" } });
  const volume = (source: object) => ({ volumes: [{ name: "v", ...source }] });
  it.each([
    { name: "accounts", given: { serviceAccountName: "x" }, want: "a mirror pod may not reference service accounts" },
    { name: "secrets", given: volume({ secret: { secretName: "x" } }), want: "a mirror pod may not reference secrets" },
    {
      name: "secrets of a driver",
      given: volume({ csi: { driver: "d", nodePublishSecretRef: { name: "x" } } }),
      want: "a mirror pod may not reference secrets",
    },
    { name: "pull secrets", given: { imagePullSecrets: [{ name: "x" }] }, want: "a mirror pod may not reference secrets" },
    {
      name: "tokens",
      given: volume({ projected: { sources: [{ serviceAccountToken: { path: "t" } }] } }),
      want: "a mirror pod may not use ServiceAccountToken volume projections",
    },
    { name: "none of these", given: {}, want: undefined },
  ])("uses $name", async ({ given, want }) => {
    const running = await serverWith();
    const { body } = await create(running, mirror(given));
    expect(fieldAt(body, "message")).toBe(want === undefined ? undefined : `pods "p" is forbidden: ${want}`);
    if (want === undefined) expect(volumesOf(body)).toBeUndefined();
  });
});
