/**
 * Databases and brokers with a service of their own, `{id}-postgres` and so on, and their password in the secret store. They are not created
 * here. Outputs have the names that the default provisioners of Score's own tools publish.
 */
import { ok, type Result } from "#base";
import { plain, type Value } from "../templates/index.ts";
import { closed, encoded } from "./outputs.ts";
import { flagParam, portParam, problemsIn, textParam } from "./params.ts";
import type { ResourceOutput, Provisioner, ResourceProblem, ProvisionRequest } from "./provisioner.ts";
import { joinedOpenly, joinedSecretly, secretValue, serverOf, type Server } from "./server.ts";

type Database = {
  readonly type: string;
  readonly port: number;
  /** Scheme of its URLs. */
  readonly scheme: string;
  /** Default user: the administrator that the image creates. */
  readonly username: string;
  /** The named object inside of it; also the name of its param and output. */
  readonly inside: "database" | "vhost" | undefined;
};

function databaseProvisioner(database: Database): Provisioner {
  const { type, port: usual, inside } = database;
  return {
    type,
    params: ["port", ...(inside === undefined ? [] : [inside]), "username"],
    provision: (request) => {
      const { params, address } = request;
      const port = portParam(params, "port", usual);
      const name = inside === undefined ? ok(plain("")) : textParam(params, inside, address.name);
      const username = textParam(params, "username", database.username);
      if (!port.ok || !name.ok || !username.ok) return problemsIn([port, name, username]);
      const server = serverOf(request, type, port.value);
      const made = { server, request, username: username.value, name: name.value };
      return ok({ peer: server.peer, outputs: new Map([...openOutputs(database, made), ...closedOutputs(database, made)]) });
    },
  };
}

type Made = { readonly server: Server; readonly request: ProvisionRequest; readonly username: Value; readonly name: Value };
type Outputs = readonly (readonly [string, ResourceOutput])[];

function openOutputs({ scheme, inside }: Database, { server, name }: Made): Outputs {
  const own: ResourceOutput = () => ok(name);
  const names: Outputs = inside === "database" ? [["name", own], ["database", own]] : inside === "vhost" ? [["vhost", own]] : []; // prettier-ignore
  const url: ResourceOutput = () => withAuthority(server, (authority) => joinedOpenly([plain(`${scheme}://`), authority, encoded(name)]));
  return [["host", server.host], ["port", server.port], ...names, ["url", url]]; // prettier-ignore
}

function closedOutputs({ type, scheme }: Database, { server, request, username, name }: Made): Outputs {
  const password = () => secretValue(request, type, "password");
  const connection: ResourceOutput = () => {
    const found = password();
    if (!found.ok) return found;
    const credentials = [encoded(username), plain(":"), encoded(found.value), plain("@")];
    return withAuthority(server, (authority) => joinedSecretly([plain(`${scheme}://`), ...credentials, authority, encoded(name)]));
  };
  // Score publishes it under the name `connection`
  const names = type === "mongodb" ? ["connection", "connection_string"] : ["connection_string"];
  return [["username", closed(username)], ["password", password], ...names.map((output) => [output, connection] as const)];
}

/** `host:port/`. */
function withAuthority(server: Server, make: (authority: Value) => Result<Value, ResourceProblem>): Result<Value, ResourceProblem> {
  const authority = server.authority();
  return authority.ok ? make(plain(`${authority.value}/`)) : authority;
}

export const postgresProvisioner = databaseProvisioner({
  type: "postgres",
  port: 5432,
  scheme: "postgresql",
  username: "postgres",
  inside: "database",
});

export const mysqlProvisioner = databaseProvisioner({ type: "mysql", port: 3306, scheme: "mysql", username: "root", inside: "database" });

export const mongodbProvisioner = databaseProvisioner({
  type: "mongodb",
  port: 27_017,
  scheme: "mongodb",
  username: "root",
  inside: undefined,
});

/** RabbitMQ, or another broker that speaks AMQP. */
export const amqpProvisioner = databaseProvisioner({ type: "amqp", port: 5672, scheme: "amqp", username: "guest", inside: "vhost" });

/** Unless `auth: false` is set it has a user and a password, which are read only when a template uses them. */
export const redisProvisioner: Provisioner = {
  type: "redis",
  params: ["port", "auth", "username"],
  provision: (request) => {
    const { params } = request;
    const port = portParam(params, "port", 6379);
    const auth = flagParam(params, "auth", true);
    const username = textParam(params, "username", "default");
    if (!port.ok || !auth.ok || !username.ok) return problemsIn([port, auth, username]);
    const server = serverOf(request, "redis", port.value);
    const url = (credentials: readonly Value[]) => {
      const authority = server.authority();
      return authority.ok ? joinedOpenly([plain("redis://"), ...credentials, plain(authority.value)]) : authority;
    };
    const password = () => secretValue(request, "redis", "password");
    const outputs = new Map<string, ResourceOutput>([["host", server.host], ["port", server.port], ["url", () => url([])]]); // prettier-ignore
    if (auth.value) {
      outputs.set("username", closed(username.value)).set("password", password);
      // without a user in the URL, Redis authenticates its user `default`
      const user = params.has("username") ? [encoded(username.value)] : [];
      outputs.set("url_with_auth", () => {
        const found = password();
        return found.ok ? url([...user, plain(":"), encoded(found.value), plain("@")]) : found;
      });
    }
    return ok({ peer: server.peer, outputs });
  },
};
