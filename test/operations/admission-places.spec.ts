/** Places under an instrument's holder cap, beside offers and deletions that are made at the same time. */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { admissions } from "#core/admissions/Admission.ts"
import { admissionPlaces } from "#core/admissions/AdmissionPlaces.ts"
import { takenOf } from "#core/admissions/PlaceSteps.ts"
import { instruments, isRecorded } from "#core/instruments/instrument/Instrument.ts"
import { unexpectedFacts, kindOf } from "#core/projection/Unexpected.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"
import * as Reconciling from "./reconciling.ts"

const onboards = (holderId: string) =>
  Calls.write(
    "holder.onboard",
    {},
    {
      ...{ holderId, party: `${holderId}::1220${"ab".repeat(32)}` },
      admissions: [{ instrumentId: "fund-a" }]
    }
  )

describe("the places under a holder cap", () => {
  it.effect("are not lost to a failed offer whose operation retention has deleted", () =>
    Effect.gen(function* () {
      yield* Fund.opened({ holderCap: 1 })
      const records = yield* Records
      const operationId = "op-deleted"
      yield* records.transact(
        records.open(
          admissionPlaces,
          { instrumentId: "fund-a", reserved: [{ admissionId: "adm-deleted", operationId }] },
          { cause: { by: "operation", operationId }, now: yield* Instant.now, trace: null }
        )
      )
      assert.strictEqual((yield* onboards("h1")).why, "")
    }).pipe(Effect.provide(world()))
  )

  it.effect("count an offer once that is listed while the places are counted", () =>
    Effect.gen(function* () {
      yield* Fund.opened({ holderCap: 2 })
      assert.strictEqual((yield* onboards("h1")).why, "")
      const records = yield* Records
      const instrument = yield* records.get(instruments, "fund-a")
      if (!isRecorded(instrument)) throw new Error("the instrument is not recorded")
      let isListed = false
      // The offer is listed between the look-up of the reservations and the count.
      const lists: Records["Service"]["list"] = (collection, query) => {
        if (collection.name !== admissions.name || isListed) return records.list(collection, query)
        isListed = true
        return Effect.succeed([])
      }
      const taken = yield* takenOf(instrument, { operationId: "op-next" }, "h2").pipe(
        Effect.provideService(Records, Records.of({ ...records, list: lists }))
      )
      assert.isTrue(isListed)
      assert.strictEqual(taken.count, 1)
    }).pipe(Effect.provide(world()))
  )
})

const tomorrow = "2026-08-01T12:00:00Z"

/** A ledger that takes offers of fund-b without a time, and shows them with one: its clock is behind. */
const behind = (port: Ledger.Ledger["Service"]): Ledger.Ledger["Service"] => ({
  ...port,
  updates: (query) =>
    port
      .updates(query)
      .pipe(
        Stream.map((update) =>
          update._tag === "Transaction" ? { ...update, events: update.events.map(timed) } : update
        )
      )
})
const timed = (event: Ledger.Event): Ledger.Event =>
  event._tag === "Created" &&
  event.template.entity === "AdmissionOffer" &&
  event.payload["instrumentId"] === "fund-b"
    ? { ...event, payload: { ...event.payload, expiresAt: tomorrow } }
    : event

const admissionTo = (instrumentId: string, holderId = "h1") =>
  Effect.gen(function* () {
    const records = yield* Records
    const found = yield* records.list(admissions, {
      where: { instrumentId: [instrumentId], holderId: [holderId] },
      limit: 10
    })
    const [last] = found.map(({ record }) => record)
    if (last === undefined) throw new Error(`no admission to ${instrumentId}`)
    return last
  })

const credentialsTo = (instrumentId: string) =>
  Effect.map(Cycles.active(Templates.Credential), (found) =>
    found.filter(({ payload }) => payload.instrumentId === instrumentId)
  )

/** An offer of fund-b is made whose time has passed, and its holder accepts it on the ledger. */
const acceptsLate = Effect.fnUntraced(function* (holder: Cycles.Holder) {
  const { holderId } = holder
  const offered = yield* Calls.write("admission.offer", { holderId }, { instrumentId: "fund-b" })
  assert.strictEqual(offered.why, "")
  assert.strictEqual((yield* admissionTo("fund-b", holderId)).state, "expired")
  const { cid } = yield* Powers.saying(Templates.AdmissionOffer, { instrumentId: "fund-b" })
  yield* holder.act(Templates.exercise(Templates.AdmissionOffer, cid, "Accept", {}))
})

/** An offer of fund-b to h1 whose time has come, and which h1 accepts on the ledger all the same. */
const acceptedLate = Effect.gen(function* () {
  const { stage, h1, h2 } = yield* Powers.founded()
  yield* Powers.another(stage, "fund-b", { holderCap: 1 })
  yield* TestClock.adjust("24 hours")
  yield* acceptsLate(h1)
  return { stage, h1, h2 }
})

describe("an offer that a ledger lets a holder accept past its time", () => {
  const engine = Effect.provide(world({ tamper: behind }))

  it.effect("stays expired, warns alone, and names the credential", () =>
    Effect.gen(function* () {
      yield* acceptedLate
      const { credentialCid, offerCid, state } = yield* admissionTo("fund-b")
      assert.deepEqual([state, offerCid], ["expired", null])
      const live = yield* Powers.saying(Templates.Credential, { instrumentId: "fund-b" })
      assert.strictEqual(credentialCid, live.cid)
      const records = yield* Records
      const kept = yield* records.list(unexpectedFacts, { limit: 10 })
      assert.deepEqual(
        kept.map(({ record }) => ({ ...kindOf(record.resourceKind), on: record.on })),
        [{ kind: "admission", isIdle: true, on: "accept" }]
      )
    }).pipe(engine)
  )

  it.effect("holds no place, so that another holder is offered it", () =>
    Effect.gen(function* () {
      yield* acceptedLate
      const another = { instrumentId: "fund-b" }
      const offered = yield* Calls.write("admission.offer", { holderId: "h2" }, another)
      assert.strictEqual(offered.why, "")
      assert.deepEqual(yield* credentialsTo("fund-b"), [])
    }).pipe(engine)
  )

  it.effect("is counted under the cap as long as its credential is on the ledger", () =>
    Effect.gen(function* () {
      yield* acceptedLate
      const records = yield* Records
      const instrument = yield* records.get(instruments, "fund-b")
      if (!isRecorded(instrument)) throw new Error("the instrument is not recorded")
      const taken = yield* takenOf(instrument, { operationId: "op-next" }, "h2")
      assert.deepEqual([taken.count, taken.clears.length], [0, 1])
      const wider = { ...instrument, manifest: { ...instrument.manifest, holderCap: 2 } }
      const roomy = yield* takenOf(wider, { operationId: "op-next" }, "h2")
      assert.deepEqual([roomy.count, roomy.clears.length], [1, 0])
    }).pipe(engine)
  )

  it.effect("is counted by the check of the cap", () =>
    Effect.gen(function* () {
      const { h2 } = yield* acceptedLate
      const policy = (version: string, holderCap: number) =>
        Calls.write(
          "policy.set",
          { instrumentId: "fund-b" },
          { holderCap },
          Calls.operator,
          version
        )
      assert.strictEqual((yield* policy("1", 2)).why, "")
      yield* acceptsLate(h2)
      assert.strictEqual((yield* policy("2", 1)).why, "")
      yield* Reconciling.run()
      assert.deepEqual(
        (yield* Reconciling.findings)
          .filter(({ check }) => check === "holder-cap")
          .map(({ check, unexplained }) => [check, Decimal.formatPlain(unexplained)]),
        [["holder-cap", "1"]]
      )
    }).pipe(engine)
  )

  it.effect("can be withdrawn, which revokes the credential once", () =>
    Effect.gen(function* () {
      yield* acceptedLate
      const withdraws = Calls.write(
        "admission.withdraw",
        { holderId: "h1", instrumentId: "fund-b" },
        {}
      )
      const done = yield* withdraws
      assert.deepEqual([done.why, done.result.state], ["", "expired"])
      assert.deepEqual(yield* credentialsTo("fund-b"), [])
      assert.strictEqual((yield* admissionTo("fund-b")).credentialCid, null)
      assert.strictEqual((yield* withdraws).why, "state-conflict AdmissionState")
    }).pipe(engine)
  )

  it.effect("leaves no credential beside that of the holder's next offer", () =>
    Effect.gen(function* () {
      yield* acceptedLate
      const again = { instrumentId: "fund-b", expiresAt: "2026-09-01T12:00:00Z" }
      const offered = yield* Calls.write("admission.offer", { holderId: "h1" }, again)
      assert.strictEqual(offered.why, "")
      assert.deepEqual(yield* credentialsTo("fund-b"), [])
    }).pipe(engine)
  )

  it.effect("leaves no credential to a holder that is closed, and no offer to accept", () =>
    Effect.gen(function* () {
      const { stage, h2 } = yield* acceptedLate
      yield* Powers.another(stage, "fund-c")
      yield* acceptsLate(h2)
      const unanswered = { instrumentId: "fund-c", expiresAt: "2026-08-02T18:00:00Z" }
      yield* Calls.write("admission.offer", { holderId: "h2" }, unanswered)
      yield* TestClock.adjust("48 hours")
      assert.strictEqual((yield* Cycles.active(Templates.AdmissionOffer)).length, 1)
      assert.strictEqual((yield* credentialsTo("fund-b")).length, 1)
      const done = yield* Calls.write("holder.close", { holderId: "h2" }, {})
      assert.strictEqual(done.why, "")
      assert.deepEqual(yield* credentialsTo("fund-b"), [])
      assert.deepEqual(yield* Cycles.active(Templates.AdmissionOffer), [])
    }).pipe(engine)
  )

  it.effect("never keeps a holder from its recovery, which revokes the credential", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* acceptedLate
      const next = yield* Powers.succeeds(stage, h1)
      assert.strictEqual((yield* Powers.recovers("h1")).why, "")
      assert.strictEqual(yield* Cycles.holds(next, "fund-a"), "100")
      const left = yield* Cycles.active(Templates.Credential)
      assert.deepEqual(
        left.filter(({ payload }) => payload.holder === h1.party),
        []
      )
      assert.strictEqual((yield* admissionTo("fund-b")).credentialCid, null)
    }).pipe(engine)
  )
})
