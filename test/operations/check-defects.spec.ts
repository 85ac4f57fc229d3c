/**
 * A defect in the check of one instrument: the run compares the other instruments, names the check that
 * did not compare, and leaves the instrument incomplete.
 */
import { Records, Workers } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Documents } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Stream } from "effect"
import { itemOf } from "#core/findings/RunQueue.ts"
import { registerEntries } from "#core/instruments/register/RegisterEntry.ts"
import { instrumentVerdicts } from "#core/reconciliation/verdict/InstrumentVerdict.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Reconciling from "./reconciling.ts"
import * as Story from "./story.ts"

/** Reads of a collection that die for one instrument, as a corrupt record would make them. */
interface Fault {
  collection: string | null
  readonly instrumentId: string
}

const failing = (fault: Fault) =>
  Layer.effect(
    Documents,
    Effect.map(Documents, (documents): Documents["Service"] => {
      const isHit = ({ collection, where }: Parameters<typeof documents.stream>[0]) =>
        collection === fault.collection &&
        (fault.instrumentId === "" ||
          where.some(({ anyOf }) => anyOf.some((value) => value.includes(fault.instrumentId))))
      const corrupt = new Error("a corrupt record")
      return {
        ...documents,
        stream: (query) => (isHit(query) ? Stream.die(corrupt) : documents.stream(query)),
        list: (query) => (isHit(query) ? Effect.die(corrupt) : documents.list(query)),
        countBy: (query) =>
          isHit({ ...query, direction: "asc" }) ? Effect.die(corrupt) : documents.countBy(query)
      }
    })
  ).pipe(Layer.provideMerge(Memory.layer))

const defect = "internal"

/** Instruments that each have 7 units on the register of which the ledger knows nothing. */
const planted = (instrumentIds: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const records = yield* Records
    const cast = yield* Story.cast
    for (const instrumentId of instrumentIds) yield* Story.recorded(cast, { instrumentId })
    const { offset } = yield* Calls.catchUp
    const now = yield* Instant.now
    const act = { cause: { by: "run", runId: "fault" } as const, now, offset: offset as never }
    for (const instrumentId of instrumentIds) {
      const entry = {
        registrar: cast.registrar.party,
        instrumentId,
        party: cast.registrar.party,
        units: Decimal.of("7"),
        locked: Decimal.zero,
        since: now,
        emptySince: null
      }
      yield* records.transact(records.open(registerEntries, entry, act))
    }
  })

const verdictOf = (instrumentId: string) =>
  Effect.flatMap(Records, (records) => records.get(instrumentVerdicts, instrumentId))

const suppliesFound = Effect.map(Reconciling.found, (found) =>
  found.filter((text) => text.startsWith("register-supply"))
)

describe("a defect in the check of one instrument", () => {
  it.effect.each([
    { body: "{}", fails: "register-entry" },
    { body: '{"scope":{"instrumentIds":["fund-a","fund-b"]}}', fails: "register-entry" },
    // Read once for all instruments that are compared together.
    { body: "{}", fails: "reserve" }
  ])("leaves the others compared, and is named ($body, $fails)", ({ body, fails }) => {
    const fault: Fault = { collection: null, instrumentId: "fund-a" }
    const lines: Array<string> = []
    const logger = Logger.layer([
      Logger.make(({ message }) => void lines.push(JSON.stringify(message)))
    ])
    return Effect.gen(function* () {
      yield* planted(["fund-a", "fund-b"])
      fault.collection = fails
      const { value } = yield* Reconciling.run(body)
      const found = yield* suppliesFound
      assert.include(found, "register-supply fund-b open -7")
      assert.strictEqual((yield* verdictOf("fund-b")).verdict, "blocked")
      assert.isTrue((yield* Reconciling.openHolds).some((hold) => hold.instrumentId === "fund-b"))
      const own = yield* verdictOf("fund-a")
      assert.isFalse(own.ran.length === (yield* verdictOf("fund-b")).ran.length)
      const named = own.notCompared.filter(({ why }) => why === defect)
      assert.isAbove(named.length, 0)
      for (const { instrumentId, isNeeded } of named) {
        assert.deepStrictEqual([instrumentId, isNeeded], ["fund-a", true])
      }
      const failed = value.checks.filter(({ ran }) => !ran)
      assert.deepStrictEqual(
        failed.map(({ check, why }) => `${check} ${why}`).toSorted(),
        [...new Set(named.map(({ check }) => `${check} ${defect}`))].toSorted()
      )
      assert.isTrue(lines.some((line) => line.includes("fund-a") && line.includes(named[0]!.check)))

      // Mended, the next run compares it as any other.
      fault.collection = null
      yield* Reconciling.run("{}")
      assert.include(yield* suppliesFound, "register-supply fund-a open -7")
      assert.deepStrictEqual((yield* verdictOf("fund-a")).notCompared, [])
    }).pipe(Effect.provide(logger), Effect.provide(world({ storage: failing(fault) })))
  })

  it.effect("ends a queued run as incomplete and clears nothing", () => {
    const fault: Fault = { collection: null, instrumentId: "fund-a" }
    return Effect.gen(function* () {
      const records = yield* Records
      yield* planted(["fund-a"])
      yield* Reconciling.run()
      fault.collection = "register-entry"
      const item = { trigger: "statement", instrumentId: "fund-a", causedBy: "st-1" } as const
      yield* records.transact(records.enqueue([itemOf(item)]))
      yield* Workers.runOnce("reconciliation")
      assert.deepStrictEqual(
        (yield* Reconciling.allRuns).map(({ trigger }) => trigger),
        ["manual", "statement"]
      )
      assert.deepStrictEqual(yield* suppliesFound, ["register-supply fund-a open -7"])
    }).pipe(Effect.provide(world({ storage: failing(fault) })))
  })

  it.effect("of the venue's own facts leaves every instrument incomplete", () => {
    const fault: Fault = { collection: null, instrumentId: "" }
    return Effect.gen(function* () {
      yield* planted(["fund-a", "fund-b"])
      fault.collection = "unexpected-fact"
      const { value } = yield* Reconciling.run()
      const replay = value.checks.find(({ check }) => check === "policy-replay")
      assert.deepStrictEqual([replay?.ran, replay?.why], [false, defect])
      assert.include(yield* suppliesFound, "register-supply fund-b open -7")
      for (const id of ["fund-a", "fund-b"]) {
        assert.notInclude((yield* verdictOf(id)).ran, "policy-replay")
      }
    }).pipe(Effect.provide(world({ storage: failing(fault) })))
  })
})
