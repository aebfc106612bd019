/** Tokens of a ServiceAccount that differ from a valid one by a single character, as bearer tokens and in a TokenReview. */
import { expect, test } from "vitest";
import { seededRandom } from "#base";
import { fieldAt, type JsonObject } from "#kube";
import type { Exchange, ExchangeResponse } from "../../builders/api-server/exchange.ts";
import { startMeasuredApiServer } from "../../builders/attacks/measured-api-server.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/** Characters that are valid in a header and that a lenient decoder skips. */
const JUNK = "!=+/~*,;é";
const ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts";

test("a token with one changed, added or missing character is rejected everywhere", { timeout: 60_000 }, async () => {
  await using server = await startMeasuredApiServer({ controllers: false });
  const tokens = [await issueToken(server.exchange, {}), await boundToken(server.exchange)];
  for (const token of tokens) expect(await statusWith(server.url, token)).toBe(200);
  const random = seededRandom(11);
  for (let round = 0; round < 400; round += 1) {
    const forged = edit(tokens[round % tokens.length] ?? "", random);
    if (tokens.includes(forged)) continue;
    expect(await statusWith(server.url, forged), forged).toBe(401);
    if (round % 4 === 0) expect(await reviewed(server.exchange, forged), forged).toBe(false);
  }
  for (const token of tokens) {
    for (const last of ALPHABET.replace(token.at(-1) ?? "", "")) {
      expect(await statusWith(server.url, `${token.slice(0, -1)}${last}`), `last character ${last}`).toBe(401);
    }
    for (const tail of ["=", "==", "\n", " x", "\t", "\u0000"]) expect(await reviewed(server.exchange, `${token}${tail}`)).toBe(false);
    expect(await reviewed(server.exchange, token)).toBe(true);
  }
  await server.process.expectWithinLimits("tokens with junk characters");
});

function edit(token: string, random: () => number): string {
  const pick = (below: number) => Math.floor(random() * below);
  const characters = pick(2) === 0 ? ALPHABET : JUNK;
  const at = pick(token.length + 1);
  return `${token.slice(0, at)}${characters[pick(characters.length)] ?? ""}${token.slice(at + pick(2))}`;
}

async function statusWith(url: string, token: string): Promise<number> {
  const answer = await fetch(`${url}/apis`, { headers: { authorization: `Bearer ${token}` } });
  await answer.arrayBuffer();
  return answer.status;
}

async function reviewed(exchange: Exchange, token: string): Promise<boolean> {
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token } };
  const answer = await send(exchange, "/apis/authentication.k8s.io/v1/tokenreviews", body);
  return fieldAt(answer.body, "status", "authenticated") === true;
}

async function boundToken(exchange: Exchange): Promise<string> {
  const spec = { containers: [{ name: "c", image: "i" }] };
  const pod = await send(exchange, "/api/v1/namespaces/default/pods", {
    metadata: { name: "p" },
    spec: { ...spec, serviceAccountName: "sa" },
  });
  const uid = fieldAt(pod.body, "metadata", "uid") as string;
  return issueToken(exchange, { boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "p", uid } });
}

async function issueToken(exchange: Exchange, spec: JsonObject): Promise<string> {
  await exchange.request({ method: "POST", path: ACCOUNTS, body: { metadata: { name: "sa" } } });
  const answer = await send(exchange, `${ACCOUNTS}/sa/token`, { spec: { audiences: [], ...spec } });
  return fieldAt(answer.body, "status", "token") as string;
}

async function send(exchange: Exchange, path: string, body: JsonObject): Promise<ExchangeResponse> {
  const answer = await exchange.request({ method: "POST", path, body });
  expect(answer).toMatchObject({ code: 201 });
  return answer as ExchangeResponse;
}
