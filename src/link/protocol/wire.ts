/**
 * Messages as bytes, and the two gRPC methods. gRPC carries bytes, and the code here decodes them: an error of a decoder inside grpc-js would
 * close the stream with a text that users cannot read.
 */
import { fromBinary, toBinary, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { err, fromThrowing, type Result } from "#base";
import { AgentMessageSchema, CellCommandSchema, TunnelFrameSchema } from "./generated/agent_pb.ts";
import { LINK_LIMITS } from "./link-limits.ts";

export type WireCodec<T> = { encode(message: T): Buffer; decode(bytes: Uint8Array): Result<T, string> };

function codecOf<Desc extends DescMessage>(schema: Desc): WireCodec<MessageShape<Desc>> {
  return {
    encode(message) {
      const bytes = toBinary(schema, message);
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    },
    decode(bytes) {
      if (bytes.byteLength > LINK_LIMITS.messageBytes) return err(`${schema.name} has more than ${LINK_LIMITS.messageBytes} bytes`);
      return fromThrowing(
        // a plain Uint8Array, because fields of bytes are views of the same class; unknown fields would be kept in memory
        () => fromBinary(schema, new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength), { readUnknownFields: false }),
        () => `the bytes are not a ${schema.name} of lattice.agent.v1`,
      );
    },
  };
}

export const agentMessageCodec = codecOf(AgentMessageSchema);
export const cellCommandCodec = codecOf(CellCommandSchema);
export const tunnelFrameCodec = codecOf(TunnelFrameSchema);

function method(name: "Connect" | "Tunnel") {
  const same = (bytes: Buffer): Buffer => bytes;
  return {
    path: `/lattice.agent.v1.LatticeAgent/${name}`,
    requestStream: true,
    responseStream: true,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  };
}

export const LINK_METHODS = { connect: method("Connect"), tunnel: method("Tunnel") } as const;
