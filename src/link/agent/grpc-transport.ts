/**
 * Connections of an agent over gRPC: TLS 1.3, with the agent's certificate, to a server that has both the host of the endpoint and the cell's own name.
 *
 * The cell's name is checked as well, because a host name can be given to another cell. Every connection has a channel of its own: grpc-js would share
 * one, with the old certificate.
 */
import { Client, credentials as grpcCredentials } from "@grpc/grpc-js";
import { checkServerIdentity, createSecureContext, type SecureContext } from "node:tls";
import { fromThrowing, map, reveal, type Result } from "#base";
import { LINK_LIMITS } from "../protocol/link-limits.ts";
import { agentMessageCodec, cellCommandCodec, LINK_METHODS } from "../protocol/wire.ts";
import { clientCallFrames } from "../transport/call-frames.ts";
import { clientCallStream } from "../transport/call-stream.ts";
import type { AgentChannel, AgentCredentials, AgentTransport } from "./agent-types.ts";

type Target = { readonly endpoint: string; readonly cell: string };

const CHANNEL_OPTIONS = {
  "grpc.max_receive_message_length": LINK_LIMITS.messageBytes,
  "grpc.max_send_message_length": LINK_LIMITS.messageBytes,
  "grpc.keepalive_time_ms": 30_000,
  "grpc.keepalive_timeout_ms": 20_000,
  "grpc-node.flow_control_window": LINK_LIMITS.windowBytes,
  "grpc.use_local_subchannel_pool": 1,
  "grpc.service_config_disable_resolution": 1,
  "grpc.enable_retries": 0,
  "grpc.enable_http_proxy": 0,
  "grpc.enable_channelz": 0,
};

export function grpcTransport(target: Target): AgentTransport {
  return { open: (credentials) => map(contextOf(credentials), (context) => channelOf(target, context)) };
}

function channelOf({ endpoint, cell }: Target, context: SecureContext): AgentChannel {
  const host = hostOf(endpoint);
  const cellName = `${cell}.cell.lattice`;
  const secure = grpcCredentials.createFromSecureContext(context, {
    checkServerIdentity: (_name, certificate) => checkServerIdentity(cellName, certificate) ?? checkServerIdentity(host, certificate),
  });
  // the scheme, because a host may have the name of another scheme
  const client = new Client(`dns:${endpoint}`, secure, { ...CHANNEL_OPTIONS, "grpc.ssl_target_name_override": cellName });
  const open = ({ path, requestSerialize, responseDeserialize }: (typeof LINK_METHODS)["connect"]) =>
    client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
  return {
    control: clientCallStream(open(LINK_METHODS.connect), { incoming: cellCommandCodec, outgoing: agentMessageCodec }),
    openTunnel: (closed) => clientCallFrames(open(LINK_METHODS.tunnel), closed),
    close: () => client.close(),
  };
}

function contextOf({ certificate, key, trustBundle }: AgentCredentials): Result<SecureContext, string> {
  return fromThrowing(
    () =>
      createSecureContext({
        cert: certificate,
        key: reveal(key),
        ca: trustBundle,
        minVersion: "TLSv1.3",
        maxVersion: "TLSv1.3",
        ecdhCurve: "P-256:P-384",
      }),
    () => "the certificate, key or trust bundle of the agent is not readable PEM, or they do not belong together",
  );
}

/** Of `host:port` or `[address]:port`. */
function hostOf(endpoint: string): string {
  return endpoint.replace(/:\d+$/, "").replace(/^\[|\]$/g, "");
}
