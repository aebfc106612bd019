/** The recorded responses that the embedded API server does not reproduce exactly, each with its reason. All others must match. */
export type HttpException = { readonly area: string; readonly name: string; readonly step: number; readonly reason: string };

export type HttpResult = {
  readonly area: string;
  readonly name: string;
  readonly fails: readonly { readonly step: number; readonly diff?: unknown; readonly error?: unknown }[];
};

export const HTTP_EXCEPTIONS: readonly HttpException[] = [
  {
    area: "discovery",
    name: "openapi-v3",
    step: 2,
    reason: "schemas are served without the descriptions of their fields: the tables that they are generated from do not have them",
  },
];

/** The problems of one case: steps that differ without an exception, and exceptions for steps that match. */
export function problemsOf({ area, name, fails }: HttpResult, exceptions: readonly HttpException[]): readonly string[] {
  const excepted = new Set(exceptions.filter((one) => one.area === area && one.name === name).map(({ step }) => step));
  const failed = new Set(fails.map(({ step }) => step));
  return [
    ...fails.filter(({ step }) => !excepted.has(step)).map((fail) => `differs: ${JSON.stringify(fail, null, 1)}`),
    ...[...excepted].filter((step) => !failed.has(step)).map((step) => `step ${step} matches; remove its exception`),
  ];
}
