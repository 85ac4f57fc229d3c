/** Signatures of deliveries: the contract's vector, and verification by other implementations. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Instant } from "@bursar/engine-core/kernel"
import { Crypto } from "@bursar/engine-core/ports"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { Effect } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { signingAt } from "#core/engine/Keys.ts"
import * as Rules from "#core/records/webhook/DeliveryRules.ts"
import * as Secrets from "#core/writes/Secrets.ts"
import { contractSecret, contractSecretText } from "./webhooks.ts"

const crypto = Effect.runSync(
  Effect.provide(Effect.flatMap(Crypto, Effect.succeed), NodeCrypto.layer)
)

const id = "evt_venue-1_7"
const timestamp = "1767225600"
const body =
  '{"kind":"control","type":"approval.requested","at":"2026-01-01T00:00:00.000000Z","offset":null,"instrumentId":null,"party":null,"resourceKind":"reserve","resourceId":"res-1","payload":{"state":"awaiting","kind":"reserve.propose","makerRole":"operator"},"seq":7}'
const v1 = "v1,h4WvjmYtDPZNWv5T4NtzQG1q2d2rovqGkKza8gWndlE="
const v1a =
  "v1a,qcKah2Sp+1k1sFKVZOn6ykpHqI+Hfedn4npv+UAagJAWNaPeddpRAm3j1y93UDIDrYcnfdsdFWvbtPjd9appAQ=="
const publicKey = "whpk_PM0kHP/Js2GARLl9A22GFFk9iwF8NA8d7odzOFUXZUs="

const key = (keyId: string, from: string, to: string | null = null) => ({
  keyId,
  seed: contractSecret,
  notBefore: Instant.of(from),
  notAfter: to === null ? null : Instant.of(to)
})

describe("the vector of the contract", () => {
  it("is what a delivery of it is signed with", () => {
    expect(Rules.secretOf(contractSecretText)).toEqual(contractSecret)
    expect(Rules.eventId("venue-1", { seq: 7, restoredAt: null })).toBe(id)
    const message = {
      id,
      timestamp,
      body,
      secrets: [contractSecret],
      keys: [{ seed: contractSecret }]
    }
    expect(Rules.signature(crypto, message)).toBe(`${v1} ${v1a}`)
    expect(Rules.publicKeyText(crypto.ed25519.publicKey(contractSecret))).toBe(publicKey)
  })

  it("has one v1 of each secret, in their order, then one v1a of each key", () => {
    const other = new Uint8Array(24).fill(1)
    const message = { id, timestamp, body, secrets: [other, contractSecret], keys: [] }
    const signatures = Rules.signature(crypto, message).split(" ")
    expect(signatures).toHaveLength(2)
    expect(signatures[1]).toBe(v1)
    const unsigned = { ...message, secrets: [], keys: [{ seed: contractSecret }] }
    expect(Rules.signature(crypto, unsigned)).toBe(v1a)
  })

  it("verifies by openssl alone", (context) => {
    const openssl = (...args: ReadonlyArray<string>) =>
      execFileSync("openssl", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })
    try {
      openssl("version")
    } catch {
      return context.skip("openssl is not on the path")
    }
    const folder = mkdtempSync(join(tmpdir(), "bursar-openssl-"))
    try {
      const file = (name: string, bytes: string | Uint8Array) => {
        const path = join(folder, name)
        writeFileSync(path, bytes)
        return path
      }
      // DER of an Ed25519 public key (RFC 8410): a fixed head and the 32 bytes.
      const head = Buffer.from("302a300506032b6570032100", "hex")
      const raw = Buffer.from(publicKey.slice("whpk_".length), "base64")
      const der = file("key.der", Buffer.concat([head, raw]))
      const signed = file("signed", `${id}.${timestamp}.${body}`)
      const verify = (signature: string, text: string) =>
        openssl(
          ...["pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", der, "-rawin"],
          ...["-in", text, "-sigfile", file("signature", Buffer.from(signature.slice(4), "base64"))]
        )
      expect(verify(v1a, signed)).toContain("Verified Successfully")
      const altered = file("altered", `${id}.${timestamp}.${body} `)
      expect(() => verify(v1a, altered)).toThrow()
      const mac = openssl(
        ...["dgst", "-sha256", "-mac", "HMAC", "-macopt"],
        ...[`hexkey:${Buffer.from(contractSecret).toString("hex")}`, "-binary", "-hex", signed]
      )
      expect(mac).toContain(Buffer.from(v1.slice(3), "base64").toString("hex"))
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe("the id of an event", () => {
  const restores = [
    { seq: 7, auditSeq: 9, at: "2026-01-02T00:00:00.000000000Z" },
    { seq: 9, auditSeq: 12, at: "2026-01-03T00:00:00.000001000Z" }
  ]
  it.each([
    [7, "evt_venue-1_7"],
    [8, "evt_venue-1_8_1767312000000000"],
    [9, "evt_venue-1_9_1767312000000000"],
    [10, "evt_venue-1_10_1767398400000001"]
  ])("with the number %i is of its own history: %s", (seq, expected) => {
    const restoredAt = Rules.restoredAtOf(restores, seq)
    expect(Rules.eventId("venue-1", { seq, restoredAt })).toBe(expected)
  })
})

describe("which keys sign", () => {
  const keys = [
    key("old", "2025-01-01T00:00:00Z", "2026-02-01T00:00:00Z"),
    key("new", "2026-01-01T00:00:00Z")
  ]
  it.each([
    ["2025-06-01T00:00:00Z", ["old"]],
    ["2026-01-01T00:00:00Z", ["old", "new"]],
    ["2026-02-01T00:00:00Z", ["new"]]
  ])("at %s: %s", (at, expected) => {
    expect(signingAt(keys, Instant.of(at)).map(({ keyId }) => keyId)).toEqual(expected)
  })

  it("a delivery is signed even when every key has run out: by the one that began last", () => {
    const out = [key("a", "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"), ...keys.slice(0, 1)]
    const at = Instant.of("2030-01-01T00:00:00Z")
    expect(signingAt(out, at).map(({ keyId }) => keyId)).toEqual(["old"])
    expect(signingAt([], at)).toEqual([])
  })

  it("a key that begins later signs nothing, also where every other has ended", () => {
    const future = key("future", "2031-01-01T00:00:00Z")
    const signingIds = (all: typeof keys, at: string) =>
      signingAt(all, Instant.of(at)).map(({ keyId }) => keyId)
    expect(signingIds([future, ...keys.slice(0, 1)], "2030-01-01T00:00:00Z")).toEqual(["old"])
    expect(signingIds([future], "2030-01-01T00:00:00Z")).toEqual([])
    expect(signingIds([future, ...keys.slice(0, 1)], "2031-01-01T00:00:00Z")).toEqual(["future"])
  })
})

describe("a secret", () => {
  it.each([
    ["23 bytes", `whsec_${Buffer.alloc(23).toString("base64")}`],
    ["65 bytes", `whsec_${Buffer.alloc(65).toString("base64")}`],
    ["no prefix", Buffer.alloc(32).toString("base64")],
    ["base64url", `whsec_${"-".repeat(32)}`],
    ["without padding", `whsec_${Buffer.alloc(25).toString("base64").replace(/=+$/, "")}`],
    [
      "bits behind the last byte",
      `whsec_${Buffer.alloc(25).toString("base64").replace("A==", "B==")}`
    ],
    ["a line break", `whsec_${Buffer.alloc(24).toString("base64")}\n`],
    ["nothing", "whsec_"]
  ])("of %s is none", (_what, text) => {
    expect(Rules.secretOf(text)).toBeUndefined()
  })

  it("of 24 to 64 bytes is one", () => {
    for (const length of [24, 25, 26, 32, 64]) {
      const text = `whsec_${Buffer.alloc(length, 3).toString("base64")}`
      expect(Rules.secretOf(text)).toEqual(new Uint8Array(length).fill(3))
    }
  })

  it("that is hidden in a request comes out of it as it was, and under no other key", () => {
    const keyOf = (keyId: string, fill: number) => ({
      keyId,
      secret: new Uint8Array(32).fill(fill)
    })
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, maxLength: 90, unit: "binary" }),
        fc.uint8Array({ minLength: 12, maxLength: 12 }),
        (secret, chance) => {
          const request = { url: "u", secret, events: null }
          const keys = [keyOf("k", 1), keyOf("older", 2)]
          const hidden = Secrets.hide(
            request,
            { secrets: { secret: "digest", none: "digest" }, keys, chance },
            crypto
          )
          expect(Secrets.reveal(hidden, { keys: keys.toReversed() }, crypto)).toEqual(request)
          expect(JSON.stringify(hidden.request)).toMatch(/…[0-9a-f]{8}"/)
          const wrong = { keys: [keyOf("k", 3)] }
          expect(() => Secrets.reveal(hidden, wrong, crypto)).toThrow("not what was sealed")
          expect(() => Secrets.reveal(hidden, { keys: [] }, crypto)).toThrow("no sealing key")
        }
      )
    )
  })

  it("is shown by its kind and the first 8 digits of its SHA-256", () => {
    expect(Secrets.shown(contractSecretText, crypto)).toBe(
      `whsec_…${crypto.sha256(contractSecretText).slice(0, 8)}`
    )
  })

  it("cannot be kept without a key, and a request without secrets needs none", () => {
    const keys = { secrets: { secret: "digest" as const }, keys: [], chance: new Uint8Array(12) }
    expect(() => Secrets.hide({ secret: "whsec_x" }, keys, crypto)).toThrow("no sealing key")
    expect(Secrets.hide({ secret: null }, keys, crypto)).toEqual({
      request: { secret: null },
      sealed: null
    })
  })
})
