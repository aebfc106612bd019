export { serviceAccounts } from "./plugin.ts";
