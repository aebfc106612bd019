export type { KubeController, KubeControllerContext } from "./context.ts";
export { kubeControllers, type KubeControllersSettings } from "./controllers.ts";
export { follow, SharedInformers } from "./shared-informers.ts";
export { startKubeControllers, type KubeControllersHealth, type KubeControllersOptions, type RunningKubeControllers } from "./start.ts";
export { again, done, failed, passOf, retry, worstPass, type Pass, type WorkOptions } from "./work.ts";
