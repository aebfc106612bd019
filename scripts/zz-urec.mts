import { samples } from "/tmp/kinds-diff/samples.mjs";
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
const statusSamples: any = { "apps/v1/deployments": { replicas: 3, readyReplicas: 2, conditions: [{ type: "Available", status: "True" }] }, "v1/pods": { podIP: "1.2.3.4" }, "apps/v1/statefulsets": { replicas: 1, currentReplicas: 1 } };

function oursUpdate(type: any, body: any, previous: any, sub: any) { const d = type.decode(body); if (!d.ok) return { code: 400, message: d.error };
  let o: any = d.value.object; o = { ...o, metadata: { ...o.metadata, ...(type.resource.namespaced ? { namespace: "default" } : {}), resourceVersion: previous.metadata.resourceVersion } };
  o = type.applyDefaults(o); o = type.prepareForUpdate(o, previous, sub); const causes = type.validate(o, previous, sub);
  if (causes.length) return { code: 422, causes }; const g = type.generationOf; if (g && sub === undefined && !jsonEqual(g(o), g(previous))) o = { ...o, metadata: { ...o.metadata, generation: previous.metadata.generation + 1 } }; return { code: 200, object: type.fromStorage(type.toStorage(o)) }; }
const record: any = []; const seen = new Set<string>();
const stats: any = {}; const bad: any[] = [];
for (const [key, sample0] of samples as any) { if (only && !key.includes(only) && only !== "all") continue; const type: any = types.get(key); const r = type.resource; const root = r.group === "" ? `/api/${r.version}` : `/apis/${r.group}/${r.version}`; const coll = `${root}${r.namespaced ? "/namespaces/default" : ""}/${r.plural}`;
  const head0 = { apiVersion: r.group ? `${r.group}/${r.version}` : r.version, kind: r.kind }; const name = sample0.metadata.name === "x:y" ? "upd:y" : key.includes("csidrivers") ? "upd.b.c" : "upd-" + sample0.metadata.name; const sample = { ...head0, ...clone(sample0), metadata: { ...sample0.metadata, name, finalizers: undefined } }; if (key === "v1/pods") sample.spec.schedulingGates = undefined; if (key==="v1/namespaces") delete sample.spec;
  await fetch(BASE + coll + "/" + name + "?gracePeriodSeconds=0", { method: "DELETE" }); if (key !== "v1/namespaces") await new Promise((r) => setTimeout(r, 60));
  const cr = await fetch(BASE + coll, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(sample) }); const created: any = await cr.json(); if (cr.status !== 201 && cr.status !== 409) { console.log("cannot create", key, cr.status, created.message); continue; }
  const st = (stats[key] ??= { n: 0, same: 0, code: 0, causes: 0, object: 0, decode: 0 });
  const hasStatus = type.subresources.has("status");
  for (const sub of hasStatus && mutateArg === "status" ? ["status"] : [undefined]) {
  const base = clone(mutateArg === "status" ? { ...created, status: { ...created.status, ...(statusSamples[key] ?? {}) } } : sample); if (mutateArg === "status") { delete base.metadata.managedFields; delete base.metadata.resourceVersion; }
  const save = mutateArg; const jobs = [...mutants(base)].filter(([n]: any) => !/^(apiVersion|kind)/.test(n) && !/^metadata:(delete|list|str|emptyobj)/.test(n) && !/^metadata.(namespace|name|uid|resourceVersion)/.test(n) && (sub ? /^(status|as is|metadata.(labels|annotations))/.test(n) : true));
  const group: any = { type: key, ...(sub ? { subresource: sub } : {}), body: base, previous: undefined, cases: [] }; record.push(group); for (const [mname, body, mpath, mvalue] of jobs as any) { const prev: any = await (await fetch(BASE + coll + "/" + name)).json(); if (prev.kind === "Status") break; const b = clone(body); if (!type.unconditionalUpdate) b.metadata.resourceVersion = prev.metadata.resourceVersion; const text = JSON.stringify(b);
    const res = await fetch(BASE + coll + "/" + name + (sub ? "/status" : "") + "?dryRun=All", { method: "PUT", headers: { "content-type": "application/json" }, body: text }); const real: any = await res.json(); if (res.status === 409 || res.status === 403) continue; st.n++;
    let mine: any; try { mine = oursUpdate(type, JSON.parse(text), prev, sub); } catch (e: any) { bad.push({ key, name: mname, what: "THROW", mine: e.stack }); continue; }
    if (res.status === 400) { const m = real.message.replace(/^.*? cannot be handled as a \w+: /, ""); if (mine.code === 400 && mine.message === m) st.same++; else { st.decode++; bad.push({ key, name: mname, what: "decode", real: m, mine: mine.message ?? mine.code }); } continue; }
    if (res.status !== mine.code) { st.code++; bad.push({ key, name: mname, what: "code", real: [res.status, real.message], mine: mine.code === 422 ? mine.causes : mine.code }); continue; }
    if (res.status === 422) { const norm = (c: any) => `${c.field}|${c.reason}|${(c.message ?? c.detail)}`.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UID"); const a = (real.details?.causes ?? []).map(norm), c = mine.causes.map(norm); if (JSON.stringify(a) === JSON.stringify(c)) { st.same++; const sig = key + sub + mine.causes.map((x: any) => x.field.replaceAll(/\[\d+\]/g, "[]") + x.detail.replaceAll(/"[^"]*"|-?\d+/g, "").slice(0, 40)).join(); if (!seen.has(sig) && /immutable|forbidden|change|status|decrement/i.test(JSON.stringify(mine.causes)) && group.cases.length < 14) { seen.add(sig); const p2 = clone(prev); delete p2.metadata.managedFields; group.previous ??= p2; group.cases.push({ name: mname, ...(mpath ? { path: mpath, ...(mvalue === undefined ? {} : { value: mvalue }) } : {}), want: { causes: mine.causes.map((x: any) => [x.field, x.reason, x.detail]) } }); } } else { st.causes++; bad.push({ key, name: mname, what: JSON.stringify(a.toSorted()) === JSON.stringify(c.toSorted()) ? "order" : "causes", real: a, mine: c }); } continue; }
    const a = stripAdmission(key, real), c = stripAdmission(key, mine.object); if (!jsonEqual(a, c)) { st.object++; const diffs: string[] = []; const walk = (x: any, y: any, p: string) => { if (jsonEqual(x, y)) return; if (x && y && typeof x === "object" && typeof y === "object" && Array.isArray(x) === Array.isArray(y)) { for (const k of new Set([...Object.keys(x), ...Object.keys(y)])) walk(x[k], y[k], `${p}.${k}`); } else diffs.push(`${p}: real ${JSON.stringify(x)} mine ${JSON.stringify(y)}`); }; walk(a, c, ""); bad.push({ key, name: mname, what: "object", diffs: diffs.slice(0, 6) }); continue; }
    st.same++; if (mname === "as is") { const p2 = clone(prev); delete p2.metadata.managedFields; group.previous ??= p2; group.cases.push({ name: mname, want: { object: a } }); } } } }
const tot = { n: 0, same: 0 }; for (const [k, s] of Object.entries(stats) as any) { tot.n += s.n; tot.same += s.same; console.log(k.padEnd(66), JSON.stringify(s)); } console.log(tot, (100 * tot.same / tot.n).toFixed(1) + "%");
const groups = new Map<string, any[]>(); for (const b of bad) { const sig = b.key + " " + b.what; groups.set(sig, [...(groups.get(sig) ?? []), b]); }
for (const [sig, list] of groups) { console.log("\n##", sig, list.length); for (const b of list.slice(0, verbose)) console.log("  ", b.name, "\n     real", JSON.stringify(b.real ?? b.diffs)?.slice(0, 700), "\n     mine", JSON.stringify(b.mine)?.slice(0, 700)); }

import { writeFileSync } from "node:fs";
if (process.argv[5] === "record") writeFileSync(process.argv[6], JSON.stringify(record.filter((g: any) => g.cases.length && g.previous), null, 1) + "\n");
