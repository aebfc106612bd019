import { expect, test } from "vitest";
import { realServer } from "../../rest/server.test-support.ts";

const CONFIGURATION = "/.well-known/openid-configuration";
const KEYS = "/openid/v1/jwks";

test("clients can read the issuer, the address of its keys, and the keys", async () => {
  const { ask } = realServer({ address: () => "host:1" });
  const configuration = await ask("GET", CONFIGURATION);
  expect(JSON.parse(configuration.body as string)).toEqual({
    issuer: "https://kubernetes.default.svc.cluster.local",
    jwks_uri: "https://host:1/openid/v1/jwks",
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["ES256"],
  });
  expect(configuration.response.headers).toMatchObject({ "content-type": "application/json", "cache-control": "public, max-age=3600" });
  const keys = await ask("GET", KEYS, { headers: { accept: "*/*" } });
  expect(keys.response.headers["content-type"]).toBe("application/jwk-set+json");
  expect(JSON.parse(keys.body as string)).toMatchObject({ keys: [{ kty: "EC", use: "sig", alg: "ES256", crv: "P-256" }] });
});

test.each([
  { name: "keys as plain JSON", method: "GET", url: KEYS, want: 406 },
  { name: "the keys by POST", method: "POST", url: KEYS, want: 405 },
  { name: "a path below the keys", method: "GET", url: `${KEYS}/x`, want: 404 },
  { name: "the parent path of the keys", method: "GET", url: "/openid/v1", want: 404 },
  { name: "the configuration with a trailing slash", method: "GET", url: `${CONFIGURATION}/`, want: 200 },
])("a request for $name gets $want", async ({ method, url, want }) => {
  const { ask } = realServer();
  expect((await ask(method, url)).status).toBe(want);
});
