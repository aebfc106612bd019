#!/usr/bin/env node
// Replays cases/*.json against a Kubernetes-like API server.
//   node replay.mjs --url https://127.0.0.1:6443 [--token lattice-admin-token] [--user alice=TOKEN] [--user bob=TOKEN]
//                   [--cases DIR] [--area a,b] [--case substring] [--mode strict|tolerant] [--verbose N] [--json out.json] [--quiet] [--fast]
// Columns: strict = whole normalised answer (messages, managedFields, identity of uid/resourceVersion across the case); tolerant = status code, Status reason/causes,
//   spec/data/status/labels/... without server-generated metadata and without messages; tol+mf = tolerant plus managedFields (without times).
// No dependencies. Node >= 18. Exit code 0 when every selected case passes in the chosen mode (default strict).
import http from 'node:http';
import https from 'node:https';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));
/** Folder with tls.crt, tls.key and ca.crt for the webhook server; the caller creates them (see http.test.ts). */
export function pkiDir() { if (!process.env.ORACLE_PKI) throw new Error('set ORACLE_PKI to a folder with ca.crt, tls.crt and tls.key'); return process.env.ORACLE_PKI; }
export const USER_AGENT = 'lattice-oracle/1.0';
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const TS_IN = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const isObj = (x) => x !== null && typeof x === 'object' && !Array.isArray(x);
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

// ---------------------------------------------------------------- JSON helpers
export function getPath(obj, p) { // 'metadata.labels.a', '/definitions/x~1y', 'items.0.metadata.uid', 'items[name=x].y'
  const segs = p.startsWith('/') ? p.slice(1).split('/').map((s) => s.replace(/~1/g, '/').replace(/~0/g, '~')) : p.match(/(?:[^.[]|\[[^\]]*\])+/g);
  let cur = obj;
  for (const s of segs) {
    if (cur === undefined || cur === null) return undefined;
    const m = /^(\w*)\[([^=]+)=([^\]]*)\]$/.exec(s);
    if (m) {
      const arr = m[1] ? cur[m[1]] : cur;
      if (!Array.isArray(arr)) return undefined;
      cur = arr.find((e) => e && String(m[2].includes('.') ? getPath(e, m[2]) : e[m[2]]) === m[3]);
    } else cur = cur[s];
  }
  return cur;
}
export function deepEqual(a, b) {
  if (a === b) return true;
  if (typeof a !== typeof b || a === null || b === null || typeof a !== 'object') return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a)) return a.length === b.length && a.every((x, i) => deepEqual(x, b[i]));
  const ka = Object.keys(a), kb = Object.keys(b);
  return ka.length === kb.length && ka.every((k) => Object.prototype.hasOwnProperty.call(b, k) && deepEqual(a[k], b[k]));
}
export function diff(exp, act, p = '', out = []) {
  if (out.length > 40) return out;
  if (deepEqual(exp, act)) return out;
  if (isObj(exp) && isObj(act)) {
    for (const k of new Set([...Object.keys(exp), ...Object.keys(act)])) {
      if (!(k in act)) out.push(`${p}.${k}: missing (expected ${short(exp[k])})`);
      else if (!(k in exp)) out.push(`${p}.${k}: unexpected ${short(act[k])}`);
      else diff(exp[k], act[k], `${p}.${k}`, out);
    }
  } else if (Array.isArray(exp) && Array.isArray(act)) {
    if (exp.length !== act.length) out.push(`${p}: length ${act.length} (expected ${exp.length})`);
    for (let i = 0; i < Math.min(exp.length, act.length); i++) diff(exp[i], act[i], `${p}[${i}]`, out);
  } else out.push(`${p}: got ${short(act)} expected ${short(exp)}`);
  return out;
}
const short = (v) => { const s = JSON.stringify(v); return s && s.length > 240 ? s.slice(0, 240) + '…' : String(s); };

// ---------------------------------------------------------------- templating
export function subst(v, vars) {
  if (typeof v === 'string') {
    const whole = /^\$\{(\w+)\}$/.exec(v);
    if (whole && whole[1] in vars) return vars[whole[1]];
    return v.replace(/\$\{(\w+)\}/g, (m, k) => (k in vars ? String(vars[k]) : m));
  }
  if (Array.isArray(v)) return v.map((x) => subst(x, vars));
  if (isObj(v)) return Object.fromEntries(Object.entries(v).map(([k, x]) => [subst(k, vars), subst(x, vars)]));
  return v;
}

// ---------------------------------------------------------------- normalisation
function literals(c) { // every scalar a case itself sends: such values are never replaced by placeholders
  const set = new Set();
  const w = (v) => {
    if (Array.isArray(v)) v.forEach(w);
    else if (isObj(v)) Object.values(v).forEach(w);
    else if (typeof v === 'string' || typeof v === 'number') set.add(String(v));
  };
  for (const s of c.steps) { w(s.body); w(s.path); if (s.bodyText) set.add(s.bodyText); }
  w(c.webhooks);
  for (const s of c.steps) if (s.bodyText) for (const m of s.bodyText.matchAll(/[\w.:-]+/g)) set.add(m[0]);
  return set;
}
function rvLiterals(c) { // resource versions that the case itself writes down (never placeholders)
  const set = new Set();
  const w = (v, k) => {
    if (Array.isArray(v)) v.forEach((x) => w(x, k));
    else if (isObj(v)) for (const [kk, x] of Object.entries(v)) w(x, kk);
    else if (k === 'resourceVersion') set.add(String(v));
  };
  for (const s of c.steps) { w(s.body); for (const m of String(s.path || '').matchAll(/resourceVersion=(\d+)/g)) set.add(m[1]); }
  return set;
}
function keyLiterals(c, key) {
  const set = new Set();
  const w = (v) => { if (Array.isArray(v)) v.forEach(w); else if (isObj(v)) for (const [k, x] of Object.entries(v)) { if (k === key && typeof x === 'string' && x) set.add(x); w(x); } };
  for (const s of c.steps) w(s.body);
  return set;
}
export class Normaliser {
  constructor(c, env) { this.lit = literals(c); this.rvLit = rvLiterals(c); this.genLits = keyLiterals(c, 'generateName'); this.env = env; this.uid = new Map(); this.rv = new Map(); this.gen = new Map(); this.now = Date.now(); }
  idx(map, v) { if (!map.has(v)) map.set(v, map.size + 1); return map.get(v); }
  str(s) {
    if (this.lit.has(s) && !this.env.WEBHOOK_URL.startsWith(s)) return s;
    for (const [g, ph] of this.gen) if (s.includes(g)) s = s.split(g).join(ph);
    for (const g of this.genLits) if (s.includes(g)) s = s.replace(new RegExp(g.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') + '[a-z0-9]{5}(?![a-z0-9])', 'g'), (m) => (this.lit.has(m) ? m : `<gen:${g}:5>`));
    if (TS.test(s)) { const t = Date.parse(s); if (Math.abs(t - this.now) < 4 * 86400e3) return /\.\d+/.test(s) ? '<ts.micro>' : '<ts>'; }
    s = s.replace(TS_IN, (m) => (Math.abs(Date.parse(m) - this.now) < 4 * 86400e3 ? '<ts>' : m));
    s = s.replace(UUID, (m) => (this.lit.has(m) ? m : `<uid:${this.idx(this.uid, m)}>`));
    s = s.replace(/(too old resource version: \d+ \()\d+\)/g, '$1<rv>)')
      .replace(/(Too large resource version: \d+, current: )\d+/g, '$1<rv>')
      .replace(/(ResourceVersion in (?:precondition|object meta): )(\d+)/g, (m, a, n) => a + (this.rvLit.has(n) ? n : `<rv:${this.idx(this.rv, n)}>`))
      .replace(/(ResourceVersion in (?:the precondition|record) \()(\d+)\)/g, (m, a, n) => `${a}${this.rvLit.has(n) ? n : `<rv:${this.idx(this.rv, n)}>`})`)
      .replace(/(resourceVersion\\*"?:\\*"?)(\d+)/g, (m, a, n) => a + (this.rvLit.has(n) ? n : `<rv:${this.idx(this.rv, n)}>`))
      .replace(/\?hash=[0-9A-F]+/g, '?hash=<hash>')
      .replace(/\b\d{8}T\d{6}Z\b/g, '<ts>');
    if (this.env.WEBHOOK_URL) s = s.split(this.env.WEBHOOK_URL).join('<webhook>').split(this.env.WEBHOOK_URL.replace('https://', '')).join('<webhook-addr>');
    if (this.env.HOSTPORT) s = s.split(this.env.HOSTPORT).join('<server>');
    s = s.replace(/dial tcp 127\.0\.0\.1:1: .*refused/g, 'dial tcp 127.0.0.1:1: connect: connection refused');
    return s;
  }
  norm(v, key = '', parent = null, ctx = {}) {
    if (Array.isArray(v)) {
      if (key === 'managedFields') {
        const a = v.map((x) => this.norm(x, '', v, ctx));
        const k = (m) => [m.operation, m.manager, m.apiVersion, m.subresource || ''].join('|');
        return a.sort((x, y) => (k(x) < k(y) ? -1 : k(x) > k(y) ? 1 : 0));
      }
      if (key === 'causes' && v.length > 1 && v.every((x) => x && x.reason === 'FieldManagerConflict')) { // order is random on the real server
        return v.map((x) => this.norm(x, '', v, ctx)).sort((x, y) => (x.field + x.message < y.field + y.message ? -1 : 1));
      }
      return v.map((x) => this.norm(x, key === 'clusterIPs' ? 'clusterIP' : key, parent, ctx));
    }
    if (isObj(v)) {
      // generated names first, so that every later mention of the name is covered
      const md = v.metadata;
      if (isObj(md) && md.generateName && typeof md.name === 'string' && md.name.startsWith(md.generateName) && !this.lit.has(md.name)) {
        if (!this.gen.has(md.name)) this.gen.set(md.name, `<gen:${md.generateName}:${md.name.length - md.generateName.length}:${this.gen.size + 1}>`);
      }
      const isList = Array.isArray(v.items) || Array.isArray(v.rows) || (typeof v.kind === 'string' && /List$/.test(v.kind));
      const isBookmark = v.type === 'BOOKMARK';
      const out = {};
      if (Array.isArray(v.rows) && Array.isArray(v.columnDefinitions)) ctx = { ...ctx, cols: v.columnDefinitions };
      if (isBookmark) ctx = { ...ctx, bookmark: true };
      for (const [k, x] of Object.entries(v)) {
        if (k === 'resourceVersion' && typeof x === 'string' && /^\d+$/.test(x) && !this.rvLit.has(x)) {
          out[k] = ctx.listMeta || ctx.bookmark ? '<rv>' : `<rv:${this.idx(this.rv, x)}>`;
        } else if (k === 'metadata' && isObj(x)) out[k] = this.norm(x, k, v, { ...ctx, listMeta: isList });
        else if (k === 'continue' && typeof x === 'string' && x) out[k] = '<continue>';
        else if (k === 'token' && typeof x === 'string' && x.length > 100) out[k] = '<token>';
        else if (k === 'caBundle' && typeof x === 'string') out[k] = x === this.env.WEBHOOK_CA ? '<ca>' : x;
        else if ((k === 'nodePort' || k === 'healthCheckNodePort') && typeof x === 'number' && !this.lit.has(String(x))) out[k] = '<nodePort>';
        else if (k === 'cells' && Array.isArray(x)) out[k] = this.cells(x, ctx.cols || this.cols);
        else out[this.str(k)] = this.norm(x, k, v, k === 'items' || k === 'object' ? { ...ctx, listMeta: false } : ctx);
      }
      if (ctx.cols && v.columnDefinitions && v.columnDefinitions.length) this.cols = v.columnDefinitions;
      return out;
    }
    if (typeof v === 'string') {
      if (key === 'clusterIP' && /^\d+\.\d+\.\d+\.\d+$/.test(v) && !this.lit.has(v)) return '<clusterIP>';
      return this.str(v);
    }
    return v;
  }
  cells(cells, cols) {
    return cells.map((c, i) => {
      const col = cols && cols[i];
      if (col && (col.name === 'Age' || col.type === 'date' || /last seen/i.test(col.name)) && (typeof c === 'string') && (/^(\d+[smhd])+$/.test(c) || c === '<invalid>')) return '<age>';
      if (col && /cluster-?ip/i.test(col.name) && /^\d+\.\d+\.\d+\.\d+$/.test(String(c)) && !this.lit.has(c)) return '<clusterIP>';
      return this.norm(c);
    });
  }
}

// ---------------------------------------------------------------- tolerant projection: what a client really depends on
const META_DROP = ['uid', 'resourceVersion', 'creationTimestamp', 'managedFields', 'selfLink'];
export function tolerant(v, mf = false) { // mf: keep managedFields (without times)
  if (Array.isArray(v)) return v.map((x) => tolerant(x, mf));
  if (!isObj(v)) return typeof v === 'string' ? v.replace(/<rv:\d+>/g, '<rv>').replace(/<uid:\d+>/g, '<uid>') : v;
  if (v.kind === 'Status' && 'status' in v) {
    const d = v.details || {};
    const out = { kind: 'Status', status: v.status, reason: v.reason, code: v.code, details: { name: d.name, kind: d.kind } };
    if (d.causes) out.details.causes = d.causes.map((c) => `${c.reason || ''}:${c.field || ''}`).sort();
    return JSON.parse(JSON.stringify(out));
  }
  if (typeof v.kind === 'string' && /AccessReview$/.test(v.kind) && v.status) return { kind: v.kind, allowed: v.status.allowed, denied: v.status.denied ?? false };
  if (Array.isArray(v.columnDefinitions)) {
    return { kind: v.kind, columnDefinitions: v.columnDefinitions.map((c) => ({ name: c.name, type: c.type, priority: c.priority })), rows: (v.rows || []).map((r) => ({ cells: r.cells })) };
  }
  const out = {};
  for (const [k, x] of Object.entries(v)) {
    if (k === 'metadata' && isObj(x)) {
      const m = {};
      for (const [mk, mv] of Object.entries(x)) {
        if (mk === 'managedFields' && mf) { m[mk] = mv.map(({ time, ...r }) => r); continue; }
        if (META_DROP.includes(mk)) continue;
        m[mk] = tolerant(mv, mf);
      }
      out[k] = m;
    } else if (k === 'storageVersionHash' || k === 'serverAddressByClientCIDRs' || k === 'hash') continue;
    else if (k === 'verbs' && Array.isArray(x)) out[k] = [...x].sort();
    else if (k === 'metadata.managedFields' && mf && Array.isArray(x)) out[k] = x.map(({ time, ...r }) => r);
    else if (/^metadata\.(uid|resourceVersion|creationTimestamp|managedFields)$/.test(k)) continue;
    else if (k === 'message' && typeof x === 'string') continue;
    else if (k === 'description') continue;
    else out[k] = tolerant(x, mf);
  }
  return out;
}
function tolerantExpect(e, mf = false) {
  const o = { status: e.status, body: typeof e.body === 'string' ? e.body : tolerant(e.body, mf) };
  if (e.warnings && e.warnings.length) o.warnings = e.warnings.length;
  return o;
}
export function compare(exp, act) {
  const strict = deepEqual(exp, act);
  const tol = strict || deepEqual(tolerantExpect(exp), tolerantExpect(act));
  const tolMf = strict || (tol && deepEqual(tolerantExpect(exp, true), tolerantExpect(act, true)));
  return { strict, tolerant: tol, tolerantMf: tolMf, strictDiff: strict ? [] : diff(exp, act), tolerantDiff: tol ? [] : diff(tolerantExpect(exp), tolerantExpect(act)) };
}

// ---------------------------------------------------------------- HTTP
export class Client {
  constructor(opts) {
    this.base = new URL(opts.url);
    this.users = { admin: opts.token, ...opts.users };
    this.mod = this.base.protocol === 'https:' ? https : http;
    this.agent = new this.mod.Agent({ keepAlive: true, maxSockets: 16, rejectUnauthorized: false });
    this.requests = 0;
  }
  open(method, p, headers, body, as) {
    this.requests++;
    const h = { 'User-Agent': USER_AGENT, Accept: 'application/json' };
    for (const [k, v] of Object.entries(headers || {})) {
      const ex = Object.keys(h).find((x) => x.toLowerCase() === k.toLowerCase());
      if (ex) delete h[ex];
      if (v !== null) h[k] = v;
    }
    if (as !== 'anonymous') h.Authorization = `Bearer ${this.users[as] ?? as}`;
    if (body !== undefined) {
      if (!Object.keys(h).some((k) => k.toLowerCase() === 'content-type')) h['Content-Type'] = 'application/json';
      h['Content-Length'] = Buffer.byteLength(body);
    }
    return new Promise((resolve, reject) => {
      const req = this.mod.request({ host: this.base.hostname, port: this.base.port, path: (this.base.pathname === '/' ? '' : this.base.pathname) + p, method, headers: h, agent: this.agent, rejectUnauthorized: false }, (res) => resolve({ req, res }));
      req.on('error', reject);
      req.setTimeout(60000, () => req.destroy(new Error('timeout')));
      if (body !== undefined) req.write(body);
      req.end();
    });
  }
  async request(method, p, headers, body, as) {
    const { res } = await this.open(method, p, headers, body, as);
    const chunks = [];
    for await (const ch of res) chunks.push(ch);
    return { status: res.statusCode, headers: res.headers, rawHeaders: res.rawHeaders, text: Buffer.concat(chunks).toString('utf8') };
  }
}
class Watch { // newline-delimited stream of watch events
  constructor(req, res) {
    this.req = req; this.res = res; this.events = []; this.closed = false; this.buf = ''; this.waiters = [];
    res.setEncoding('utf8');
    res.on('data', (d) => {
      this.buf += d;
      let i;
      while ((i = this.buf.indexOf('\n')) >= 0) {
        const line = this.buf.slice(0, i); this.buf = this.buf.slice(i + 1);
        if (line.trim()) { try { this.events.push(JSON.parse(line)); } catch { this.events.push({ unparsable: line }); } }
      }
      this.wake();
    });
    const end = () => { if (this.closed) return; if (this.buf.trim()) { try { this.events.push(JSON.parse(this.buf)); } catch { this.events.push({ unparsable: this.buf }); } this.buf = ''; } this.closed = true; this.wake(); };
    res.on('end', end); res.on('close', end); res.on('error', end);
  }
  wake() { this.waiters.splice(0).forEach((f) => f()); }
  async read({ events, timeoutMs, quietMs = 150, untilClosed = false }, dflt = 8000) {
    timeoutMs ??= dflt;
    const deadline = Date.now() + timeoutMs;
    const enough = () => this.closed || (!untilClosed && events !== undefined && this.events.length >= events);
    while (!enough() && Date.now() < deadline) await Promise.race([new Promise((r) => this.waiters.push(r)), sleep(Math.max(1, deadline - Date.now()))]);
    if (!this.closed && !untilClosed && quietMs) await sleep(quietMs); // catches spurious extra events
    const got = this.events.splice(0);
    return got;
  }
  close() { this.req.destroy(); this.res.destroy(); }
}

// ---------------------------------------------------------------- webhook server
export class WebhookServer {
  constructor(pki) { this.pki = pki; this.handlers = {}; this.calls = []; }
  async start() {
    this.server = https.createServer({ key: fs.readFileSync(path.join(this.pki, 'tls.key')), cert: fs.readFileSync(path.join(this.pki, 'tls.crt')) }, (req, res) => {
      const chunks = [];
      req.on('data', (c) => chunks.push(c));
      req.on('end', async () => {
        const u = new URL(req.url, 'https://x');
        let review; try { review = JSON.parse(Buffer.concat(chunks).toString('utf8')); } catch { review = { unparsable: true }; }
        const h = this.handlers[u.pathname];
        this.calls.push({ path: u.pathname, query: u.search, method: req.method, contentType: req.headers['content-type'], review });
        if (!h) { res.statusCode = 404; return res.end('no handler'); }
        if (h.delayMs) await sleep(h.delayMs);
        if (h.httpStatus) { res.statusCode = h.httpStatus; res.setHeader('Content-Type', 'text/plain'); return res.end(h.raw ?? 'error'); }
        if (h.raw !== undefined) { res.setHeader('Content-Type', 'application/json'); return res.end(h.raw); }
        if (h.conversion) { // CRD conversion webhook: canned transformations
          const rq = review.request;
          const conv = rq.objects.map((o) => convertObject(o, rq.desiredAPIVersion, h.conversion));
          res.setHeader('Content-Type', 'application/json');
          return res.end(JSON.stringify({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', response: { uid: rq.uid, result: { status: 'Success' }, convertedObjects: conv } }));
        }
        const response = { uid: h.uid ?? review.request?.uid, allowed: h.allowed !== false };
        if (h.patch) { response.patch = Buffer.from(JSON.stringify(h.patch)).toString('base64'); response.patchType = h.patchType ?? 'JSONPatch'; }
        for (const k of ['status', 'warnings', 'auditAnnotations']) if (h[k]) response[k] = h[k];
        res.setHeader('Content-Type', 'application/json');
        res.end(JSON.stringify({ apiVersion: h.apiVersion ?? 'admission.k8s.io/v1', kind: h.kind ?? 'AdmissionReview', response }));
      });
    });
    await new Promise((r) => this.server.listen(0, '127.0.0.1', r));
    this.url = `https://127.0.0.1:${this.server.address().port}`;
    this.ca = fs.readFileSync(path.join(this.pki, 'ca.crt')).toString('base64');
  }
  stop() { this.server?.closeAllConnections?.(); this.server?.close(); }
}
function convertObject(o, desired, spec) {
  const out = JSON.parse(JSON.stringify(o));
  out.apiVersion = desired;
  const to = desired.split('/').pop(), from = o.apiVersion.split('/').pop();
  const rules = spec[`${from}->${to}`] || [];
  for (const r of rules) { // {move:[srcPath,dstPath]}
    const [src, dst] = r.move;
    const sp = src.split('.'), dp = dst.split('.');
    let s = out; for (const k of sp.slice(0, -1)) s = s?.[k];
    if (!s || !(sp.at(-1) in s)) continue;
    const val = s[sp.at(-1)]; delete s[sp.at(-1)];
    let d = out; for (const k of dp.slice(0, -1)) d = d[k] ??= {};
    d[dp.at(-1)] = val;
  }
  return out;
}

// ---------------------------------------------------------------- running one case
function parseBody(r) {
  const ct = r.headers['content-type'] || '';
  if (/json/.test(ct) || /^[[{]/.test(r.text.trim())) { try { return JSON.parse(r.text); } catch { return r.text; } }
  return r.text;
}
function untilOk(u, status, body) {
  if (u.status !== undefined && status !== u.status) return false;
  for (const [p, want] of Object.entries(u.match || {})) {
    const got = getPath(body, p);
    if (want === '*' ? got === undefined : want === null ? got !== undefined : !deepEqual(got, want)) return false;
  }
  if (u.minItems !== undefined && (body?.items?.length ?? 0) < u.minItems) return false;
  return true;
}
/** runs the case; onStep(step, index, actual) gets {status, contentType, warnings?, body} already normalised. */
export async function runCase(c, client, hooks, onStep) {
  const env = { WEBHOOK_URL: hooks?.url ?? '', WEBHOOK_CA: hooks?.ca ?? '', HOSTPORT: client.base.host };
  const vars = { ...env };
  const nz = new Normaliser(c, env);
  const watches = {};
  if (hooks) { hooks.handlers = c.webhooks ? JSON.parse(JSON.stringify(c.webhooks)) : {}; hooks.calls = []; }
  try {
    for (let i = 0; i < c.steps.length; i++) {
      const s = c.steps[i];
      let act, meta = {};
      try {
        if (s.op === 'sleep') { await sleep(s.ms); continue; }
        if (s.op === 'webhookReset') { hooks.calls = []; if (s.handlers) Object.assign(hooks.handlers, s.handlers); continue; }
        if (s.op === 'webhookCalls') {
          const calls = hooks.calls.splice(0).map((x, n) => ({ ...x, n })).sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.n - b.n)).map(({ n, ...x }) => x);
          act = { status: 200, body: nz.norm({ calls }) };
        } else if (s.op === 'watchRead') {
          const w = watches[s.id];
          const evs = await w.read(subst(s.watch, vars), client.watchMs);
          captureAll(s, { events: evs }, vars);
          act = { status: 200, body: shapeWatch(nz, evs, s, w.closed) };
          if (s.watch.close !== false) w.close();
        } else {
          const p = subst(s.path, vars);
          const headers = subst(s.headers || {}, vars);
          const bodyTxt = s.bodyGen ? s.bodyGen.prefix + Array(s.bodyGen.count).fill(s.bodyGen.repeat).join(s.bodyGen.sep ?? '') + s.bodyGen.suffix : s.bodyText !== undefined ? subst(s.bodyText, vars) : s.body !== undefined ? JSON.stringify(subst(s.body, vars)) : undefined;
          const as = subst(s.as || 'admin', vars);
          if (s.op === 'watchStart' || s.watch) {
            const { req, res } = await client.open(s.method || 'GET', p, headers, bodyTxt, as);
            const ct = res.headers['content-type'];
            if (res.statusCode !== 200) {
              const chunks = []; for await (const ch of res) chunks.push(ch);
              act = mkAct(nz, s, { status: res.statusCode, headers: res.headers, rawHeaders: res.rawHeaders, text: Buffer.concat(chunks).toString('utf8') });
            } else {
              const w = new Watch(req, res);
              if (s.op === 'watchStart') { watches[s.id] = w; act = { status: 200, contentType: ct }; } else {
                const evs = await w.read(s.watch, client.watchMs);
                captureAll(s, { events: evs }, vars);
                act = { status: 200, contentType: ct, body: shapeWatch(nz, evs, s, w.closed) };
                w.close();
              }
            }
          } else {
            let r, body;
            const deadline = Date.now() + Math.min(s.until?.timeoutMs ?? 15000, client.untilMs ?? 1e9);
            let n = 0;
            for (;;) {
              r = await client.request(s.method, p, headers, bodyTxt, as);
              body = parseBody(r);
              if (!s.until || untilOk(s.until, r.status, body) || Date.now() > deadline) break;
              await sleep(n++ < 20 ? 50 : 200);
            }
            if (s.until && !untilOk(s.until, r.status, body)) meta.untilTimedOut = true;
            if (s.until?.settleMs) await sleep(s.until.settleMs);
            captureAll(s, body, vars);
            act = mkAct(nz, s, r, body);
          }
        }
      } catch (e) {
        act = { status: 0, error: String(e && e.message || e) };
      }
      await onStep(s, i, act, meta);
    }
  } finally { for (const w of Object.values(watches)) w.close(); if (hooks) hooks.handlers = {}; }
}
function captureAll(s, body, vars) { for (const [k, p] of Object.entries(s.capture || {})) { const v = getPath(body, p); if (v !== undefined) vars[k] = v; } }
function shapeWatch(nz, evs, s, closed) {
  let list = evs;
  if (s.watch?.bookmarks === 'drop') list = list.filter((e) => e.type !== 'BOOKMARK');
  if (s.watch?.bookmarks === 'collapse') { // at least one, position ignored
    const bm = list.filter((e) => e.type === 'BOOKMARK'); list = list.filter((e) => e.type !== 'BOOKMARK');
    if (bm.length) list.push(bm[bm.length - 1]);
  }
  const out = { events: nz.norm(list) };
  if (s.watch?.untilClosed) out.closedByServer = closed;
  return out;
}
function mkAct(nz, s, r, body = parseBody(r)) {
  const warnings = [];
  for (let i = 0; i < r.rawHeaders.length; i += 2) if (r.rawHeaders[i].toLowerCase() === 'warning') warnings.push(nz.str(r.rawHeaders[i + 1]));
  const act = { status: r.status, contentType: (r.headers['content-type'] || '').replace(/;\s*/g, ';') };
  if (warnings.length) act.warnings = warnings.sort();
  for (const h of s.keepHeaders || []) (act.headers ??= {})[h] = r.headers[h] === undefined ? null : nz.str(r.headers[h]);
  if (s.ignoreBody) return act;
  let nb = typeof body === 'string' ? nz.str(body) : nz.norm(body);
  if (r.status < 400) { // errors are always compared whole
    if (s.pick) { const o = {}; for (const p of s.pick) o[p] = getPath(nb, p) ?? null; nb = o; }
    if (s.names) { const arr = getPath(nb, s.names); nb = Array.isArray(arr) ? arr.map((x) => x.metadata?.name ?? x.name) : nb; }
    if (s.keysOf) { const o = getPath(nb, s.keysOf); nb = isObj(o) ? Object.keys(o).sort() : nb; }
  }
  act.body = nb;
  return act;
}

// ---------------------------------------------------------------- main
export function loadCases(dir, filter = {}) {
  return fs.readdirSync(dir).filter((f) => f.endsWith('.json')).sort()
    .flatMap((f) => { const j = JSON.parse(fs.readFileSync(path.join(dir, f), 'utf8')); return Array.isArray(j) ? j : [j]; })
    .filter((c) => (!filter.areas || filter.areas.includes(c.area)) && (!filter.name || c.name.includes(filter.name)));
}
async function main() {
  const args = process.argv.slice(2);
  const opt = { users: { alice: 'lattice-alice-token', bob: 'lattice-bob-token' }, token: 'lattice-admin-token', cases: path.join(HERE, 'cases'), mode: 'strict', verbose: 3 };
  for (let i = 0; i < args.length; i++) {
    const a = args[i], v = args[i + 1];
    if (a === '--url') { opt.url = v; i++; } else if (a === '--token') { opt.token = v; i++; } else if (a === '--cases') { opt.cases = v; i++; }
    else if (a === '--user') { const k = v.indexOf('='); opt.users[v.slice(0, k)] = v.slice(k + 1); i++; } else if (a === '--area') { opt.areas = v.split(','); i++; }
    else if (a === '--case') { opt.name = v; i++; } else if (a === '--mode') { opt.mode = v; i++; } else if (a === '--verbose') { opt.verbose = Number(v); i++; }
    else if (a === '--fast') opt.fast = true;
    else if (a === '--json') { opt.json = v; i++; } else if (a === '--quiet') opt.quiet = true;
    else { console.error(`unknown argument ${a}`); process.exit(2); }
  }
  if (!opt.url) { console.error('usage: replay.mjs --url URL [--token T] [--user alice=T] [--area a,b] [--case s] [--mode strict|tolerant] [--verbose N] [--json F]'); process.exit(2); }
  const cases = loadCases(opt.cases, { areas: opt.areas, name: opt.name });
  const client = new Client(opt);
  if (opt.fast) { client.untilMs = 1500; client.watchMs = 1500; } // for servers that are still far from passing
  const hooks = new WebhookServer(pkiDir());
  await hooks.start();
  const areas = {}; const results = [];
  const t0 = Date.now();
  for (const c of cases) {
    const a = (areas[c.area] ??= { cases: 0, strict: 0, tolerantMf: 0, tolerant: 0, steps: 0, stepStrict: 0, stepTolerant: 0 });
    a.cases++;
    const r = { name: c.name, area: c.area, strict: true, tolerant: true, tolerantMf: true, fails: [] };
    const tc = Date.now();
    await runCase(c, client, hooks, (s, i, act) => {
      if (!s.expect) return;
      a.steps++;
      const cmp = compare(s.expect, JSON.parse(JSON.stringify(act)));
      if (cmp.strict) a.stepStrict++; else r.strict = false;
      if (cmp.tolerant) a.stepTolerant++; else r.tolerant = false;
      if (!cmp.tolerantMf) r.tolerantMf = false;
      if (!cmp.strict) r.fails.push({ step: i, req: `${s.op || s.method} ${s.path || s.id || ''}`, tolerantOk: cmp.tolerant, diff: cmp.strictDiff, tolerantDiff: cmp.tolerantDiff, error: act.error });
    });
    r.ms = Date.now() - tc;
    if (r.strict) a.strict++;
    if (r.tolerant) a.tolerant++;
    if (r.tolerantMf) a.tolerantMf++;
    results.push(r);
    const bad = opt.mode === 'strict' ? !r.strict : !r.tolerant;
    if (bad && !opt.quiet) {
      console.log(`FAIL ${c.area}/${c.name}`);
      for (const f of r.fails.filter((x) => opt.mode === 'strict' || !x.tolerantOk).slice(0, opt.verbose)) {
        console.log(`   step ${f.step} ${f.req}${f.error ? ' ERROR ' + f.error : ''}`);
        for (const d of (opt.mode === 'strict' ? f.diff : f.tolerantDiff).slice(0, opt.verbose * 3)) console.log(`      ${d}`);
      }
    }
  }
  const secs = (Date.now() - t0) / 1000;
  const tot = { cases: 0, strict: 0, tolerantMf: 0, tolerant: 0, steps: 0, stepStrict: 0, stepTolerant: 0 };
  const pad = (s, n) => String(s).padEnd(n);
  console.log(`\n${pad('area', 18)}${pad('strict', 12)}${pad('tol+mf', 12)}${pad('tolerant', 12)}${pad('steps strict', 16)}steps tolerant`);
  for (const k of Object.keys(areas).sort()) {
    const a = areas[k]; for (const f of Object.keys(tot)) tot[f] += a[f];
    console.log(`${pad(k, 18)}${pad(`${a.strict}/${a.cases}`, 12)}${pad(`${a.tolerantMf}/${a.cases}`, 12)}${pad(`${a.tolerant}/${a.cases}`, 12)}${pad(`${a.stepStrict}/${a.steps}`, 16)}${a.stepTolerant}/${a.steps}`);
  }
  console.log(`${pad('TOTAL', 18)}${pad(`${tot.strict}/${tot.cases}`, 12)}${pad(`${tot.tolerantMf}/${tot.cases}`, 12)}${pad(`${tot.tolerant}/${tot.cases}`, 12)}${pad(`${tot.stepStrict}/${tot.steps}`, 16)}${tot.stepTolerant}/${tot.steps}   ${secs.toFixed(1)}s, ${client.requests} requests`);
  if (opt.json) fs.writeFileSync(opt.json, JSON.stringify({ url: opt.url, seconds: secs, requests: client.requests, areas, total: tot, results }, null, 1));
  hooks.stop(); client.agent.destroy();
  process.exitCode = (opt.mode === 'strict' ? tot.strict : tot.tolerant) === tot.cases ? 0 : 1;
  setTimeout(() => process.exit(), 300).unref();
}
if (process.argv[1] && fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) main().catch((e) => { console.error(e); process.exit(2); });
