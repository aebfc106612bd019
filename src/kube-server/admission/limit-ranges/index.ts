export { limitRanger } from "./plugin.ts";
