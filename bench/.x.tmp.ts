import { ScriptedApi } from "../test/builders/scripted-api/index.ts";
const orig = Object.getOwnPropertyDescriptor(ScriptedApi.prototype, "transportFor")!.value;
let n = 0; const counts = new Map<string, number>();
ScriptedApi.prototype.transportFor = function (actor: string) {
  const t = orig.call(this, actor);
  return { close: () => t.close(), send: async (r: any, s: any) => { n++; const k = r.method + (r.path.includes("watch=") ? "W" : "") ; counts.set(k, (counts.get(k) ?? 0) + 1); 
    const a = await t.send(r, s);
    if (n > 3000) { console.log(counts, r.path, JSON.stringify(a).slice(0,300), (this as any).log.slice(-30)); process.exit(1); } return a; } };
};
await import("./.w.tmp.ts");
