/** Wallets of the outside parties in the venue's process: the acts of their programs, as calls. */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Venue, VenueClock, Wallets } from "@bursar/storage-adapters/venue"
import { assert, describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import { acts } from "#adapters/ledger/wallets/Acts.ts"
import { commands } from "#adapters/ledger/wallets/Commands.ts"
import { actors } from "#adapters/ledger/wallets/Duty.ts"
import * as Order from "./order.ts"

const { documentHash, founded, instrumentId, succeeds } = Order
const venue = Effect.provide(Venue.memory({ clock: "2026-07-31T12:00:00Z" }))

/** Cash of the registrar, of which the wallet accepts several holdings. */
const funded = Effect.gen(function* () {
  const parties = yield* founded
  const { investor, registrar, venue } = parties
  for (const reference of ["first", "second"]) {
    yield* registrar.issue({
      instrumentId: "USD",
      provider: venue,
      receiver: investor.party,
      amount: Decimal.of("60"),
      reference
    })
    yield* investor.acceptTransfer("USD")
  }
  return parties
})

const sentence = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.exit(effect), (exit) =>
    Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : "done"
  )

describe("the acts of a wallet", () => {
  /** Reads of the program, which `find` and `show` of a wallet are. */
  const reads = new Set(["holdings", "payouts"])
  const kebab = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

  it.each(actors)("of the %s are the commands of its program, by the same names", (actor) => {
    const commandNames = Object.keys(commands[actor]).filter((command) => !reads.has(command))
    expect(Object.keys(acts[actor]).map(kebab).toSorted()).toEqual(commandNames.toSorted())
  })

  it.live("walk an order from the market's consent to its price", () => Order.walked.pipe(venue))

  it.live("join holdings first where only several together are large enough", () =>
    Effect.gen(function* () {
      const { fund, investor, registrar, venue } = yield* funded
      const { act } = yield* investor.allocate({
        reference: "s1",
        venue,
        receiver: fund.party,
        instrument: { admin: registrar.party, id: "USD" },
        amount: Decimal.of("100"),
        settleBefore: Instant.of("2026-08-05T00:00:00Z")
      })
      assert.strictEqual(act, "allocate")
      const reference = "of-the-fund"
      const issue = { instrumentId: "USD", provider: venue, amount: Decimal.of("1"), reference }
      yield* registrar.issue({ ...issue, receiver: fund.party })
      assert.strictEqual((yield* fund.acceptTransfer("USD")).act, "accept-transfer")
      const holdings = yield* investor.find(Templates.Holding)
      assert.deepStrictEqual(
        holdings.map(({ payload }) => Decimal.formatPlain(payload.amount)).toSorted(),
        ["100", "20"]
      )
    }).pipe(venue)
  )

  it.live("are committed once, whatever is asked for again", () =>
    Effect.gen(function* () {
      const { fund, registrar, venue } = yield* founded
      const again = yield* registrar.configure({
        instrumentId,
        provider: venue,
        issuer: fund.party
      })
      assert.isTrue(again.duplicate)
      assert.lengthOf(yield* registrar.find(Templates.InstrumentConfiguration), 1)
    }).pipe(venue)
  )

  it.live("fail with a sentence where there is nothing to answer, or the ledger refuses", () =>
    Effect.gen(function* () {
      const { fund, investor, registrar, venue } = yield* founded
      assert.include(
        yield* sentence(investor.acceptOffer(instrumentId)),
        "the investor's wallet h1 has nothing that it could acceptOffer"
      )
      const configuration = {
        registrar: registrar.party,
        provider: venue,
        issuer: fund.party,
        instrument: { admin: registrar.party, id: "fund-b" },
        defaultIdentifier: { source: "venue", id: "fund-b", scheme: "id" },
        additionalIdentifiers: [],
        holderRequirements: [],
        issuerRequirements: []
      }
      const foreign = Templates.create(Templates.InstrumentConfiguration, configuration)
      assert.include(yield* sentence(investor.submit(foreign)), "DAML_AUTHORIZATION_ERROR")
      const plan = () => [
        {
          name: "forge",
          about: "fund-b",
          change: { commandId: "forge", commands: [foreign] as const }
        }
      ]
      assert.include(yield* sentence(investor.works(plan)), "DAML_AUTHORIZATION_ERROR")
    }).pipe(venue)
  )
})

describe("a wallet", () => {
  it.live("is opened once under its name, by one actor", () =>
    Effect.gen(function* () {
      const wallets = yield* Wallets
      const first = yield* wallets.investor("h1")
      assert.strictEqual(yield* wallets.investor("h1"), first)
      assert.include(yield* sentence(wallets.fund("h1")), "there is one wallet h1")
    }).pipe(venue)
  )

  it.live("keeps the duty that it was opened with whenever the clock runs what is due", () =>
    Effect.gen(function* () {
      const wallets = yield* Wallets
      const clock = yield* VenueClock
      const kept = yield* wallets.investor("h2", { terms: documentHash })
      const { investor } = yield* founded
      for (const [holderId, { party }] of [
        ["h1", investor],
        ["h2", kept]
      ] as const) {
        yield* succeeds("holder.register", {}, { holderId, party })
      }
      yield* clock.runDue
      const signed = yield* kept.find(Templates.SignedTerms)
      assert.deepStrictEqual(
        signed.map(({ payload }) => payload.documentHash),
        [documentHash]
      )
      assert.lengthOf(yield* investor.find(Templates.HolderInvitation), 1)
    }).pipe(venue)
  )
})
