/**
 * A venue that begins again on a pruned ledger: proposals, standing settlements and prices, listed
 * in any order.
 */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { holders } from "#core/holders/holder/Holder.ts"
import { pricePoints } from "#core/instruments/price/PricePoint.ts"
import { proposals } from "#core/orders/proposal/Proposal.ts"
import { standingSettlements } from "#core/orders/standing-settlement/StandingSettlement.ts"
import * as Calls from "../engine/calls.ts"
import { instanceOn, world } from "../engine/world.ts"
import { forgets, recordsAgain } from "./again.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"

const succeeds = <E, R>(write: Effect.Effect<Calls.Ended, E, R>) =>
  Effect.map(write, ({ state, why }) => assert.strictEqual(`${state} ${why}`, "succeeded "))

/** Proposals of every kind, unanswered, with a paused standing settlement and a corrected price. */
const proposed = Effect.gen(function* () {
  const { stage } = yield* Cycles.opened(["h2"])
  const id = { instrumentId: "fund-a" }
  // An offer that is older than the invitation, which new attributes have renewed, and terms signed early.
  yield* Fund.onboards(stage)
  yield* TestClock.adjust("1 minute")
  const kyc = { name: "kyc", value: "passed", evidenceHash: "ab".repeat(32), state: "valid" }
  yield* succeeds(
    Calls.write(
      "holder.set-attributes",
      { holderId: "h1" },
      { attributes: [kyc], validUntil: "2027-07-31T12:00:00Z" }
    )
  )
  yield* Fund.signs(stage)
  yield* succeeds(
    Calls.write("issuer-powers-agreement.propose", id, {
      issuer: stage.fund.party,
      powers: ["recover"],
      until: "2027-07-31T12:00:00Z"
    })
  )
  const { cid } = yield* Fund.newestContract(Templates.IssuerPowersAgreementProposal)
  const { party } = stage.fund
  yield* stage.fund.act(
    Templates.exercise(Templates.IssuerPowersAgreementProposal, cid, "Accept", { party })
  )
  const terms = {
    fund: stage.fund.party,
    paymentAsset: Cycles.cash(stage),
    limit: 1000,
    until: "2027-07-31T12:00:00Z"
  }
  yield* succeeds(Calls.write("provision-settlement.propose", id, terms))
  yield* succeeds(
    Calls.write(
      "standing-settlement.open",
      {},
      {
        standingSettlementId: "st1",
        ...id,
        funding: [{ party: stage.fund.party, asset: Cycles.cash(stage), amount: 2000 }]
      }
    )
  )
  yield* Cycles.paysIn(stage, stage.fund, "2000")
  const cash = (yield* Cycles.active(Templates.Holding)).find(
    ({ payload }) => payload.owner === stage.fund.party
  )
  const newestContract = yield* Fund.newestContract(Templates.StandingSettlement)
  yield* stage.fund.act(
    Templates.exercise(Templates.StandingSettlement, newestContract.cid, "Commit", {
      party: stage.fund.party,
      holdingCid: cash!.cid,
      amount: Decimal.of("2000")
    })
  )
  yield* succeeds(Calls.write("standing-settlement.pause", { standingSettlementId: "st1" }, {}))
  yield* Fund.publishes(stage, "1.0437", "2026-07-31T11:00:00Z")
  const point = yield* Fund.newestContract(Templates.OraclePoint)
  yield* stage.oracle.act(
    Templates.exercise(Templates.OraclePoint, point.cid, "Correct", {
      value: Decimal.of("1.0438"),
      valuationTime: Instant.of("2026-07-31T11:00:00Z"),
      period: null,
      withholdingRate: null,
      statementRef: null
    } as never)
  )
  return stage
})

/** The venue's views of these, without the members that only the history has. */
const read = Effect.gen(function* () {
  const records = yield* Records
  const open = (yield* records.list(proposals, { limit: 100 }))
    .map(({ record }) => record)
    .filter(({ ended }) => ended === null)
  const storedSettlements = yield* records.list(standingSettlements, { limit: 10 })
  const invited = yield* records.list(holders, { limit: 10 })
  const points = yield* records.list(pricePoints, { limit: 10 })
  return {
    proposals: open
      .map(({ action, awaiting, cid, instrumentId, kind, proposalId }) =>
        JSON.stringify([kind, proposalId, cid, action, awaiting, instrumentId])
      )
      .toSorted(),
    settlements: storedSettlements.map(
      ({ record: { allocations, committed, funding, standingCid, state } }) => ({
        ...{ allocations, committed, funding, standingCid, state }
      })
    ),
    holders: invited
      .map(({ record: { holderId, invitationCid, signedTermsCid, state } }) =>
        [holderId, state, invitationCid, signedTermsCid].join(" ")
      )
      .toSorted(),
    prices: points
      .map(({ record }) => record)
      .filter(({ correctedBy }) => correctedBy === null)
      .map(({ contractId, price }) => `${contractId} ${price}`),
    surprises: yield* Fund.surprises
  }
})

/** A second engine over the same ledger, which lists its active contracts in a random order. */
const shuffled = (dice: () => number) =>
  Effect.map(Ledger.Ledger, (ledger) =>
    instanceOn({
      ...ledger,
      acs: (query) =>
        Stream.unwrap(
          Effect.map(Stream.runCollect(ledger.acs(query)), (active) =>
            Stream.fromIterable(
              active
                .map((contract) => ({ contract, at: dice() }))
                .toSorted((left, right) => left.at - right.at)
                .map(({ contract }) => contract)
            )
          )
        )
    })
  )

describe("a venue that begins on a ledger that has forgotten", () => {
  it("has what is proposed, paused and priced, in whatever order the ledger lists it", async () => {
    await Calls.runCase(
      Effect.gen(function* () {
        yield* proposed
        const before = yield* read
        assert.strictEqual(before.settlements[0]?.state, "paused")
        assert.isAtLeast(before.proposals.length, 4)
        yield* forgets
        const dice = fc.sample(fc.array(fc.nat(), { minLength: 200, maxLength: 200 }), 12)
        for (const rolls of dice) {
          let rolled = 0
          const roll = () => rolls[rolled++ % rolls.length] ?? 0
          const after = Effect.andThen(Calls.settle, read)
          assert.deepStrictEqual(
            yield* Effect.provide(after, yield* shuffled(roll)),
            before,
            JSON.stringify(rolls)
          )
        }
      }).pipe(Effect.provide(world()))
    )
  })

  it.effect(
    "has the proposals of an instrument that no registry configures, once it is recorded",
    () =>
      Effect.gen(function* () {
        const stage = yield* proposed
        const configuration = yield* Fund.newestContract(Templates.InstrumentConfiguration)
        yield* stage.registrar.act(
          Templates.exercise(Templates.InstrumentConfiguration, configuration.cid, "Retire", {})
        )
        const before = yield* read
        yield* forgets
        yield* Effect.gen(function* () {
          yield* Calls.settle
          const { length } = (yield* read).proposals
          assert.isTrue(length > 0 && length < before.proposals.length)
          assert.strictEqual((yield* recordsAgain(stage, { holderCap: 100 })).why, "")
          assert.deepStrictEqual(yield* read, before)
          // Records that were opened with the snapshot are not written again.
          const rows = yield* Effect.flatMap(Records, (records) =>
            records.list(proposals, { limit: 100 })
          )
          assert.deepStrictEqual([...new Set(rows.map(({ record }) => record.version))], [1])
          const resumed = yield* Calls.write(
            "standing-settlement.resume",
            { standingSettlementId: "st1" },
            {}
          )
          assert.strictEqual(resumed.why, "")
          assert.strictEqual((yield* read).settlements[0]?.state, "open")
          assert.deepStrictEqual((yield* read).surprises, [])
        }).pipe(Effect.provide(yield* shuffled(() => 0)))
      }).pipe(Effect.provide(world()))
  )
})
