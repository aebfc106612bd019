/** A controller for tests: a Widget becomes `count` ConfigMaps of its colour. Any part of it can be replaced. */
import { ok } from "#base";
import { bindController, defineController, settled, type BoundController, type Controller, type Runtime } from "#controller-runtime";
import { configMap, configMaps, widgets, type Widget } from "./controller-world.ts";

export type Seen = { readonly count: number };
export type Painter = Controller<Widget, Seen, string, Runtime>;

export function painter(more: Partial<Painter> = {}): BoundController {
  const controller = defineController<Widget, Seen, string, Runtime>({
    name: "painter",
    reconciles: widgets,
    owns: [configMaps],
    observe: ({ spec }) => Promise.resolve(ok({ count: spec.count ?? 0 })),
    plan: ({ metadata, spec }, { count }) => {
      const paint = Array.from({ length: count }, (_, at) => configMap(`${metadata.name}-${at}`, { colour: spec.colour ?? "none" }));
      return ok({ apply: paint, commands: [] });
    },
    perform: () => Promise.resolve(settled),
    status: (_widget, { count }) => ({ painted: count }),
    ...more,
  });
  return bindController(controller, (runtime) => runtime);
}
