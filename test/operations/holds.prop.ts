/** Runs that find, pauses and releases in any order: which holds are open is what an auditor's book says. */
import { Ledger } from "@bursar/engine-core/ports"
import { Catalogue, Records } from "@bursar/engine-core"
import { Decimal, Instant, Offset } from "@bursar/engine-core/kernel"
import { Effect, Option } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { holds, type Hold } from "#core/restraints/hold/Hold.ts"
import { openFor } from "#core/restraints/hold/HoldOpeningSteps.ts"
import { openOn } from "#core/restraints/hold/OpenHoldLookups.ts"
import { instruments } from "#core/instruments/instrument/Instrument.ts"
import { findings, first } from "#core/findings/Finding.ts"
import { foundAgain } from "#core/findings/FindingRules.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import { id } from "../machines/subscriptions.ts"

const instrumentId = id<"InstrumentId">("fund-a")
const checks = ["planted-first", "planted-second", "reserve-cover"] as const
type Check = (typeof checks)[number]
type Source = Hold["source"]
const sourceOf = (check: Check): Source => (check === "reserve-cover" ? "cover" : "reconciliation")

/** Findings of a run for each check, in units; null: none. */
type Found = Readonly<Record<Check, number | null>>

const cover = { reserveId: "res-1", ratio: Decimal.of("0.9"), minCover: Decimal.of("1.02") }

let runs = 0
/** Records findings and opens holds, as a reconciliation run does once it has compared. */
const run = (found: Found) =>
  Effect.gen(function* () {
    const records = yield* Records
    const now = yield* Instant.now
    const runId = `run-${++runs}`
    const act = { cause: { by: "run", runId } as const, now }
    const noted = Effect.fnUntraced(function* (check: Check, amount: number | null) {
      const findingId = id<"FindingId">(`fnd-${check}`)
      const before = yield* records.find(findings, findingId)
      if (amount === null) {
        return Option.isSome(before) && before.value.state !== "cleared"
          ? [yield* records.append(findings, before.value, { on: "clear", runId }, act)]
          : []
      }
      const difference = Decimal.fromInteger(amount)
      const seen = {
        runId,
        severity: "blocking",
        expected: null,
        actual: null,
        difference,
        unit: "units",
        tolerance: Decimal.zero,
        explained: { amount: Decimal.zero, by: [] },
        unexplained: difference,
        asOf: { offset: Offset.zero, instant: now },
        // Figures of another moment: the runs that releases start have none to clear it by.
        comparedAt: { offset: Offset.zero, instant: now },
        statementId: null,
        missingDates: [],
        entry: null
      } as const
      if (Option.isSome(before)) {
        return [yield* records.append(findings, before.value, foundAgain(before.value, seen), act)]
      }
      const subject = { resourceKind: "instrument", id: instrumentId } as const
      const one = first({ findingId, check, instrumentId, subject, holderId: null }, seen)
      return [yield* records.open(findings, one, act)]
    })
    yield* records.transact(
      Effect.gen(function* () {
        const instrument = yield* records.get(instruments, instrumentId)
        const all = yield* Effect.forEach(checks, (check) => noted(check, found[check]))
        const input = { instrument, findings: all.flat(), runId }
        yield* openFor({ ...input, source: "reconciliation" }, act)
        yield* openFor({ ...input, source: "cover", cover }, act)
      })
    )
  })

const kindOf = (kind: string) => {
  const found = Catalogue.operations.find((one) => one.kind === kind)
  if (found === undefined) throw new Error(`no operation ${kind}`)
  return found
}
const operator = Calls.person("olga", "operator")
const approvers = [Calls.person("anna", "approver"), Calls.person("ben", "approver")]

let keys = 0
const pause = Effect.andThen(
  Effect.suspend(() =>
    Calls.submit(kindOf("instrument.pause"), operator, {
      params: { instrumentId },
      body: '{"reason":"r"}',
      key: `key-${++keys}`
    })
  ),
  Calls.settle
)

/** Asks for a release and has it signed twice; the slug it is refused with. */
const release = (holdId: string, accept: ReadonlyArray<string>) =>
  Calls.slug(
    Effect.gen(function* () {
      const made = yield* Calls.submit(kindOf("hold.release"), operator, {
        params: { holdId },
        body: JSON.stringify({ accept, reason: "known" }),
        key: `key-${++keys}`
      })
      const action = String(Calls.field(made, "actionKey"))
      for (const approver of approvers) yield* Calls.approve(action, approver)
      yield* Calls.settle
    })
  )

const amount = fc.option(
  fc.integer({ min: -3, max: 3 }).filter((one) => one !== 0),
  { freq: 2 }
)
const found: fc.Arbitrary<Found> = fc.record({
  "planted-first": amount,
  "planted-second": amount,
  "reserve-cover": amount
})
const step = fc.oneof(
  { weight: 3, arbitrary: found.map((counts) => ({ on: "run" as const, counts })) },
  {
    weight: 3,
    arbitrary: fc.record({
      on: fc.constant("release" as const),
      source: fc.constantFrom("manual" as const, "reconciliation" as const, "cover" as const),
      accepts: fc.boolean()
    })
  },
  { weight: 1, arbitrary: fc.constant({ on: "pause" as const }) }
)

/** The auditor's own book of one difference: what it is, and between which amounts all is accepted. */
interface Line {
  readonly at: number | null
  readonly covered: readonly [number, number] | null
}
const lineAt = ({ covered }: Line, at: number | null): Line => ({
  at,
  covered: at !== null && covered !== null && covered[0] <= at && at <= covered[1] ? covered : null
})
const isOpen = ({ at, covered }: Line): boolean => at !== null && covered === null

const opened = Effect.gen(function* () {
  const records = yield* Records
  const { venue } = yield* Ledger.Ledger
  const act = { cause: { by: "run", runId: "seed" } as const, now: yield* Instant.now }
  yield* records.transact(
    records.open(
      instruments,
      {
        instrumentId,
        registrar: venue,
        configurations: [],
        manifest: null,
        policyVersion: null,
        termsSince: null,
        next: null,
        backedBy: null
      },
      act
    )
  )
})

const open = Effect.map(openOn([instrumentId]), (all) => all.map(({ source }) => source))

describe("holds of an instrument", () => {
  it("never are open beside one of their source, gone while their cause stays, or back without one", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 10 }), (steps) =>
        Calls.runCase(
          Effect.gen(function* () {
            yield* opened
            let lines: Readonly<Record<Check, Line>> = {
              "planted-first": { at: null, covered: null },
              "planted-second": { at: null, covered: null },
              "reserve-cover": { at: null, covered: null }
            }
            let held: ReadonlyArray<Source> = []
            for (const one of steps) {
              if (one.on === "pause") {
                yield* pause
                held = [...held, "manual"]
              } else if (one.on === "run") {
                yield* run(one.counts)
                for (const check of checks) {
                  const line = lineAt(lines[check], one.counts[check])
                  lines = { ...lines, [check]: line }
                  const source = sourceOf(check)
                  if (isOpen(line) && !held.includes(source)) held = [...held, source]
                }
              } else if (held.includes(one.source)) {
                const [hold] = (yield* openOn([instrumentId])).filter(
                  ({ source }) => source === one.source
                )
                if (hold === undefined) throw new Error(`no ${one.source} hold is open`)
                const left = checks.filter(
                  (check) => sourceOf(check) === one.source && isOpen(lines[check])
                )
                const slug = yield* release(hold.holdId, one.accepts ? hold.findings : [])
                const isRefused = left.length > 0 && !one.accepts
                expect(slug).toBe(isRefused ? "rule-refused" : "no refusal")
                if (isRefused) continue
                held = held.filter((_, index) => index !== held.indexOf(one.source))
                for (const check of left) {
                  const { at } = lines[check]
                  const covered = [Math.min(0, at ?? 0), Math.max(0, at ?? 0)] as const
                  lines = { ...lines, [check]: { at, covered } }
                }
              }
              expect([...(yield* open)].toSorted()).toEqual([...held].toSorted())
            }
          }).pipe(Effect.provide(world()))
        )
      ),
      { numRuns: 60 }
    )
  })

  it("never are two of one source when two runs find at the same time", () =>
    Calls.runCase(
      Effect.gen(function* () {
        yield* opened
        const found = { "planted-first": 1, "planted-second": null, "reserve-cover": 2 }
        yield* Effect.all([run(found), run(found), run(found)], { concurrency: "unbounded" })
        expect([...(yield* open)].toSorted()).toEqual(["cover", "reconciliation"])
        // Both holds open in one transaction, so their ids alone order them.
        const hold = (yield* openOn([instrumentId])).find(({ source }) => source !== "cover")
        const records = yield* Records
        const self = yield* records.get(findings, "fnd-planted-first")
        expect([hold?.findings, self.holdId]).toEqual([["fnd-planted-first"], hold?.holdId])
      }).pipe(Effect.provide(world()))
    ))

  it("never forget why they were released, or what more came behind them", () =>
    Calls.runCase(
      Effect.gen(function* () {
        yield* opened
        yield* run({ "planted-first": 1, "planted-second": null, "reserve-cover": null })
        yield* run({ "planted-first": 1, "planted-second": -2, "reserve-cover": null })
        const [hold] = yield* openOn([instrumentId])
        expect(hold?.findings).toEqual(["fnd-planted-first", "fnd-planted-second"])
        yield* release(String(hold?.holdId), ["fnd-planted-second", "fnd-planted-first"])
        const records = yield* Records
        const after = yield* records.get(holds, String(hold?.holdId))
        expect(after.override).toEqual({
          findings: ["fnd-planted-first", "fnd-planted-second"],
          reason: "known"
        })
        yield* run({ "planted-first": 1, "planted-second": -3, "reserve-cover": null })
        const [next] = yield* openOn([instrumentId])
        expect(next?.holdId).not.toBe(hold?.holdId)
        expect(next?.findings).toEqual(["fnd-planted-second"])
      }).pipe(Effect.provide(world()))
    ))
})
