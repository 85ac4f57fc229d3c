/** Fixtures of the ledger suite: small states that many laws start from. */
import { Decimal, Instant, type Offset, type Party } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Fiber, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Probes from "./LedgerProbes.ts"
import { LedgerUnderTest, type Session } from "./LedgerUnderTest.ts"

export const everything: Ledger.Filter = { templates: [], interfaces: [] }

/** Opens a scene: the port, a registrar, a fund, and a counter for command ids. */
export const open = Effect.gen(function* () {
  const under = yield* LedgerUnderTest
  const registrar = yield* under.party("registrar")
  const fund = yield* under.party("fund")
  const before = yield* under.venue.ledgerEnd
  let commands = 0
  const commandId = () => `law:${before}:${++commands}`
  return { ...under, registrar, fund, commandId, since: before }
})

export type Scene = Effect.Success<typeof open>

/** Command of the venue: a proposal to the registrar, which the venue creates alone. */
export const proposal = (scene: Scene, name = "instrument") =>
  Templates.create(Templates.AdmissionConsentProposal, {
    venue: scene.venue.venue,
    admissionConsentId: name,
    registrar: scene.registrar.party,
    fund: scene.fund.party,
    instrumentId: name,
    terms: ""
  })

/** Command that needs the registrar's signature besides the venue's. */
export const consent = (scene: Scene) =>
  Templates.create(Templates.AdmissionConsent, {
    venue: scene.venue.venue,
    admissionConsentId: "consent",
    registrar: scene.registrar.party,
    fund: scene.fund.party,
    instrumentId: "instrument",
    terms: ""
  })

/** Command of the registrar: a contract that it signs alone. */
export const configuration = (scene: Scene, registrar: Party.Party = scene.registrar.party) =>
  Templates.create(Templates.InstrumentConfiguration, {
    registrar,
    provider: scene.venue.venue,
    issuer: scene.fund.party,
    instrument: { admin: registrar, id: "instrument" },
    defaultIdentifier: { source: "venue", id: "instrument", scheme: "internal" },
    additionalIdentifiers: [],
    holderRequirements: [],
    issuerRequirements: []
  })

/** The venue's request that units be minted. */
export const mintRequest = (scene: Scene, amount: Decimal.Decimal) =>
  Templates.create(Templates.MintRequest, {
    requester: scene.venue.venue,
    holder: scene.fund.party,
    instrument: { admin: scene.registrar.party, id: "instrument" },
    amount,
    reference: { kind: "subscription", id: "s1" },
    executeBefore: null
  })

/** Command of a settlement with the interface of an allocation request. */
export const intent = (scene: Scene) =>
  Templates.create(Templates.SettlementIntent, {
    venue: scene.venue.venue,
    settlementId: "s1",
    reference: { kind: "subscription", id: "o1" },
    legs: [
      {
        legId: "l1",
        sender: scene.fund.party,
        receiver: scene.registrar.party,
        instrument: { admin: scene.registrar.party, id: "cash" },
        amount: Decimal.one
      }
    ],
    requestedAt: begin,
    allocateBefore: begin,
    settleBefore: begin
  })

const begin = Instant.fromNanos(0n)

/** An owner's contract whose choices a chooser may exercise. */
export const reach = Effect.gen(function* () {
  const scene = yield* open
  const owner = yield* scene.party("owner")
  const chooser = yield* scene.party("chooser")
  const create = Templates.create(Probes.Reach, { owner: owner.party, chooser: chooser.party })
  const { contractId: reachCid } = yield* Effect.flatMap(
    owner.submit(submission(scene, create)),
    soleCreated
  )
  return { scene, owner, chooser, reachCid }
})

export const submission = (
  scene: Scene,
  ...commands: readonly [Ledger.Command, ...ReadonlyArray<Ledger.Command>]
): Ledger.Submission => ({
  commandId: scene.commandId(),
  commands,
  dedup: { _tag: "Since", offset: scene.since }
})

export const createdIn = (receipt: Ledger.Receipt): ReadonlyArray<Ledger.Created> =>
  Option.match(receipt.transaction, {
    onNone: () => [],
    onSome: ({ events }) => events.filter((event) => event._tag === "Created")
  })

/** Returns the only contract that a submission created. */
export const soleCreated = (receipt: Ledger.Receipt): Effect.Effect<Ledger.Created> => {
  const [created, ...more] = createdIn(receipt)
  return created === undefined || more.length > 0
    ? Effect.die(new Error(`created ${createdIn(receipt).length} contracts, not one`))
    : Effect.succeed(created)
}

type Reader = Pick<Session, "updates" | "acs">

const isTransaction = (update: Ledger.Update): update is Ledger.Transaction =>
  update._tag === "Transaction"

/** Reads the transactions of a range of offsets. */
export const transactions = (
  reader: Reader,
  range: { readonly after: Offset.Offset; readonly through: Offset.Offset },
  filter: Ledger.Filter = everything
): Effect.Effect<ReadonlyArray<Ledger.Transaction>, Ledger.ReadError> =>
  reader.updates({ ...range, filter }).pipe(Stream.filter(isTransaction), Stream.runCollect)

export const active = (
  reader: Reader,
  at: Offset.Offset
): Effect.Effect<ReadonlyArray<string>, Ledger.ReadError> =>
  reader.acs({ at, filter: everything }).pipe(
    Stream.map(({ contractId }) => contractId),
    Stream.runCollect,
    Effect.map((ids) => [...ids].sort())
  )

/** Active contracts as the fold of updates, by their `inAcs` alone. */
export const fold = (
  updates: ReadonlyArray<Ledger.Transaction>,
  from: ReadonlyArray<string> = []
): ReadonlyArray<string> => {
  const left = new Set(from)
  for (const { events } of updates) {
    for (const event of events) {
      if (!event.inAcs) continue
      if (event._tag === "Created") left.add(event.contractId)
      else left.delete(event.contractId)
    }
  }
  return [...left].sort()
}

/** Returns the failure of an effect, which must fail. */
export const failure = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<E, unknown, R> =>
  Effect.flatMap(Effect.result(effect), (result) =>
    result._tag === "Failure"
      ? Effect.succeed(result.failure)
      : Effect.fail(new Error(`expected a failure, got ${JSON.stringify(result.success, shown)}`))
  )

const shown = (_: string, value: unknown) => (typeof value === "bigint" ? value.toString() : value)

/**
 * Runs a waiting reader and advances the test clock until the reader ends; fails where that takes
 * too long.
 */
export const whileTimePasses = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    for (let second = 0; second < 300; second++) {
      if (fiber.pollUnsafe() !== undefined) break
      yield* TestClock.adjust("1 second")
      yield* Effect.promise(() => new Promise<void>((resolve) => setTimeout(resolve, 1)))
    }
    if (fiber.pollUnsafe() === undefined) {
      yield* Fiber.interrupt(fiber)
      return yield* Effect.fail(new Error("no answer although five minutes passed"))
    }
    return yield* Fiber.join(fiber)
  })
