/** Planted faults: one fault of each kind in a register with orders is found, as severe as the table of checks says, and nothing else. */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant, Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { findings } from "#core/findings/Finding.ts"
import { type Holding, holdings } from "#core/instruments/register/Holding.ts"
import { partyMovements } from "#core/instruments/register/Movement.ts"
import { type Redemption, redemptions } from "#core/orders/redemption/Redemption.ts"
import { type Subscription, subscriptions } from "#core/orders/subscription/Subscription.ts"
import { type Contract, contracts } from "#core/projection/Contract.ts"
import { unexpectedFacts } from "#core/projection/Unexpected.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import { type Dice, dice } from "../simulation/faults.ts"
import * as Cycles from "./cycles.ts"
import { forge } from "./forging.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"
import * as Reconciling from "./reconciling.ts"

/** Three holders with units; an order for units waits, and one that gives units back and has locked them. */
const scene = (die: Dice) =>
  Effect.gen(function* () {
    const { stage, holders } = yield* Cycles.opened(["h1", "h2", "h3"])
    const units = () => String(100 + die.roll(900))
    for (const holder of holders) yield* Powers.mints(stage, holder, units())
    const [h1, h2, h3] = holders
    if (h1 === undefined || h2 === undefined || h3 === undefined) throw new Error("no holders")
    yield* Cycles.subscribes(stage, h2, { id: "s1", amount: units() })
    yield* Cycles.redeems(stage, h3, { id: "r1", units: String(1 + die.roll(90)) })
    return { die, stage, h1, h2, h3 }
  })
type Scene = Effect.Success<ReturnType<typeof scene>>

const match = { on: "match", lines: [] } as never

const ofSubscription = (change: Partial<Subscription>) =>
  forge(subscriptions, "s1", { fact: match, change })
const ofRedemption = (change: Partial<Redemption>) =>
  forge(redemptions, "r1", { fact: match, change })

/** The record of the holding of the fund that is locked. */
const locked = Effect.gen(function* () {
  const records = yield* Records
  const rows = yield* records.list(holdings, { limit: 100 })
  const found = rows.find(
    ({ record: { endedOffset, instrumentId, lock } }) =>
      lock !== null && endedOffset === null && instrumentId === "fund-a"
  )
  if (found === undefined) throw new Error("no holding is locked")
  return found.record
})

const end = { on: "end", offset: 1 } as never

/** A fault: what it does to the scene, and what a run then finds, as `check severity subject`. */
interface Fault {
  readonly name: string
  readonly plant: (scene: Scene) => Effect.Effect<ReadonlyArray<string>, unknown, never>
}

const faultOf = <E, R>(
  name: string,
  plant: (scene: Scene) => Effect.Effect<ReadonlyArray<string>, E, R>
) => ({
  name,
  plant: plant as unknown as Fault["plant"]
})

const faults: ReadonlyArray<Fault> = [
  faultOf("nothing", () => Effect.succeed([])),
  faultOf("an order that nobody prices for days", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("57 hours")
      return ["claim-aging warning r1", "claim-aging warning s1"]
    })
  ),
  faultOf("burned units that nobody pays", () =>
    Effect.gen(function* () {
      const now = yield* Instant.now
      const burnedAt = Instant.of(
        new Date(Instant.toEpochMillis(now) - 73 * 3_600_000).toISOString()
      )
      yield* ofRedemption({
        state: "burned",
        pricedAt: burnedAt,
        price: Decimal.of("1"),
        proceeds: Decimal.of("10"),
        fee: Decimal.zero,
        burnedAt
      })
      return ["burned-unpaid blocking r1"]
    })
  ),
  faultOf("units that a frozen holder gives away", ({ die, h1, h2 }) =>
    Effect.gen(function* () {
      yield* Powers.restricts("h1")
      yield* TestClock.adjust("1 second")
      const cid = (yield* Powers.saying(Templates.Holding, { owner: h1.party })).cid
      const amount = Decimal.of(String(1 + die.roll(50)))
      const executeBefore = Instant.of("2026-12-01T00:00:00Z")
      yield* h1.act(
        Templates.exercise(Templates.Holding, cid, "OfferTransfer", {
          receiver: h2.party,
          amount,
          executeBefore
        })
      )
      const offer = yield* Powers.saying(Templates.TransferOffer, { receiver: h2.party })
      const credential = yield* Powers.saying(Templates.Credential, { holder: h2.party })
      yield* h2.act(
        Templates.exercise(Templates.TransferOffer, offer.cid, "Accept", {
          credentialCid: credential.cid
        })
      )
      return ["restriction-effect blocking h1"]
    })
  ),
  faultOf("units of a stranger", ({ die, stage }) =>
    Effect.gen(function* () {
      const stranger = yield* Fund.outsider("stranger")
      yield* Powers.sends(stage, stranger, String(1 + die.roll(50)))
      return [`admission-effect warning ${stranger.party}`]
    })
  ),
  faultOf("restricted units of a party that no credential admits", ({ die, stage }) =>
    Effect.gen(function* () {
      const { asset, registrar, venue } = stage
      yield* registrar.act(
        Templates.create(Templates.Holding, {
          registrar: registrar.party,
          owner: registrar.party,
          provider: venue,
          instrument: asset,
          amount: Decimal.of(String(1 + die.roll(50))),
          restricted: true,
          lock: null,
          label: "",
          meta: {}
        })
      )
      return [`admission-effect blocking ${registrar.party}`]
    })
  ),
  faultOf("more holders than the cap has", ({ die }) =>
    Effect.gen(function* () {
      yield* Cycles.changes(1, { holderCap: 1 + die.roll(2) })
      return ["holder-cap warning fund-a"]
    })
  ),
  faultOf("a lock of an order that has ended", () =>
    Effect.gen(function* () {
      const { contractId } = yield* locked
      const endedAt = yield* Instant.now
      yield* ofRedemption({ state: "withdrawn", endedAt, endedAs: "withdrawn", claimCid: null })
      return [`orphan-locks warning ${contractId}`]
    })
  ),
  faultOf("a contract that the projection has otherwise", () =>
    Effect.gen(function* () {
      const { contractId } = yield* locked
      const change: Partial<Contract> = { payload: { forged: true } as never }
      const fact = { on: "archive", offset: 1 } as never
      const { template } = yield* forge(contracts, contractId, { fact, change })
      return [`projection-drift blocking ${template}`]
    })
  ),
  faultOf("a holding whose lock the projection has otherwise", () =>
    Effect.gen(function* () {
      const { contractId, lock } = yield* locked
      if (lock === null) throw new Error("it is locked")
      const change: Partial<Holding> = { lock: { ...lock, context: "another" } }
      yield* forge(holdings, contractId, { fact: end, change })
      return ["projection-drift blocking holding"]
    })
  ),
  faultOf("an order under a policy that was not in force", ({ die }) =>
    Effect.gen(function* () {
      yield* ofSubscription({ policyVersion: 2 + die.roll(5) })
      return ["policy-replay blocking s1"]
    })
  ),
  faultOf("a movement of a party that the register does not have", ({ die, h1 }) =>
    Effect.gen(function* () {
      const records = yield* Records
      const { offset } = yield* Calls.catchUp
      const rows = yield* records.list(partyMovements, { where: { party: [h1.party] }, limit: 1 })
      const { record } = rows[0]!
      const party = Party.of("unlisted::1220")
      const units = Decimal.of(String(1 + die.roll(50)))
      const forged = { seq: record.seq + 1_000_000, party, to: party, units, balanceAfter: units }
      yield* records.transact(
        records.open(
          partyMovements,
          { ...record, ...forged },
          {
            cause: { by: "run", runId: "fault" } as const,
            now: yield* Instant.now,
            offset: offset as never
          }
        )
      )
      return [`movements-balance blocking ${party}`]
    })
  ),
  faultOf("a ledger fact that no record expected", ({ die }) =>
    Effect.gen(function* () {
      const records = yield* Records
      const { offset } = yield* Calls.catchUp
      const resourceId = die.pick(["s1", "s9"])
      yield* records.transact(
        records.open(
          unexpectedFacts,
          {
            unexpectedFactId: "fault",
            contractId: "00",
            resourceKind: "subscription",
            resourceId,
            on: "price",
            detail: "planted"
          },
          {
            cause: { by: "run", runId: "fault" } as const,
            now: yield* Instant.now,
            offset: offset as never
          }
        )
      )
      // A finding without an instrument could hold none, and is a warning.
      return [`policy-replay ${resourceId === "s1" ? "blocking" : "warning"} ${resourceId}`]
    })
  )
]

const found = Effect.gen(function* () {
  const records = yield* Records
  const rows = yield* records.list(findings, { where: { state: ["open"] }, limit: 100 })
  return rows
    .map(({ record: { check, severity, subject } }) => `${check} ${severity} ${subject.id}`)
    .toSorted()
})

describe("a run over a register with orders", () => {
  for (const [nth, { name, plant }] of faults.entries()) {
    it.effect(`finds ${name}, and no more`, () =>
      Effect.gen(function* () {
        const seededScene = yield* scene(dice(20_261_123 + nth))
        assert.deepEqual([(yield* Reconciling.run()).value.verdict, yield* found], ["clear", []])
        const expected = yield* Effect.orDie(plant(seededScene))
        const { value } = yield* Reconciling.run()
        assert.deepEqual(yield* found, expected)
        const isBlocked = expected.some((text) => text.includes(" blocking "))
        assert.strictEqual(
          value.verdict,
          isBlocked ? "blocked" : expected.length > 0 ? "findings" : "clear"
        )
        const isDrift = expected.some((text) => text.startsWith("projection-drift "))
        assert.deepEqual(
          value.checks.flatMap(({ check, ran }) => (ran ? [] : [check])),
          isDrift ? ["projection-drift"] : []
        )
        // A drift is of no instrument: it lets no run clear anything, and opens no hold.
        assert.strictEqual((yield* Reconciling.openHolds).length, isBlocked && !isDrift ? 1 : 0)
      }).pipe(Effect.provide(world()))
    )
  }
})

describe("a projection that drifts from the ledger", () => {
  it.effect("lets no run clear a finding until it has drifted back", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* scene(dice(1))
      const line = {
        registrar: stage.registrar.party,
        instrumentId: "fund-a",
        party: h1.party
      }
      yield* Reconciling.plant(line, "5")
      yield* Reconciling.run()
      const before = yield* found
      assert.deepEqual(before, [
        "lots-holdings blocking h1",
        "movements-balance blocking h1",
        "register-supply blocking fund-a"
      ])
      const { contractId } = yield* locked
      const archive = { on: "archive", offset: 1 } as never
      const { payload, template } = yield* forge(contracts, contractId, {
        fact: archive,
        change: { payload: { forged: true } as never }
      })
      yield* Reconciling.plant(line, "-5")
      const drifted = [...before, `projection-drift blocking ${template}`].toSorted()
      assert.strictEqual((yield* Reconciling.run()).value.verdict, "blocked")
      assert.deepEqual(yield* found, drifted)
      // Nor does a run that does not look at the projection.
      const other = '{"scope":{"checks":["lots-holdings","register-supply"]}}'
      yield* Reconciling.run(other)
      assert.deepEqual(yield* found, drifted)
      yield* forge(contracts, contractId, { fact: archive, change: { payload } })
      yield* Reconciling.run()
      assert.deepEqual(yield* found, [])
    }).pipe(Effect.provide(world()))
  )
})
