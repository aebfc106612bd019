export { providerInventory, reducedCapiCrds, type ReducedProvider } from "./reduced-capi/index.ts";
