/** What a cell sends, as domain types. `parseCellCommand` is the only way in on the agent's side; it checks the limits. */
import { andThen, err, map, ok, type Result } from "#base";
import { batchAckOf, batchOf, type BatchAckMessage, type BatchMessage } from "./agent-messages.ts";
import type { CellCommand } from "./generated/agent_pb.ts";
import { LINK_TIMES } from "./link-limits.ts";
import { firstFault, idCheck, pemText, textCheck } from "./wire-checks.ts";

export type WelcomeMessage = {
  readonly kind: "welcome";
  readonly protocol: number;
  readonly cellVersion: string;
  readonly heartbeatMs: number;
  readonly trustBundle: string;
};

export type RenewalMessage = {
  readonly kind: "renewal-response";
  /** Empty if it was refused; then `error` has the reason. */
  readonly certificate: string;
  readonly trustBundle: string;
  readonly error: string;
};

/** Commands with an id: each is carried out once and acknowledged. */
export type CellOrder =
  | { readonly kind: "bootstrap"; readonly manifests: Uint8Array }
  | { readonly kind: "pivot"; readonly cluster: string; readonly namespace: string; readonly resources: Uint8Array }
  | { readonly kind: "reconcile" }
  | { readonly kind: "status" };

export type CellPayload =
  | WelcomeMessage
  | RenewalMessage
  | { readonly kind: "order"; readonly id: string; readonly order: CellOrder }
  | { readonly kind: "tunnel"; readonly id: string }
  | BatchMessage
  | BatchAckMessage
  /** A command of a newer cell. With an id it is acknowledged as a failure. */
  | { readonly kind: "unknown"; readonly id: string };

export function parseCellCommand({ command, commandId }: CellCommand): Result<CellPayload, string> {
  switch (command.case) {
    case "bootstrap":
      return orderOf(commandId, { kind: "bootstrap", manifests: command.value.fluxManifests });
    case "pivot": {
      const { clusterName: cluster, capiNamespace: namespace, capiResources: resources } = command.value;
      const checked = firstFault([textCheck("pivot.cluster_name", cluster), textCheck("pivot.capi_namespace", namespace)]);
      return andThen(checked, () => orderOf(commandId, { kind: "pivot", cluster, namespace, resources }));
    }
    case "reconcile":
      return orderOf(commandId, { kind: "reconcile" });
    case "statusRequest":
      return orderOf(commandId, { kind: "status" });
    case "kubernetesRequest": {
      const id = command.value.tunnelId;
      return map(firstFault([idCheck("kubernetes_request.tunnel_id", id)]), () => ({ kind: "tunnel", id }) as const);
    }
    case "resourceBatch":
      return batchOf(command.value);
    case "batchAck":
      return batchAckOf(command.value);
    case "renewalResponse": {
      const error = command.value.errorMessage;
      return andThen(firstFault([textCheck("renewal_response.error_message", error)]), () =>
        andThen(pemText("renewal_response.certificate", command.value.certificate), (certificate) =>
          map(pemText("renewal_response.trust_bundle", command.value.trustBundle), (trustBundle) => {
            return { kind: "renewal-response", certificate, trustBundle, error } as const;
          }),
        ),
      );
    }
    case "welcome":
      return welcomeOf(command.value);
    default:
      return map(firstFault([textCheck("command_id", commandId)]), () => ({ kind: "unknown", id: commandId }) as const);
  }
}

function orderOf(id: string, order: CellOrder): Result<CellPayload, string> {
  return map(firstFault([idCheck("command_id", id)]), () => ({ kind: "order", id, order }));
}

type WelcomeFields = {
  readonly protocolVersion: number;
  readonly cellVersion: string;
  readonly heartbeatSeconds: number;
  readonly trustBundle: Uint8Array;
};

const SHORTEST_HEARTBEAT_S = 1;

function welcomeOf({ protocolVersion, cellVersion, heartbeatSeconds, trustBundle }: WelcomeFields): Result<CellPayload, string> {
  const checked = firstFault([textCheck("welcome.cell_version", cellVersion)]);
  if (!checked.ok) return checked;
  // a period above the cell's own limit would make every stream stale
  if (heartbeatSeconds * 1_000 > LINK_TIMES.staleMs) return err(`welcome.heartbeat_seconds: must be at most ${LINK_TIMES.staleMs / 1_000}`);
  const heartbeatMs = heartbeatSeconds < SHORTEST_HEARTBEAT_S ? LINK_TIMES.heartbeatMs : heartbeatSeconds * 1_000;
  return andThen(pemText("welcome.trust_bundle", trustBundle), (bundle) =>
    ok({ kind: "welcome", protocol: protocolVersion, cellVersion, heartbeatMs, trustBundle: bundle }),
  );
}
