/** A small API server in memory with scripted faults, for tests. See scripted-api.ts for what it is not. */
export type { FaultRates, Faults, RequestFault, StreamFault } from "./faults.ts";
export type { ParsedRequest } from "./request.ts";
export { ScriptedApi, type LogEntry } from "./scripted-api.ts";
