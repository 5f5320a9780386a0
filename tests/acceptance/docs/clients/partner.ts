// A partner's program in TypeScript, with a client that was made of docs/openapi: test_clients runs it.
// Its arguments are the addresses of proxy, main server and PKI port, then the folder of certificates.

import { readFileSync } from "node:fs";
import createClient from "openapi-fetch";
import { Agent, Request as NodeRequest, fetch as nodeFetch } from "undici";
import type { paths as AdminPaths } from "./admin.js";
import type { paths as PkiPaths } from "./pki.js";
import type { components, paths } from "./proxy.js";

type BatchItem = components["schemas"]["BatchItem"];

const [proxy = "", mainServer = "", pki = "", folder = ""] = process.argv.slice(2);
const read = (name: string): Buffer => readFileSync(`${folder}/${name}`);
const NUMBER = "+491701234567";

/** What a client needs to show a certificate. */
function showing(baseUrl: string, name: string) {
  const connect = { ca: read("ca.pem"), cert: read(`${name}.pem`), key: read(`${name}.key`) };
  const dispatcher = new Agent({ connect });
  const send = (request: unknown) => nodeFetch(request as NodeRequest, { dispatcher });
  return {
    baseUrl,
    fetch: send as unknown as typeof fetch,
    Request: NodeRequest as unknown as typeof Request,
  };
}

function there<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`${what} was not answered`);
  return value;
}

const client = createClient<paths>(showing(proxy, "client_001"));
const who = there((await client.GET("/api/v1/whoami")).data, "whoami");

const sent = await client.POST("/api/v1/messages", {
  params: { header: { "Idempotency-Key": "made-ts-1" } },
  body: { sender_number: NUMBER, message_body: "by a client", metadata: { client_id: who.client_id } },
});
const accepted = there(sent.data, "the message");
const durability: "full" | "queue" | "ledger" = accepted.durability;
const path = { message_id: accepted.message_id };
const state = there((await client.GET("/api/v1/messages/{message_id}", { params: { path } })).data, "its state");

const items: BatchItem[] = [
  { sender_number: NUMBER, message_body: "one of two", idempotency_key: "made-ts-2" },
  { sender_number: "none", message_body: "two" },
];
const batch = there((await client.POST("/api/v1/messages/batch", { body: items })).data, "the batch");
const lines = await client.POST("/api/v1/messages/batch", {
  body: items.map((item) => JSON.stringify(item)).join("\n"),
  bodySerializer: (body) => body as string,
  headers: { "Content-Type": "application/x-ndjson" },
});

const refused = await client.POST("/api/v1/messages", {
  body: { sender_number: "none", message_body: "by a client" },
});
const problem = there(refused.error, "a problem");

const admin = createClient<AdminPaths>(showing(mainServer, "admin"));
const query = { status: "active", limit: 2 } as const;
const page = there((await admin.GET("/admin/certificates", { params: { query } })).data, "certificates");
const trusted = await createClient<PkiPaths>({ baseUrl: pki }).GET("/ca.pem", { parseAs: "text" });

console.log(
  JSON.stringify({
    role: who.role,
    durability,
    location: sent.response.headers.get("location"),
    message_id: accepted.message_id,
    state: state.message_id,
    batch: batch.items.map((one) => one.status),
    lines: there(lines.data, "the lines").items.map((one) => one.status),
    refused: problem.type,
    pointers: (problem.errors ?? []).map((one) => one.pointer),
    certificates: page.certificates.map((one) => one.status),
    trusted: there(trusted.data, "the CA").split("BEGIN CERTIFICATE").length - 1,
  }),
);
process.exit(0);
