/** Rights of users' tokens; an act of an external party needs that party's own key as well. */
import { Instant, Offset, Party } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto"
import { options } from "./world.ts"

const { Users, Identifiers } = SimulatedLedger
const ledger = SimulatedLedger.layerMemory(options)
const p = Party.of("p::1220aa")
const q = Party.of("q::1220bb")

type Kind = Ledger.Right["kind"]
const rights: ReadonlyArray<readonly [right: Kind, use: Kind, allowed: boolean]> = [
  ["CanActAs", "CanActAs", true],
  ["CanActAs", "CanReadAs", true],
  ["CanActAs", "CanExecuteAs", true],
  ["CanReadAs", "CanActAs", false],
  ["CanReadAs", "CanReadAs", true],
  ["CanReadAs", "CanExecuteAs", false],
  ["CanExecuteAs", "CanActAs", false],
  ["CanExecuteAs", "CanReadAs", false],
  ["CanExecuteAs", "CanExecuteAs", true]
]

describe("a right", () => {
  it.each(rights)("%s held, %s asked: %s", (right, use, allowed) => {
    const user = {
      userId: "u",
      tokenHash: null,
      rights: [{ kind: right, party: p }],
      expiresAt: null,
      active: true
    }
    expect(Users.can(user, use, p)).toBe(allowed)
    expect(Users.can(user, use, q)).toBe(false)
  })
})

const code = <A, R>(effect: Effect.Effect<A, SimulatedLedger.LedgerError.LedgerError, R>) =>
  Effect.map(Effect.result(effect), (result) =>
    result._tag === "Success" ? "ok" : result.failure.code
  )

const attempt = (party: Party.Party, venue: Party.Party): SimulatedLedger.Attempt => ({
  commandId: "c1",
  actAs: [party],
  readAs: [],
  commands: [terms(party, venue)],
  dedup: null,
  submissionId: "s",
  workflowId: null,
  disclosed: [],
  minLedgerTime: null,
  traceparent: null
})

const terms = (holder: Party.Party, venue: Party.Party) =>
  Templates.create(Templates.SignedTerms, {
    venue,
    holder,
    holderId: "h",
    documentHash: "ab".repeat(32),
    signedAt: Instant.of("2026-01-01T00:00:00Z")
  })

const scene = Effect.gen(function* () {
  const participant = yield* SimulatedLedger.Participant
  const venue = yield* participant.admin.addParty({ hint: "venue", kind: "local" })
  const keys = generateKeyPairSync("ed25519")
  const publicKey = keys.publicKey.export({ format: "der", type: "spki" }).subarray(-32)
  const wallet = yield* participant.admin.addParty({ hint: "holder", kind: "external", publicKey })
  const user = yield* participant.authenticate(wallet.token)
  const prepare = (commandId = "c1") =>
    participant.prepare(user, {
      userId: user.userId,
      commandId,
      commands: [terms(wallet.party, venue.party)],
      actAs: [wallet.party],
      disclosed: [],
      maxRecordTime: null,
      minLedgerTime: null
    })
  const execute = (
    prepared: Uint8Array,
    change: { readonly key?: typeof keys.privateKey; readonly signedBy?: string } = {}
  ) =>
    participant.execute(user, {
      prepared,
      submissionId: "s",
      signatures: [
        {
          party: wallet.party,
          signedBy: change.signedBy ?? Identifiers.fingerprint(publicKey),
          signature: sign(null, Identifiers.preparedHash(prepared), change.key ?? keys.privateKey)
        }
      ]
    })
  return { participant, venue, wallet, user, prepare, execute }
})

describe("a token", () => {
  it.effect("never would work although it is unknown, revoked or past its time", () =>
    Effect.gen(function* () {
      const { participant, venue } = yield* scene
      expect(yield* code(participant.authenticate(undefined))).toBe("UNAUTHENTICATED")
      expect(yield* code(participant.authenticate("blt_x"))).toBe("UNAUTHENTICATED")
      const short = yield* participant.admin.issueToken("venue", Duration.minutes(10))
      expect(yield* code(participant.authenticate(venue.token))).toBe("UNAUTHENTICATED")
      expect(yield* code(participant.authenticate(short))).toBe("ok")
      yield* TestClock.adjust("11 minutes")
      expect(yield* code(participant.authenticate(short))).toBe("UNAUTHENTICATED")
      const long = yield* participant.admin.issueToken("venue")
      expect(yield* code(participant.authenticate(long))).toBe("ok")
      yield* participant.admin.revokeToken("venue")
      expect(yield* code(participant.authenticate(long))).toBe("UNAUTHENTICATED")
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would be kept in clear", () =>
    Effect.gen(function* () {
      const { participant, venue } = yield* scene
      const users = JSON.stringify(yield* participant.admin.users)
      expect(users).not.toContain(venue.token)
      expect(users).toContain(Identifiers.tokenHash(venue.token))
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would open the venue's port with more than the venue's right", () =>
    Effect.gen(function* () {
      const { participant, venue, wallet } = yield* scene
      const more = yield* participant.admin.addParty({
        hint: "more",
        kind: "local",
        rights: [{ kind: "CanReadAs", party: venue.party }]
      })
      for (const { token } of [more, wallet]) {
        expect(yield* code(SimulatedLedger.Venue.make({ token }))).toBe("PERMISSION_DENIED")
      }
      const port = yield* SimulatedLedger.Venue.make({ token: venue.token })
      expect(port.venue).toBe(venue.party)
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would read what is another's", () =>
    Effect.gen(function* () {
      const { participant, venue, user } = yield* scene
      const reading = {
        shape: "LEDGER_EFFECTS" as const,
        byParty: new Map([[venue.party, SimulatedLedger.Views.everything]])
      }
      const after = { after: Offset.zero, through: Option.some(Offset.zero), reading }
      const queries = [
        Stream.runDrain(participant.updates(user, after)),
        Stream.runDrain(participant.acs(user, { at: Offset.zero, reading })),
        Stream.runDrain(participant.completions(user, { ...after, parties: [venue.party] })),
        participant.update(user, { by: { updateId: "x" }, reading }),
        participant.contractById(user, { contractId: "x", reading })
      ]
      for (const read of queries)
        expect(yield* code<unknown, never>(read)).toBe("PERMISSION_DENIED")
    }).pipe(Effect.provide(ledger))
  )
})

describe("an external party", () => {
  it.effect("never would be acted for by its token alone", () =>
    Effect.gen(function* () {
      const { participant, venue, wallet, user } = yield* scene
      expect(yield* code(participant.submit(user, attempt(wallet.party, venue.party)))).toBe(
        "PERMISSION_DENIED"
      )
      const thief = participant.admin.addParty({
        hint: "thief",
        kind: "local",
        rights: [{ kind: "CanActAs", party: wallet.party }]
      })
      expect(yield* code(thief)).toBe("INVALID_ARGUMENT")
    }).pipe(Effect.provide(ledger))
  )

  it.effect("acts once by what it signed", () =>
    Effect.gen(function* () {
      const { wallet, prepare, execute } = yield* scene
      const { bytes } = yield* prepare()
      expect(Buffer.from(bytes).toString()).toMatch(
        /^\{"bursarSim":1,"userId":"holder","commandId":"c1","actAs":\["holder::1220/
      )
      const { nodes, actAs } = yield* execute(bytes)
      expect(nodes).toHaveLength(1)
      expect(actAs).toEqual([wallet.party])
      expect(yield* code(execute(bytes))).toBe("DUPLICATE_COMMAND")
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would have signed with another key, or other bytes, or too long ago", () =>
    Effect.gen(function* () {
      const { venue, prepare, execute, participant } = yield* scene
      const { bytes } = yield* prepare()
      const other = generateKeyPairSync("ed25519").privateKey
      expect(yield* code(execute(bytes, { key: other }))).toBe("INVALID_EXTERNAL_SIGNATURE")
      expect(yield* code(execute(bytes, { signedBy: "1220ff" }))).toBe("INVALID_EXTERNAL_SIGNATURE")
      const signed = yield* prepare("c2")
      const altered = Buffer.from(Buffer.from(signed.bytes).toString().replace('"c2"', '"c3"'))
      const user = yield* participant.authenticate(venue.token)
      expect(altered.length).toBe(signed.bytes.length)
      const replayed = participant.execute(user, {
        prepared: altered,
        submissionId: "s",
        signatures: []
      })
      expect(yield* code(replayed)).toBe("PERMISSION_DENIED")
      const content = yield* Effect.fromResult(SimulatedLedger.Prepared.decode(bytes))
      const maxRecordTime = Instant.of("1970-02-01T00:00:00Z")
      const lasting = SimulatedLedger.Prepared.encode({ ...content, maxRecordTime })
      expect(yield* code(execute(lasting))).toBe("INVALID_EXTERNAL_TRANSACTION")
      yield* TestClock.adjust("25 hours")
      expect(yield* code(execute(bytes))).toBe("INVALID_EXTERNAL_TRANSACTION")
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would run what is no longer what it signed", () =>
    Effect.gen(function* () {
      const { participant, venue, wallet, user, execute } = yield* scene
      const port = yield* SimulatedLedger.Venue.make({ token: venue.token })
      const invite = (holderId: string) =>
        Templates.create(Templates.HolderInvitation, {
          venue: venue.party,
          holderId,
          holder: wallet.party,
          custodian: null,
          predecessor: null,
          attributesDigest: "ab".repeat(32),
          validUntil: null
        })
      const since = { _tag: "Since", offset: Offset.zero } as const
      const receipt = yield* port.submit({
        commandId: "i1",
        commands: [invite("h")],
        dedup: since
      })
      const contractId = Option.getOrThrow(receipt.transaction).events[0]?.contractId ?? ""
      const { bytes } = yield* participant.prepare(user, {
        userId: user.userId,
        commandId: "c9",
        commands: [Templates.exercise(Templates.HolderInvitation, contractId, "Accept", {})],
        actAs: [wallet.party],
        disclosed: [],
        maxRecordTime: null,
        minLedgerTime: null
      })
      const content = yield* Effect.fromResult(SimulatedLedger.Prepared.decode(bytes))
      expect(content.inputs).toEqual([contractId])
      const without = SimulatedLedger.Prepared.encode({ ...content, inputs: [] })
      expect(yield* code(execute(without))).toBe("LOCAL_VERDICT_FAILED_MODEL_CONFORMANCE_CHECK")
      yield* port.submit({
        commandId: "i2",
        commands: [Templates.exercise(Templates.HolderInvitation, contractId, "Withdraw", {})],
        dedup: since
      })
      expect(yield* code(execute(bytes))).toBe("LOCAL_VERDICT_INACTIVE_CONTRACTS")
    }).pipe(Effect.provide(ledger))
  )
})

describe("the signature vector", () => {
  it("the published key signs the published bytes as published", () => {
    const seed = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
    const key = createPrivateKey({
      key: Buffer.from(`302e020100300506032b657004220420${seed}`, "hex"),
      format: "der",
      type: "pkcs8"
    })
    const hash = Identifiers.preparedHash(Buffer.from('{"bursarSim":1}'))
    expect(sign(null, hash, key).toString("base64")).toBe(
      "jDTjX/tdpv+yOAExIfpN5HK1NAUbA6RcaeXRkkcboKQHqnAYeLSJd/m4wFN0Rm0OVEBf/O9HlJJnPymNvZVZBw=="
    )
  })
})
