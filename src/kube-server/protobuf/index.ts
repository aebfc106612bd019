export { decodeProtobuf, isProtobuf } from "./decode.ts";
