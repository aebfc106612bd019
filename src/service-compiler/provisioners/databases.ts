/** `postgres` and `redis`: a database behind a service of its own, `{id}-postgres` or `{id}-redis`, with its password in the secret store. */
import { ok, type Result } from "#base";
import { joined, plain, type Value } from "../templates/index.ts";
import { closed, encoded, hidden, hostOf, open } from "./outputs.ts";
import { flagParam, portParam, problem, textParam } from "./params.ts";
import type { Output, Provisioner, ResourceProblem, ResourceRequest, ServiceAddress } from "./provisioner.ts";

function behind({ address }: ResourceRequest, suffix: string): ServiceAddress {
  return { namespace: address.namespace, name: `${address.name}-${suffix}` };
}

function passwordOf({ surroundings, address }: ResourceRequest, kind: string): Result<Value, ResourceProblem> {
  const found = surroundings.readSecret(`${kind}/${address.name}/password`);
  return found.ok ? ok(hidden(found.value)) : problem(found.error);
}

/** Parts of a text that is sensitive whole. */
function together(parts: readonly Value[]): Result<Value, ResourceProblem> {
  const value = joined(parts);
  if (value === undefined) return problem("it would mix a value of External Secrets with one from a Secret");
  return ok(hidden(value));
}

export const postgresProvisioner: Provisioner = {
  type: "postgres",
  params: ["port", "database", "username"],
  provision: (request) => {
    const { address, params, surroundings } = request;
    const port = portParam(params, "port", 5432);
    const database = textParam(params, "database", address.name);
    const username = textParam(params, "username", "postgres");
    if (!port.ok) return port;
    if (!database.ok) return database;
    if (!username.ok) return username;
    const peer = { address: behind(request, "postgres"), port: port.value };
    const host = hostOf(peer.address, surroundings.clusterDomain);
    const server = plain(`${host}:${port.value}/`);
    const connection: Output = () => {
      const password = passwordOf(request, "postgres");
      if (!password.ok) return password;
      const user = encoded(username.value);
      return together([plain("postgresql://"), user, plain(":"), encoded(password.value), plain("@"), server, encoded(database.value)]);
    };
    return ok({
      peer,
      outputs: new Map([
        ["host", open(host)],
        ["port", open(String(port.value))],
        ["database", () => ok(database.value)],
        ["url", () => joinedOpenly([plain("postgresql://"), server, encoded(database.value)])],
        ["username", closed(username.value)],
        ["password", () => passwordOf(request, "postgres")],
        ["connection_string", connection],
      ]),
    });
  },
};

/** Sensitive only if a param was. */
function joinedOpenly(parts: readonly Value[]): Result<Value, ResourceProblem> {
  const value = joined(parts);
  return value === undefined ? together(parts) : ok(value);
}

export const redisProvisioner: Provisioner = {
  type: "redis",
  params: ["port", "auth"],
  provision: (request) => {
    const { params, surroundings } = request;
    const port = portParam(params, "port", 6379);
    const auth = flagParam(params, "auth");
    if (!port.ok) return port;
    if (!auth.ok) return auth;
    const peer = { address: behind(request, "redis"), port: port.value };
    const host = hostOf(peer.address, surroundings.clusterDomain);
    const outputs = new Map<string, Output>([
      ["host", open(host)],
      ["port", open(String(port.value))],
      ["url", open(`redis://${host}:${port.value}`)],
    ]);
    if (auth.value) {
      outputs.set("password", () => passwordOf(request, "redis"));
      outputs.set("url_with_auth", () => {
        const password = passwordOf(request, "redis");
        return password.ok ? together([plain("redis://:"), encoded(password.value), plain(`@${host}:${port.value}`)]) : password;
      });
    }
    return ok({ peer, outputs });
  },
};
