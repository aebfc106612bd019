import { afterEach, describe, expect, it } from "vitest";
import { err, expectOk, ok, sensitive } from "#base";
import { createCertificateAuthority, issueCertificate } from "#pki";
import { encodeAgentPayload } from "../protocol/encode-messages.ts";
import { LINK_TIMES } from "../protocol/link-limits.ts";
import { MemoryLink } from "./memory-link.test-support.ts";

const links: MemoryLink[] = [];

function newLink(): MemoryLink {
  const link = new MemoryLink();
  links.push(link);
  return link;
}

afterEach(async () => {
  for (const link of links.splice(0)) {
    await link.close();
    expect(link.clock.pending).toBe(0);
  }
});

function warnings(link: MemoryLink) {
  return link.logs.filter(({ level }) => level === "warn");
}

describe("renewal", () => {
  const now = Date.UTC(2026, 0, 1);
  const authority = expectOk(
    createCertificateAuthority({ commonName: "cell c", notBefore: new Date(now - 1e6), notAfter: new Date(now + 1e12) }),
  );
  const dates = { notBefore: new Date(now - 1e6), notAfter: new Date(now + 1e9) };
  const issue = () => expectOk(issueCertificate(authority, { commonName: "a", usages: ["client"], ...dates }));

  function renewable() {
    const link = newLink();
    const fresh = issue();
    let credentials = { certificate: "old", key: sensitive("old"), trustBundle: "" };
    let isDue = true;
    const agent = link.start("a", {
      credentials: () => credentials,
      renewal: { due: () => isDue, request: () => ok({ csr: "CSR", key: fresh.key }) },
      onRenewed(next) {
        isDue = false;
        credentials = { ...next };
        return Promise.resolve(ok(undefined));
      },
    });
    return { link, fresh, agent, credentials: () => credentials };
  }

  it("stores the certificate for the new key, and connects with it", async () => {
    const { link, fresh, credentials, agent } = renewable();
    link.renew = (cluster, csr) => {
      expect([cluster, csr]).toEqual(["a", "CSR"]);
      return Promise.resolve(ok({ certificate: fresh.certificate, trustBundle: authority.certificate }));
    };
    await link.clock.advance(1_000);
    expect(credentials()).toMatchObject({ certificate: fresh.certificate, trustBundle: authority.certificate });
    expect(link.channels).toHaveLength(2);
    expect(agent.status().connected).toBe(true);
    expect(warnings(link)).toEqual([]);
  });

  const failures = [
    { name: "the cell refuses", answer: () => Promise.resolve(err("revoked")), want: "revoked" },
    { name: "the cell fails", answer: () => Promise.reject(new Error("no authority")), want: "the cell could not sign the request" },
    {
      name: "the certificate is for another key",
      answer: () => Promise.resolve(ok({ certificate: issue().certificate, trustBundle: "" })),
      want: "the cell sent a certificate for another key",
    },
    {
      name: "the certificate is not readable",
      answer: () => Promise.resolve(ok({ certificate: "PEM", trustBundle: "" })),
      want: "the cell sent a certificate that is not readable PEM",
    },
  ];
  it.each(failures)("keeps the old certificate when $name, and tries again after ten minutes", async ({ answer, want }) => {
    const { link, credentials } = renewable();
    let asked = 0;
    link.renew = () => {
      asked += 1;
      return answer();
    };
    await link.clock.advance(1_000);
    expect(credentials().certificate).toBe("old");
    expect(warnings(link)).toMatchObject([{ message: "the certificate was not renewed; the agent tries again", fields: { error: want } }]);
    await link.clock.advance(LINK_TIMES.renewalRetryMs + 40_000);
    expect(asked).toBe(2);
  });

  it("keeps the old certificate when the new one cannot be stored", async () => {
    const link = newLink();
    const fresh = issue();
    link.renew = () => Promise.resolve(ok({ certificate: fresh.certificate, trustBundle: authority.certificate }));
    link.start("a", {
      renewal: { due: () => true, request: () => ok({ csr: "CSR", key: fresh.key }) },
      onRenewed: () => Promise.resolve(err("the API server is away")),
    });
    await link.clock.advance(1_000);
    expect(link.channels).toHaveLength(1);
    expect(warnings(link)).toMatchObject([{ fields: { error: "the API server is away" } }]);
  });

  it("asks without waiting for a heartbeat when a certificate becomes due, and again after a renewal", async () => {
    const link = newLink();
    const fresh = issue();
    let [isDue, renewed] = [false, 0];
    link.renew = () => Promise.resolve(ok({ certificate: fresh.certificate, trustBundle: authority.certificate }));
    const agent = link.start("a", {
      renewal: { due: () => isDue, request: () => ok({ csr: "CSR", key: fresh.key }) },
      onRenewed() {
        isDue = false;
        renewed += 1;
        return Promise.resolve(ok(undefined));
      },
    });
    for (let round = 1; round <= 2; round += 1) {
      await link.clock.advance(1_000);
      isDue = true;
      agent.reportChanged();
      await link.clock.advance(0);
      expect(renewed).toBe(round);
    }
  });

  it("connects at once with other credentials, instead of after the wait", async () => {
    const link = newLink();
    link.reachable = false;
    const agent = link.start("a");
    await link.clock.advance(120_000);
    link.reachable = true;
    agent.credentialsChanged();
    await link.clock.advance(0);
    expect(agent.status().connected).toBe(true);
  });

  it("asks again on the next connection when the answer was lost", async () => {
    const { link, fresh, credentials } = renewable();
    link.renew = () => new Promise(() => {});
    await link.clock.advance(1_000);
    link.channels.at(-1)?.control.close({ kind: "gone", reason: "network" });
    link.restartCell();
    link.renew = () => Promise.resolve(ok({ certificate: fresh.certificate, trustBundle: authority.certificate }));
    await link.clock.advance(5_000);
    expect(credentials().certificate).toBe(fresh.certificate);
  });

  it("stores the trust bundle of a Welcome when it differs, and never one without certificates", async () => {
    const link = newLink();
    const stored: string[] = [];
    link.start("a", {
      onTrustBundle(bundle) {
        stored.push(bundle);
        return Promise.resolve(ok(undefined));
      },
      credentials: () => ({ certificate: "", key: sensitive(""), trustBundle: stored.at(-1) ?? "" }),
    });
    for (const bundle of [authority.certificate, authority.certificate, "nonsense"]) {
      link.trustBundle = bundle;
      link.sessions.welcomeAgain();
      await link.clock.advance(0);
    }
    expect(stored).toEqual([authority.certificate]);
    expect(warnings(link)).toMatchObject([{ message: "the trust bundle of the cell was not stored" }]);
  });

  it("logs why there is no request, and continues", async () => {
    const link = newLink();
    const agent = link.start("a", { renewal: { due: () => true, request: () => err("no random bytes") } });
    await link.clock.advance(60_000);
    expect(link.logs.filter(({ level }) => level === "error")).toMatchObject([{ fields: { error: "no random bytes" } }]);
    expect(agent.status().connected).toBe(true);
  });

  it("refuses a second request while one is in progress", async () => {
    const link = newLink();
    link.renew = () => new Promise(() => {});
    const { control } = expectOk(link.connect({ cell: "c", cluster: "a", serial: "1" }));
    const answers: string[] = [];
    control.listen({
      message(message) {
        if (message.ok && message.value.command.case === "renewalResponse") answers.push(message.value.command.value.errorMessage);
      },
      ended: () => {},
    });
    const versions = { agentVersion: "", kubernetesVersion: "", protocolVersions: [1] };
    control.write(encodeAgentPayload("a", { kind: "ready", ...versions, generation: 1n, state: "Ready" }, 0));
    for (let round = 0; round < 2; round += 1) control.write(encodeAgentPayload("a", { kind: "renewal-request", csr: "CSR" }, 0));
    await link.clock.advance(0);
    expect(answers).toEqual(["a renewal of this agent is in progress"]);
  });
});
