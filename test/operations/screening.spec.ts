/** Screening of holders: one request each, admission only when clear, and a new request in time. */
import { Records, Screenings, type settingsDefaults, Workers } from "@bursar/engine-core"
import { Duration, Instant } from "@bursar/engine-core/kernel"
import { ScreeningSource } from "@bursar/engine-core/ports"
import * as Scripted from "@bursar/storage-adapters/screening"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { holders } from "#core/holders/holder/Holder.ts"
import * as HolderView from "#core/holders/holder/HolderView.ts"
import { screenings } from "#core/holders/screening/Screening.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Fund from "./fund.ts"

/** A source whose script a test may change, and who it was asked about. */
const source = (first: Partial<Scripted.Script> = {}) => {
  let script: Scripted.Script = { ...Scripted.clear, ...first }
  const requests: Array<ScreeningSource.Request> = []
  const scripted = Scripted.make(Effect.sync(() => script))
  const service: ScreeningSource.Source = {
    ...scripted,
    ask: (request) => {
      requests.push(request)
      return scripted.ask(request)
    }
  }
  return {
    requests,
    say: (next: Partial<Scripted.Script>) => {
      script = { ...script, ...next }
    },
    layer: Layer.succeed(ScreeningSource.ScreeningSource, service)
  }
}

const under = (
  source: { readonly layer: Layer.Layer<ScreeningSource.ScreeningSource> },
  settings: Partial<typeof settingsDefaults> = {}
) => Effect.provide(world({ settings, screening: source.layer }))

const holder = (id = "h1") => Effect.flatMap(Records, (records) => records.get(holders, id))
const screened = Effect.map(holder(), ({ screening }) => screening?.state ?? null)
const moves = Effect.map(holder(), (self) => holders.waitingOn(self).map(({ action }) => action))

const ready = (stage: Fund.Parties) =>
  Effect.gen(function* () {
    yield* Calls.write(
      "holder.register",
      {},
      {
        holderId: "h1",
        party: stage.holder.party,
        legalName: "A Fund",
        taxResidences: [{ country: "CH" }]
      }
    )
    yield* Fund.accepts(stage)
    yield* Fund.signs(stage)
    yield* Calls.write("accepted-terms.accept", { holderId: "h1" }, {})
  })

const offering = Calls.write("admission.offer", { holderId: "h1" }, { instrumentId: "fund-a" })

/** Time passes, and whatever is due then is done. */
const pass = (time: string) =>
  Effect.gen(function* () {
    yield* TestClock.adjust(time as "1 minute")
    yield* Calls.settle
  })

/** The scheduled task has its turn, then the source is asked. */
const turn = Effect.gen(function* () {
  yield* Workers.runOnce("schedules")
  yield* TestClock.adjust("61 seconds")
  yield* Workers.runOnce("schedules")
  yield* Calls.settle
})

describe("a holder of a venue that screens", () => {
  it.effect("never is active before it is clear, or is asked about twice", () => {
    const one = source({ others: ["nothing-yet", "none"] })
    return Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* ready(stage)
      assert.strictEqual((yield* holder()).state, "pending")
      assert.strictEqual(yield* screened, "pending")
      assert.deepStrictEqual(yield* moves, ["screening.answer"])
      yield* pass("6 seconds")
      const self = yield* holder()
      assert.strictEqual(self.state, "active")
      assert.deepInclude(self.screening, { state: "clear", listVersion: "1", validUntil: null })
      assert.deepStrictEqual(new Set(one.requests.map(({ requestId }) => requestId)).size, 1)
      assert.deepInclude(one.requests[0], {
        holderId: "h1",
        party: stage.holder.party,
        legalName: "A Fund",
        countries: ["CH"]
      })
      yield* pass("10 minutes")
      assert.strictEqual(one.requests.length, 2)
      assert.strictEqual((yield* offering).why, "")
    }).pipe(under(one))
  })

  it.effect(
    "never is let through while a possible hit is judged, or stays out once it is none",
    () => {
      const named = [
        { who: "h1", answers: ["possible", "possible", "none"] as const, reason: "same name" }
      ]
      const one = source({ named })
      return Effect.gen(function* () {
        const stage = yield* Fund.opened()
        yield* ready(stage)
        assert.strictEqual(yield* screened, "review")
        assert.deepStrictEqual(yield* moves, ["screening.adjudicate"])
        assert.strictEqual((yield* holder()).state, "pending")
        const { version } = yield* holder()
        yield* pass("61 seconds")
        assert.strictEqual((yield* holder()).version, version)
        yield* pass("61 seconds")
        assert.strictEqual(yield* screened, "clear")
        assert.strictEqual((yield* holder()).state, "active")
        const records = yield* Records
        const kept = (yield* records.list(screenings, { limit: 9 })).map(({ record }) => record)
        assert.deepStrictEqual(
          kept.map(({ finding }) => [finding?.found, finding?.reason]),
          [["none", "same name"]]
        )
      }).pipe(under(one))
    }
  )

  it.effect("confirmed to be on a list is not admitted, nor screened again by itself", () => {
    const one = source({ named: [{ who: "A Fund", answers: ["confirmed"] }] })
    return Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* ready(stage)
      assert.strictEqual(yield* screened, "match")
      assert.strictEqual((yield* holder()).state, "pending")
      one.say({ listVersion: "2", named: [] })
      yield* turn
      assert.strictEqual(yield* screened, "match")
      const runner = yield* Screenings
      yield* runner.rescreen("h1")
      yield* Calls.settle
      assert.strictEqual(yield* screened, "clear")
      assert.strictEqual((yield* holder()).state, "active")
    }).pipe(under(one))
  })

  it.effect(
    "that was clear is screened again under lists that changed before it is admitted",
    () => {
      const one = source()
      return Effect.gen(function* () {
        const stage = yield* Fund.opened()
        yield* ready(stage)
        assert.strictEqual(yield* screened, "clear")
        one.say({ listVersion: "2", others: ["nothing-yet", "none"] })
        yield* turn
        assert.strictEqual(yield* screened, "pending")
        assert.strictEqual((yield* offering).why, "rule-refused screening screening-clear")
        yield* pass("6 seconds")
        assert.deepInclude((yield* holder()).screening, { state: "clear", listVersion: "2" })
        assert.strictEqual((yield* holder()).state, "active")
        const { version } = yield* holder()
        yield* turn
        assert.strictEqual((yield* holder()).version, version)
      }).pipe(under(one))
    }
  )

  it.effect("never stays clear for ever where the deployment lets no screening be that old", () => {
    const one = source()
    return Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* ready(stage)
      const screening = (yield* holder()).screening
      assert.strictEqual(
        screening?.validUntil,
        Instant.add(screening?.screenedAt ?? Instant.fromNanos(0n), Duration.of("P30D"))
      )
      yield* TestClock.adjust("29 days")
      assert.strictEqual(yield* screened, "clear")
      yield* TestClock.adjust("1 day")
      assert.strictEqual(yield* screened, "stale")
      assert.strictEqual((yield* offering).why, "rule-refused screening screening-clear")
      yield* turn
      assert.strictEqual(yield* screened, "clear")
    }).pipe(under(one, { rescreenAfter: Duration.of("P30D") }))
  })

  it.effect(
    "never stays clear longer than an instrument's policy says, or than it says since",
    () => {
      const one = source()
      return Effect.gen(function* () {
        const stage = yield* Fund.opened()
        const policy = (replaces: string, rescreenAfter: string) =>
          Calls.write(
            "policy.set",
            { instrumentId: "fund-a" },
            { rescreenAfter },
            Calls.operator,
            replaces
          )
        assert.strictEqual((yield* policy("1", "P20D")).why, "")
        yield* ready(stage)
        const { screenedAt, validUntil } = (yield* holder()).screening ?? {}
        assert.strictEqual(
          validUntil,
          Instant.add(screenedAt ?? Instant.fromNanos(0n), Duration.of("P20D"))
        )
        yield* TestClock.adjust("3 days")
        assert.strictEqual((yield* policy("2", "P2D")).why, "")
        assert.strictEqual(one.requests.length, 1)
        yield* turn
        assert.strictEqual(one.requests.length, 2)
        assert.strictEqual(yield* screened, "clear")
      }).pipe(under(one))
    }
  )

  it.effect(
    "never is forgotten by a source that was away, or moved by an answer that is none",
    () => {
      const answers: Array<
        Effect.Effect<ScreeningSource.ScreeningAnswer, ScreeningSource.SourceUnavailable>
      > = [
        Effect.fail(new ScreeningSource.SourceUnavailable({ detail: "away" })),
        Effect.succeed({
          found: "none",
          screenedAt: Instant.of(Fund.start),
          listVersion: "",
          validUntil: null,
          reason: null
        }),
        Effect.never
      ]
      const service: ScreeningSource.Source = {
        screens: "yes",
        listVersion: Effect.succeed("1"),
        ask: (request) =>
          answers.shift() ?? Scripted.make(Effect.succeed(Scripted.clear)).ask(request)
      }
      const layer = Layer.succeed(ScreeningSource.ScreeningSource, service)
      return Effect.gen(function* () {
        const stage = yield* Fund.opened()
        yield* ready(stage)
        assert.strictEqual(yield* screened, "pending")
        yield* pass("61 seconds")
        assert.strictEqual(yield* screened, "pending")
        // The third answer never comes: it is given up after a while.
        yield* TestClock.adjust("61 seconds")
        const asking = yield* Effect.forkChild(Calls.settle)
        yield* TestClock.adjust("31 seconds")
        yield* Fiber.join(asking)
        assert.strictEqual(yield* screened, "pending")
        yield* pass("61 seconds")
        assert.strictEqual(yield* screened, "clear")
        assert.strictEqual(answers.length, 0)
      }).pipe(under({ layer }))
    }
  )

  it.effect(
    "asked for while a request is under way, or after it ended, is not screened again",
    () => {
      const one = source({ others: ["nothing-yet"] })
      return Effect.gen(function* () {
        const stage = yield* Fund.opened()
        yield* ready(stage)
        const runner = yield* Screenings
        const twice = yield* Effect.result(runner.rescreen("h1"))
        assert.isTrue(Result.isFailure(twice))
        const nobody = yield* Effect.result(runner.rescreen("h9"))
        assert.isTrue(Result.isFailure(nobody))
        yield* Calls.write("holder.close", { holderId: "h1" }, {})
        const before = one.requests.length
        yield* pass("10 minutes")
        yield* turn
        assert.strictEqual(one.requests.length, before)
      }).pipe(under(one))
    }
  )
})

describe("a successor", () => {
  it.effect("never is active without a screening of its own", () => {
    const one = source()
    return Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* ready(stage)
      yield* Calls.write(
        "holder.register-successor",
        { holderId: "h1" },
        { party: stage.bank.party, successorId: "h2" }
      )
      assert.deepStrictEqual(
        one.requests.map(({ holderId, legalName }) => [holderId, legalName]),
        [
          ["h1", "A Fund"],
          ["h2", "A Fund"]
        ]
      )
      assert.strictEqual((yield* holder("h2")).screening?.state, "clear")
    }).pipe(under(one))
  })
})

describe("a venue that began to screen", () => {
  it.effect("never asks about the holders it had before", () => {
    const one = source()
    let screens: "yes" | "no" = "no"
    const service = {
      ...Scripted.make(Effect.succeed(Scripted.clear)),
      get screens() {
        return screens
      }
    }
    return Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* ready(stage)
      assert.strictEqual(yield* screened, null)
      assert.strictEqual((yield* holder()).state, "active")
      screens = "yes"
      yield* Workers.runOnce("schedules")
      yield* TestClock.adjust("61 seconds")
      yield* Workers.runOnce("schedules")
      assert.strictEqual(yield* screened, "pending")
      assert.deepStrictEqual(one.requests, [])
    }).pipe(under({ layer: Layer.succeed(ScreeningSource.ScreeningSource, service) }))
  })
})

describe("what a holder is shown of it", () => {
  it.effect("never moves with its screening, in any of its states", () => {
    const one = source({ others: ["nothing-yet", "possible", "none"] })
    return Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* ready(stage)
      const views: Array<string> = []
      const states: Array<string | null> = []
      for (let n = 0; n < 3; n++) {
        const self = yield* holder()
        // Becoming active is what the holder may know, and the only thing.
        views.push(JSON.stringify(HolderView.ofOwn({ ...self, state: "pending" }), text))
        states.push(self.screening?.state ?? null)
        if (n < 2) yield* pass(n === 0 ? "6 seconds" : "61 seconds")
        if (n === 1) assert.strictEqual((yield* holder()).state, "active")
      }
      assert.deepStrictEqual(states, ["pending", "review", "clear"])
      assert.strictEqual(views[0], views[1])
      assert.notInclude(views[2] ?? "", "clear")
      assert.include(views[2] ?? "", '"screening":null')
    }).pipe(under(one))
  })
})

const text = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value)
