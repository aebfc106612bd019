/** A controller for tests: a Widget becomes `count` ConfigMaps of its colour. Any part of it can be replaced. */
import { ok } from "#base";
import { bindController, defineController, settled, type BoundController, type Controller } from "#controller-runtime";
import { configMap, configMaps, widgets, type Widget } from "./controller-world.ts";

export type ObservedWidget = { readonly count: number };
export type WidgetController = Controller<Widget, ObservedWidget, string>;

export function widgetController(more: Partial<WidgetController> = {}): BoundController {
  const controller = defineController<Widget, ObservedWidget, string>({
    name: "widget",
    reconciles: widgets,
    owns: [configMaps],
    observe: ({ spec }) => Promise.resolve(ok({ count: spec.count ?? 0 })),
    plan: ({ metadata, spec }, { count }) => {
      const apply = Array.from({ length: count }, (_, at) => configMap(`${metadata.name}-${at}`, { colour: spec.colour ?? "none" }));
      return ok({ apply, commands: [] });
    },
    perform: () => Promise.resolve(settled),
    status: (_widget, { count }) => ({ configMaps: count }),
    ...more,
  });
  return bindController(controller, {});
}
