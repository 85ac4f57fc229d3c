/** L32: a wallet's signature performs the signed act once, and no other signature is taken for it. */
import { createHash, createPublicKey, verify } from "node:crypto"
import { Instant, Party } from "@bursar/engine-core/kernel"
import { Effect, Result } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Prepared, SigningKey } from "#adapters/ledger/wallets/index.ts"
import type * as Sim from "#adapters/ledger/simulated/SimulatedLedger.ts"
import { dig, open, type Opened } from "./opened.ts"
import * as Wire from "./wire.ts"
import { until } from "../waiting.ts"

const seeds = {
  one: Buffer.from("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", "hex"),
  two: Buffer.from("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb", "hex")
}

describe("the vectors", () => {
  it("keys have the fingerprints written down", () => {
    const one = SigningKey.fromSeed(seeds.one)
    expect(Buffer.from(one.publicKey).toString("hex")).toBe(
      "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    )
    expect(one.fingerprint).toBe(
      "1220035a791d845bbb8195615e7eccd7a57c2ec4075c2e88695f194bab4e0194a889"
    )
    const two = SigningKey.fromSeed(seeds.two)
    expect(two.fingerprint).toBe(
      "1220a5d7d280f5a16ae97e7fce02c6f148159a71a1fa9523cebfbca018fe5c0d7d88"
    )
  })

  it("prepared bytes have the hash and the signature written down", () => {
    const bytes = Buffer.from('{"bursarSim":1}', "utf8")
    const hash = Prepared.hash(bytes)
    expect(Buffer.from(hash).toString("hex")).toBe(
      "01fea59c03f2a2548a91bf8c39811622630ac44e8d0c074b6e7146b2c79a2f07"
    )
    expect(Buffer.from(SigningKey.fromSeed(seeds.one).sign(hash)).toString("base64")).toBe(
      "jDTjX/tdpv+yOAExIfpN5HK1NAUbA6RcaeXRkkcboKQHqnAYeLSJd/m4wFN0Rm0OVEBf/O9HlJJnPymNvZVZBw=="
    )
  })
})

describe("a prepared transaction", () => {
  const key = SigningKey.fromSeed(seeds.one)
  let door: Opened
  let holder: Sim.PartyAdded
  let stranger: Sim.PartyAdded
  let counted = 0

  beforeAll(async () => {
    door = await open()
    holder = await door.add("holder", key.publicKey)
    stranger = await door.add("stranger")
  })
  afterAll(() => door.close())

  const prepare = async (command: object, more: object = {}) => {
    const commandId = `w${++counted}`
    const { json, status } = await door.ask(holder.token, "/v2/interactive-submission/prepare", {
      commandId,
      actAs: [holder.party],
      commands: [command],
      ...more
    })
    if (status !== 200) throw new Error(JSON.stringify(json))
    const text = String(dig(json, "preparedTransaction"))
    return {
      commandId,
      text,
      bytes: Buffer.from(text, "base64"),
      hash: String(dig(json, "preparedTransactionHash"))
    }
  }

  const signed = (hash: Uint8Array, by: SigningKey.SigningKey = key) => ({
    format: "SIGNATURE_FORMAT_CONCAT",
    signature: Buffer.from(by.sign(hash)).toString("base64"),
    signedBy: by.fingerprint,
    signingAlgorithmSpec: "SIGNING_ALGORITHM_SPEC_ED25519"
  })

  const execute = (
    preparedTransaction: string,
    signature: object,
    more: { readonly path?: string; readonly token?: string; readonly body?: object } = {}
  ) =>
    door.ask(
      more.token ?? holder.token,
      `/v2/interactive-submission/${more.path ?? "executeAndWaitForTransaction"}`,
      {
        preparedTransaction,
        hashingSchemeVersion: "HASHING_SCHEME_VERSION_V2",
        submissionId: `sub-${++counted}`,
        partySignatures: { signatures: [{ party: holder.party, signatures: [signature] }] },
        ...more.body
      }
    )

  const end = async () =>
    Number(dig((await door.ask(holder.token, "/v2/state/ledger-end")).json, "offset") ?? 0)

  it("says what was asked, member by member, and hashes as anybody can compute", async () => {
    const { bytes, hash, commandId } = await prepare(Wire.createPoint(holder.party))
    const content: object = JSON.parse(bytes.toString("utf8"))
    expect(Object.keys(content)).toEqual([
      "bursarSim",
      "userId",
      "commandId",
      "actAs",
      "commands",
      "disclosed",
      "inputs",
      "preparedAt",
      "maxRecordTime"
    ])
    expect(JSON.stringify(content)).toBe(bytes.toString("utf8"))
    expect(dig(content, "commandId")).toBe(commandId)
    const preparedAt = Instant.of(String(dig(content, "preparedAt")))
    const maxRecordTime = Instant.of(String(dig(content, "maxRecordTime")))
    expect(maxRecordTime - preparedAt).toBe(86_400_000_000_000n)
    const own = createHash("sha256")
      .update("bursar-sim-prepared-v1\0")
      .update(bytes)
      .digest("base64")
    expect(hash).toBe(own)
  })

  it("with the right signature has one effect, whatever way it is executed", async () => {
    for (const path of ["execute", "executeAndWait", "executeAndWaitForTransaction"]) {
      const { text, bytes } = await prepare(Wire.createPoint(holder.party))
      const before = await end()
      const done = await execute(text, signed(Prepared.hash(bytes)), { path })
      expect(done.status, done.text).toBe(200)
      expect(await end()).toBeGreaterThan(before)
      if (path === "execute") expect(done.json).toEqual({})
      if (path === "executeAndWait") expect(dig(done.json, "updateId")).toMatch(/^1220/)
      if (path.endsWith("Transaction")) {
        const event = dig(done.json, "transaction", "events", 0, "CreatedEvent")
        expect(dig(event, "signatories")).toEqual([holder.party])
      }
    }
  })

  it("executed again is a duplicate and no second effect", async () => {
    const { text, bytes } = await prepare(Wire.createPoint(holder.party))
    const signature = signed(Prepared.hash(bytes))
    expect((await execute(text, signature)).status).toBe(200)
    const again = await execute(text, signature)
    expect([again.status, dig(again.json, "code")]).toEqual([409, "DUPLICATE_COMMAND"])
    expect((await execute(text, signature, { path: "execute" })).status).toBe(200)
    const active = await door.ask(holder.token, "/v2/state/active-contracts?limit=200", {
      activeAtOffset: await end(),
      eventFormat: Wire.eventFormat(holder.party)
    })
    const ids = (Array.isArray(active.json) ? active.json : []).map((one) =>
      dig(one, "contractEntry", "JsActiveContract", "createdEvent", "contractId")
    )
    expect(new Set(ids).size).toBe(4)
  })

  it("signed by another key, for other bytes, or by nobody, is refused", async () => {
    const { text, bytes } = await prepare(Wire.createPoint(holder.party))
    const before = await end()
    const hash = Prepared.hash(bytes)
    const other = SigningKey.fromSeed(seeds.two)
    const forged = [
      signed(hash, other),
      { ...signed(hash, other), signedBy: key.fingerprint },
      { ...signed(hash), signedBy: other.fingerprint },
      signed(Prepared.hash(Buffer.from("{}"))),
      signed(bytes),
      { ...signed(hash), signature: "" },
      { ...signed(hash), signature: Buffer.alloc(64).toString("base64") }
    ]
    for (const signature of forged) {
      const { status, json } = await execute(text, signature)
      expect([status, dig(json, "code")]).toEqual([400, "INVALID_EXTERNAL_SIGNATURE"])
    }
    const nobody = await execute(text, signed(hash), {
      body: { partySignatures: { signatures: [] } }
    })
    expect(dig(nobody.json, "code")).toBe("INVALID_EXTERNAL_SIGNATURE")
    expect(await end()).toBe(before)
  })

  it("altered in any byte no longer fits its signature", async () => {
    const { text, bytes } = await prepare(Wire.createPoint(holder.party, { value: "1" }))
    const signature = signed(Prepared.hash(bytes))
    const altered = bytes.toString("utf8").replace('"value":"1', '"value":"9')
    expect(altered).not.toBe(bytes.toString("utf8"))
    for (const changed of [Buffer.from(altered), Buffer.concat([bytes, Buffer.from(" ")])]) {
      const { json } = await execute(changed.toString("base64"), signature)
      expect(dig(json, "code")).toBe("INVALID_EXTERNAL_SIGNATURE")
    }
    expect(text).toBe(bytes.toString("base64"))
  })

  it("bytes that are no prepared transaction are refused before any signature is looked at", async () => {
    const junk = Buffer.from("{}")
    const refused = await execute(junk.toString("base64"), signed(Prepared.hash(junk)))
    expect([refused.status, dig(refused.json, "code")]).toEqual([
      400,
      "INVALID_EXTERNAL_TRANSACTION"
    ])
    expect((await execute("***", signed(junk))).status).toBe(400)
  })

  it("past its last time is refused", async () => {
    const soon = Date.now() + 60
    const { text, bytes } = await prepare(Wire.createPoint(holder.party), {
      maxRecordTime: Instant.format(Instant.fromEpochMillis(soon))
    })
    await until(() => Date.now() > soon + 60)
    const late = await execute(text, signed(Prepared.hash(bytes)))
    expect(late.status).toBe(400)
    expect(dig(late.json, "code")).toBe("INVALID_EXTERNAL_TRANSACTION")
  })

  it("of which an input was consumed in between is rejected", async () => {
    const made = await prepare(Wire.createPoint(holder.party))
    const done = await execute(made.text, signed(Prepared.hash(made.bytes)))
    const cid = String(dig(done.json, "transaction", "events", 0, "CreatedEvent", "contractId"))
    const first = await prepare(Wire.archive(cid))
    const second = await prepare(Wire.correct(cid))
    expect((await execute(first.text, signed(Prepared.hash(first.bytes)))).status).toBe(200)
    const { json } = await execute(second.text, signed(Prepared.hash(second.bytes)))
    expect(dig(json, "code")).toBe("LOCAL_VERDICT_INACTIVE_CONTRACTS")
  })

  it("is executed by a user with that right only", async () => {
    const { text, bytes } = await prepare(Wire.createPoint(holder.party))
    const signature = signed(Prepared.hash(bytes))
    expect((await execute(text, signature, { token: stranger.token })).status).toBe(403)
    expect((await execute(text, signature)).status).toBe(200)
  })

  it("in another hashing scheme, format or algorithm is refused", async () => {
    const { text, bytes } = await prepare(Wire.createPoint(holder.party))
    const good = signed(Prepared.hash(bytes))
    const version = { body: { hashingSchemeVersion: "HASHING_SCHEME_VERSION_V3" } }
    expect(dig((await execute(text, good, version)).json, "code")).toBe("INVALID_ARGUMENT")
    for (const wrong of [
      { ...good, format: "SIGNATURE_FORMAT_RAW" },
      { ...good, signingAlgorithmSpec: "SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_256" }
    ]) {
      expect(dig((await execute(text, wrong)).json, "code")).toBe("INVALID_ARGUMENT")
    }
  })

  describe("is signed by the wallet only if it says what was asked", () => {
    const party = () => Party.of(holder.party)
    const checked = async (
      alter: (content: Record<string, unknown>) => Record<string, unknown>,
      claim?: string
    ) => {
      const command = Wire.createPoint(holder.party)
      const { bytes, commandId } = await prepare(command)
      const content: Record<string, unknown> = JSON.parse(bytes.toString("utf8"))
      const altered = Buffer.from(JSON.stringify(alter(content)))
      // The ledger's own print of the request: amounts with all places, nulls written out.
      const commands: ReadonlyArray<{ readonly CreateCommand: { readonly [k: string]: unknown } }> =
        JSON.parse(JSON.stringify(dig(JSON.parse(bytes.toString("utf8")), "commands")))
      const now = await Effect.runPromise(Instant.now)
      return Prepared.check(
        { userId: "holder", commandId, party: party(), commands },
        {
          bytes: altered,
          hash: claim ?? Buffer.from(Prepared.hash(altered)).toString("base64"),
          now
        }
      )
    }

    it("signs what it asked for", async () => {
      expect(Result.isSuccess(await checked((content) => content))).toBe(true)
    })

    const lies: ReadonlyArray<
      readonly [string, (content: Record<string, unknown>) => Record<string, unknown>]
    > = [
      ["another user", (c) => ({ ...c, userId: "mallory" })],
      ["another commandId", (c) => ({ ...c, commandId: "other" })],
      ["another party", (c) => ({ ...c, actAs: ["mallory::1220aa"] })],
      ["a party more", (c) => ({ ...c, actAs: [holder.party, "mallory::1220aa"] })],
      ["another command", (c) => ({ ...c, commands: [Wire.archive("00ff")] })],
      ["a command more", (c) => ({ ...c, commands: [dig(c, "commands", 0), Wire.archive("00")] })],
      ["a contract slipped in", (c) => ({ ...c, disclosed: [{ createdEventBlob: "AA==" }] })],
      ["no end of time", (c) => ({ ...c, maxRecordTime: "2999-01-01T00:00:00Z" })],
      ["a member more", (c) => ({ ...c, note: "ignore me" })],
      ["another kind", (c) => ({ ...c, bursarSim: 2 })]
    ]
    it.each(lies)("does not sign %s", async (_what, alter) => {
      expect(Result.isFailure(await checked(alter))).toBe(true)
    })

    it("does not sign a hash that is not its own", async () => {
      expect(Result.isFailure(await checked((content) => content, "AAAA"))).toBe(true)
    })
  })

  it("is signed so that others can check it with the public key alone", async () => {
    const { bytes } = await prepare(Wire.createPoint(holder.party))
    const hash = Prepared.hash(bytes)
    const spki = Buffer.concat([
      Buffer.from("302a300506032b6570032100", "hex"),
      Buffer.from(key.publicKey)
    ])
    const publicKey = createPublicKey({ key: spki, format: "der", type: "spki" })
    expect(verify(null, hash, publicKey, Buffer.from(key.sign(hash)))).toBe(true)
  })
})
