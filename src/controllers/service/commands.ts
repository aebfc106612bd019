/**
 * Changes of a pass over a LatticeService beside the objects that it applies: the config hash key is created, and the objects that compiling
 * looked up are recorded. Each is safe to repeat.
 */
import type { Sensitive } from "#base";
import type { ServiceKey } from "#compile";
import { failed, settled, type ReconcileOutcome, type Runtime } from "#controller-runtime";
import { deletePatch } from "../delete-patch.ts";
import type { WorldContext } from "../world/followed-world.ts";
import type { SecretValues } from "../world/secret-cache.ts";
import type { CompileRecords } from "./compile-records.ts";
import type { ObservedService } from "./observe.ts";
import { checkPatch, requestPatch, type PatchCommand } from "./patch-commands.ts";
import type { CompileResult } from "./state.ts";

/** State that the passes over all services share. */
export type ServiceShared = WorldContext & { readonly records: CompileRecords };

export type ServiceCommand =
  | { readonly kind: "create-hash-key" }
  | {
      readonly kind: "record";
      readonly key: ServiceKey;
      readonly result: CompileResult;
      readonly hashKey: Sensitive<string> | undefined;
      readonly secrets: SecretValues;
    }
  | PatchCommand;

const NO_SECRETS: SecretValues = new Map();

export function recordCommand(key: ServiceKey, result: CompileResult, { reads }: ObservedService): ServiceCommand {
  const read = reads.kind === "read" ? reads : undefined;
  return { kind: "record", key, result, hashKey: read?.hashKey, secrets: read?.secrets ?? NO_SECRETS };
}

export async function performServiceCommand(command: ServiceCommand, context: Runtime & ServiceShared): Promise<ReconcileOutcome> {
  const { followed, records, client, signal } = context;
  switch (command.kind) {
    case "create-hash-key": {
      const created = await followed.hashKey.create(client, signal);
      return created.ok ? settled : failed(created.error);
    }
    case "record": {
      const { key, result, hashKey, secrets } = command;
      if (hashKey !== undefined) followed.hashKey.keep(hashKey);
      followed.setNeeds(key, result.needs);
      followed.secrets.keep(secrets);
      records.set(key, result.record);
      return settled;
    }
    case "check-patch":
      return checkPatch(command, context);
    case "request-patch":
      return requestPatch(command, context);
    case "release-patch":
      return deletePatch(command.configMap, context);
  }
}
