export { LIMITS } from "./limits.ts";
export { listen, type Listener, type ListenOptions } from "./listener.ts";
export { parseTokenFile, singleToken, userOf, type TokenTable } from "./token-file.ts";
