/** Where the value of a secret path is: `postgres/main-db/password` is key `password` of Secret `postgres-main-db`. */
export function secretOfPath(path: string): { readonly name: string; readonly key: string } {
  const parts = path.split("/");
  return { name: parts.slice(0, -1).join("-"), key: parts.at(-1) ?? "" };
}
