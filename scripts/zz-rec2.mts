import { samples } from "/tmp/kinds-diff/extra.mjs";
import { builtinTypes } from "/work/main/src/kube-server/builtin-kinds/index.ts";
import { jsonEqual } from "/work/main/src/kube/json.ts";
const types = builtinTypes(); const BASE = "http://127.0.0.1:25010";
const only = process.argv[2]; const mutateArg = process.argv[3] ?? "mutate"; const verbose = Number(process.argv[4] ?? 3);
const clone = (x: any) => JSON.parse(JSON.stringify(x));
function* leaves(v: any, path: any[] = []): any { if (path.length) yield path; if (Array.isArray(v)) for (const [i, x] of v.entries()) yield* leaves(x, [...path, i]); else if (v && typeof v === "object") for (const k of Object.keys(v)) yield* leaves(v[k], [...path, k]); }
const get = (o: any, p: any[]) => p.reduce((a, k) => a?.[k], o);
function set(o: any, p: any[], v: any) { const parent = get(o, p.slice(0, -1)); if (v === undefined) { if (Array.isArray(parent)) parent.splice(p.at(-1), 1); else delete parent[p.at(-1)]; } else parent[p.at(-1)] = v; }
function* mutants(o: any): any { yield ["as is", o, undefined, undefined]; if (mutateArg === "plain") return;
  for (const p of leaves(o)) { const v = get(o, p); const name = p.join(".");
    const vs: any[] = [["delete", undefined]];
    if (typeof v === "string") vs.push(["empty", ""], ["bad", "BAD_!"], ["num", 5]);
    else if (typeof v === "number") vs.push(["neg", -1], ["zero", 0], ["big", 70000], ["str", "x"]);
    else if (typeof v === "boolean") vs.push(["not", !v], ["str", "x"]);
    else if (Array.isArray(v)) { vs.push(["emptylist", []], ["str", "x"]); if (v.length) vs.push(["dup", [...v, v[0]]]); }
    else if (v && typeof v === "object") vs.push(["emptyobj", {}], ["list", []], ["unknown", { ...v, unknownField: 1 }]);
    for (const [n, x] of vs) { const m = clone(o); set(m, p, x); yield [`${name}:${n}`, m, p, x]; } } }
function stripAdmission(key: string, o: any) { o = clone(o); delete o.metadata?.uid; delete o.metadata?.creationTimestamp; delete o.metadata?.managedFields; delete o.metadata?.namespace; 
  if (key === "v1/pods" && o.spec) { for (const k of ["serviceAccountName", "serviceAccount", "priority", "preemptionPolicy"]) delete o.spec[k]; o.spec.tolerations = (o.spec.tolerations ?? []).filter((t: any) => !/node.kubernetes.io\/(not-ready|unreachable)/.test(t.key)); if (!o.spec.tolerations.length) delete o.spec.tolerations; }
  if (key === "v1/services" && o.spec) { for (const k of ["clusterIP", "clusterIPs"]) if (o.spec[k] && !JSON.stringify(o.spec[k]).includes("None")) delete o.spec[k]; for (const p of o.spec.ports ?? []) delete p.nodePort; }
  if (key === "v1/persistentvolumes" || key==="v1/persistentvolumeclaims"||key==="storage.k8s.io/v1/storageclasses") delete o.metadata.finalizers;
  const s = JSON.stringify(o).replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UID"); const q = JSON.parse(s); for (const c of q.status?.conditions ?? []) c.lastTransitionTime = "T"; if (q.status?.lastPhaseTransitionTime) q.status.lastPhaseTransitionTime = "T"; if (key === "v1/nodes" && q.spec?.taints) { q.spec.taints = q.spec.taints.filter((t: any) => t.key !== "node.kubernetes.io/not-ready"); if (!q.spec.taints.length) delete q.spec.taints; } return q; }
function ours(type: any, body: any) { const d = type.decode(body); if (!d.ok) return { code: 400, message: d.error };
  let o: any = d.value.object; o = { ...o, metadata: { ...o.metadata, ...(type.resource.namespaced ? { namespace: "default" } : {}), uid: "11111111-2222-3333-4444-555555555555", creationTimestamp: "2024-01-01T00:00:00Z" } };
  o = type.applyDefaults(o); o = type.prepareForCreate(o); const causes = type.validate(o, undefined, undefined); const w = type.warnings(o, undefined);
  if (causes.length) return { code: 422, causes, findings: d.value.findings }; return { code: 201, object: type.fromStorage(type.toStorage(o)), warnings: [...d.value.findings, ...w] }; }
const record: any = { samples: [], cases: [] }; const seen = new Set<string>();
const strip = (x: any): any => JSON.parse(JSON.stringify(x));
function note(key: string, index: number, name: string, path: any, value: any, want: any, sig: string) { if (seen.has(sig)) return; seen.add(sig); record.cases.push({ sample: index, name, ...(path ? { path, ...(value === undefined ? {} : { value }) } : {}), want }); }
const stats: any = {}; const bad: any[] = [];
for (const [key, sample] of samples as any) { if (only && !key.includes(only) && only !== "all") continue; const type: any = types.get(key);
  if (!type) { console.log("no type", key); continue; } const r = type.resource; const root = r.group === "" ? `/api/${r.version}` : `/apis/${r.group}/${r.version}`; const path = `${root}${r.namespaced ? "/namespaces/default" : ""}/${r.plural}?dryRun=All`;
  const jobs = [...mutants({ apiVersion: r.group ? `${r.group}/${r.version}` : r.version, kind: r.kind, ...sample })].filter(([n]: any) => !/^(apiVersion|kind)/.test(n) && !/^metadata:(delete|list|str)/.test(n) && !/^metadata.namespace/.test(n));
  const sindex = record.samples.length; record.samples.push({ type: key, body: sample }); const st = (stats[key] ??= { n: 0, same: 0, code: 0, causes: 0, object: 0, decode: 0, warn: 0 });
  await Promise.all([0, 1, 2, 3].map(async (w) => { for (let i = w; i < jobs.length; i += 4) { const [name, body, mpath, mvalue] = jobs[i] as any; const gen = (f: string) => f.replaceAll(/\[\d+\]/g, "[]").replaceAll(/^spec\.(jobTemplate\.spec\.)?template\.spec/g, "POD"); const text = JSON.stringify(body); if (body.metadata && !body.metadata.name) continue;
    const res = await fetch(BASE + path, { method: "POST", headers: { "content-type": "application/json" }, body: text }); const real: any = await res.json(); if (res.status === 409 || res.status === 403) continue; st.n++;
    const realWarn = (res.headers.get("warning") ?? ""); let mine: any; try { mine = ours(type, JSON.parse(text)); } catch (e: any) { bad.push({ key, name, what: "THROW", mine: e.stack }); continue; }
    if (res.status === 400) { const m = real.message.replace(/^.*? cannot be handled as a \w+: /, ""); if (mine.code === 400 && mine.message === m) { st.same++; const k = m.replace(/field \S+/, "field").slice(0, 90); note(key, sindex, name, mpath, mvalue, { error: m }, "400" + k); } else { st.decode++; bad.push({ key, name, what: "decode", real: m, mine: mine.message ?? mine.code }); } continue; }
    if (res.status !== mine.code) { st.code++; bad.push({ key, name, what: "code", real: [res.status, real.message], mine: mine.code === 422 ? mine.causes : mine }); continue; }
    if (res.status === 422) { const norm = (c: any) => `${c.field}|${c.reason}|${(c.message ?? c.detail)}`.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UID"); const a = (real.details?.causes ?? []).map(norm), b = mine.causes.map(norm); if (JSON.stringify(a) === JSON.stringify(b) ) { st.same++; const fresh = mine.causes.filter((c: any) => !seen.has(`${/^spec.*template.spec/.test(c.field) ? "" : key}${gen(c.field)}${c.detail.replaceAll(/"[^"]*"|-?\d+/g, "").slice(0, 60)}`)); if (fresh.length && mine.causes.length < 7) { for (const c of mine.causes) seen.add(`${/^spec.*template.spec/.test(c.field) ? "" : key}${gen(c.field)}${c.detail.replaceAll(/"[^"]*"|-?\d+/g, "").slice(0, 60)}`); note(key, sindex, name, mpath, mvalue, { causes: mine.causes.map((c: any) => [c.field, c.reason, c.detail]) }, "422" + key + name); } } else { st.causes++; bad.push({ key, name, what: JSON.stringify(a.toSorted()) === JSON.stringify(b.toSorted()) ? "order" : "causes", real: a, mine: b }); } continue; }
    const a = stripAdmission(key, real), b = stripAdmission(key, mine.object); if (!jsonEqual(a, b)) { st.object++; const diffs: string[] = []; const walk = (x: any, y: any, p: string) => { if (jsonEqual(x, y)) return; if (x && y && typeof x === "object" && typeof y === "object" && Array.isArray(x) === Array.isArray(y)) { for (const k of new Set([...Object.keys(x), ...Object.keys(y)])) walk(x[k], y[k], `${p}.${k}`); } else diffs.push(`${p}: real ${JSON.stringify(x)} mine ${JSON.stringify(y)}`); }; walk(a, b, ""); bad.push({ key, name, what: "object", diffs: diffs.slice(0, 6) }); continue; }
    const rw = [...realWarn.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map((m) => JSON.parse(`"${m[1]}"`)).toSorted(); const mw = [...new Set(mine.warnings)].toSorted(); if (JSON.stringify(rw) !== JSON.stringify(mw) && !/deprecated in v1.33/.test(rw.join())) { st.warn++; bad.push({ key, name, what: "warn", real: rw, mine: mw }); continue; }
    st.same++; if (name === "as is") note(key, sindex, name, undefined, undefined, { object: a, ...(mw.length ? { warnings: mw } : {}) }, "201" + sindex); else if (mw.length && mw.some((w: any) => !seen.has("w" + w))) { for (const w of mw as any) seen.add("w" + w); note(key, sindex, name, mpath, mvalue, { warnings: mw }, "w201" + key + name); } } })); }
const tot = { n: 0, same: 0 }; for (const [k, s] of Object.entries(stats) as any) { tot.n += s.n; tot.same += s.same; console.log(k.padEnd(66), JSON.stringify(s)); } console.log(tot, (100 * tot.same / tot.n).toFixed(1) + "%");
const groups = new Map<string, any[]>(); for (const b of bad) { const sig = b.key + " " + b.what; groups.set(sig, [...(groups.get(sig) ?? []), b]); }
for (const [sig, list] of groups) { console.log("\n##", sig, list.length); for (const b of list.slice(0, verbose)) console.log("  ", b.name, "\n     real", JSON.stringify(b.real ?? b.diffs)?.slice(0, 700), "\n     mine", JSON.stringify(b.mine)?.slice(0, 700)); }

import { writeFileSync } from "node:fs";
if (process.argv[5] === "record") writeFileSync("/work/main/src/kube-server/builtin-kinds/generated/x-extra.json", JSON.stringify(record, null, 1) + "\n");
