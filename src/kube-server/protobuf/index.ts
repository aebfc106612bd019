export { decodeProtobuf, isProtobuf, PROTOBUF } from "./decode.ts";
