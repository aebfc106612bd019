export { LIMITS, type Limits } from "./limits.ts";
export { listen, type Listener, type ListenOptions } from "./listener.ts";
