/** The clock of a venue in one process: one time of day for all, and what falls due as it moves. */
import { EventQueries } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Venue, VenueClock, Wallets } from "@bursar/storage-adapters/venue"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import * as Calls from "../engine/calls.ts"
import { bodyOf } from "../operations/instrumentBody.ts"

const start = "2026-07-01T12:00:00Z"
const inMemory = (options: Venue.Options = {}) =>
  Effect.provide(Venue.memory({ clock: start, ...options }))

const shown = Effect.map(Instant.now, Instant.format)
const at = (text: string) => Instant.format(Instant.of(text))

const defectOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.exit(effect), (exit) =>
    Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : "no defect"
  )

describe("a clock that stands", () => {
  it.live("is the time of day of program, ledger and wallets, and moves where it is told to", () =>
    Effect.gen(function* () {
      const clock = yield* VenueClock
      assert.strictEqual(yield* shown, at(start))
      const moves = [
        [clock.to("2026-07-02"), "2026-07-02T00:00:00Z"],
        [clock.to("2026-07-02T10:00:00.5Z"), "2026-07-02T10:00:00.5Z"],
        [clock.to(Instant.of("2026-07-02T11:00:00Z")), "2026-07-02T11:00:00Z"],
        [clock.by("PT1H30M"), "2026-07-02T12:30:00Z"],
        [clock.by("P1M"), "2026-08-02T12:30:00Z"],
        [clock.by("2 days"), "2026-08-04T12:30:00Z"],
        [clock.set("2026-08-05"), "2026-08-05T00:00:00Z"]
      ] as const
      for (const [move, expected] of moves) {
        yield* move
        assert.strictEqual(yield* shown, at(expected))
        assert.strictEqual(Instant.format(yield* clock.now), at(expected))
      }
      const registrar = yield* (yield* Wallets).registrar("registrar")
      const { party } = registrar
      yield* registrar.configure({ instrumentId: "fund-a", provider: party, issuer: party })
      const [configured] = yield* registrar.find(Templates.InstrumentConfiguration)
      assert.strictEqual(
        Instant.format(configured?.createdAt ?? Instant.fromNanos(0n)),
        at("2026-08-05T00:00:00Z")
      )
    }).pipe(inMemory())
  )

  it.live("never goes back, and takes no text that is no time", () =>
    Effect.gen(function* () {
      const clock = yield* VenueClock
      for (const move of [clock.to, clock.set]) {
        assert.include(yield* defectOf(Effect.suspend(() => move("2026-07-01"))), "runs forward")
        assert.include(yield* defectOf(Effect.suspend(() => move("tomorrow"))), "RFC 3339")
      }
      assert.include(yield* defectOf(Effect.suspend(() => clock.by("P1X"))), "ISO 8601")
      assert.strictEqual(yield* shown, at(start))
    }).pipe(inMemory())
  )
})

describe("a clock without an instant", () => {
  it.live("runs on from wherever it is moved to", () =>
    Effect.gen(function* () {
      const clock = yield* VenueClock
      const before = yield* clock.now
      yield* clock.by("P1D")
      const after = yield* Instant.now
      assert.isTrue(
        Instant.atOrAfter(after, Instant.add(before, { years: 0, months: 0, days: 1, time: 0n }))
      )
    }).pipe(Effect.provide(Venue.memory()))
  )
})

const lapses = Effect.flatMap(EventQueries.EventQueries, (feed) =>
  Effect.map(
    feed.page({ caller: Calls.operator, params: { type: ["approval.lapsed"] }, limit: 100 }),
    ({ value }) => value.length
  )
)

/** A write that awaits an approver, in a venue whose undecided actions lapse after an hour. */
const awaiting = Effect.asVoid(Calls.openAction("instrument.record", {}, bodyOf()))
const hasty = inMemory({ settings: { approvalExpiry: 3_600_000 } })

describe("what falls due", () => {
  it.live("runs as the clock moves over it, and not before", () =>
    Effect.gen(function* () {
      const clock = yield* VenueClock
      yield* awaiting
      yield* clock.by("PT59M")
      assert.strictEqual(yield* lapses, 0)
      yield* clock.by("PT2M")
      assert.strictEqual(yield* lapses, 1)
      yield* clock.by("P1D")
      assert.strictEqual(yield* lapses, 1)
    }).pipe(hasty)
  )

  it.live("waits where the time of day is set alone, until it is run", () =>
    Effect.gen(function* () {
      const clock = yield* VenueClock
      yield* awaiting
      yield* clock.set("2026-07-02")
      assert.strictEqual(yield* lapses, 0)
      yield* clock.runDue
      assert.strictEqual(yield* lapses, 1)
    }).pipe(hasty)
  )
})
