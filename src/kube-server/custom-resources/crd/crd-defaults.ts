/** Default values of a CRD. */
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import { stringsOf } from "../metadata/object-meta.ts";
import { asList, asObject, text } from "./json-access.ts";

/** Names derived from the kind, the conversion strategy, and the first stored version. */
export function setDefaults(crd: JsonObject): JsonObject {
  const spec = asObject(field(crd, "spec"));
  const status = asObject(field(crd, "status"));
  const names = asObject(field(spec, "names"));
  const kind = text(names, "kind");
  const singular = text(names, "singular") === "" ? kind.toLowerCase() : text(names, "singular");
  const listKind = text(names, "listKind") === "" && kind !== "" ? `${kind}List` : text(names, "listKind");
  const stored = stringsOf(field(status, "storedVersions"));
  const storage = asList(field(spec, "versions")).find((version) => field(version, "storage") === true);
  return {
    ...crd,
    spec: {
      ...spec,
      names: { ...names, ...(singular === "" ? {} : { singular }), ...(listKind === "" ? {} : { listKind }) },
      conversion: withServicePort(field(spec, "conversion")) ?? { strategy: "None" },
    },
    status: { ...status, ...(stored.length === 0 && storage !== undefined ? { storedVersions: [text(storage, "name")] } : {}) },
  };
}

function withServicePort(conversion: Json | undefined): JsonObject | undefined {
  if (!isJsonObject(conversion)) return undefined;
  const webhook = field(conversion, "webhook");
  const client = field(webhook, "clientConfig");
  const service = field(client, "service");
  if (!isJsonObject(service) || !isJsonObject(webhook) || !isJsonObject(client) || field(service, "port") !== undefined) return conversion;
  return { ...conversion, webhook: { ...webhook, clientConfig: { ...client, service: { ...service, port: 443 } } } };
}
