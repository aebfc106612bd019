export { reducedCapiCrds } from "./definitions.ts";
export { providerInventory, type ReducedProvider } from "./inventory.ts";
