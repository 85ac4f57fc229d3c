/** An instrument's policy through its writes and reads: what is in force when, and for which orders. */
import { Records } from "@bursar/engine-core"
import { Decimal, Duration, Instant, type Offset } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as fc from "fast-check"
import { TestClock } from "effect/testing"
import * as InstrumentQueries from "#core/overviews/instrument/InstrumentQueries.ts"
import { instruments, isRecorded } from "#core/instruments/instrument/Instrument.ts"
import { inForce } from "#core/instruments/policy/PolicyLookups.ts"
import * as PolicyQueries from "#core/instruments/policy/PolicyQueries.ts"
import { policyVersions } from "#core/instruments/policy/PolicyVersion.ts"
import { subscriptions } from "#core/orders/subscription/Subscription.ts"
import { approvals } from "#core/writes/Approval.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Fund from "./fund.ts"
import { id as instrumentIds, instrumentId } from "./story.ts"
import { list, offsetNow, read } from "./venue.ts"

const engine = () => Effect.provide(world())

const sets = (version: number | null, body: Readonly<Record<string, Calls.Json>>) =>
  Calls.write(
    "policy.set",
    instrumentIds,
    body,
    Calls.operator,
    version === null ? null : String(version)
  )

const start = Instant.of(Fund.start)
const after = (hours: number) => Instant.add(start, Duration.hours(hours))
const clock = (hours: number) => TestClock.setTime(Instant.toEpochMillis(after(hours)))

const policy = (point: { readonly at?: Offset.Offset; readonly asOf?: Instant.Instant } = {}) =>
  Effect.map(read(PolicyQueries.get, { instrumentId }, { point }), ({ value }) => value)
const instrument = (point: { readonly at?: Offset.Offset; readonly asOf?: Instant.Instant } = {}) =>
  Effect.map(read(InstrumentQueries.get, { instrumentId }, { point }), ({ value }) => value)
const states = Effect.map(list(PolicyQueries.list, { instrumentId }), ({ value }) =>
  value.map(({ policyVersion, state }) => `${policyVersion} ${state}`)
)

describe("policy.set", () => {
  it.effect(
    "of no instant holds at once; the version before is superseded, and shown where pinned",
    () =>
      Effect.gen(function* () {
        const stage = yield* Fund.opened()
        const before = yield* offsetNow
        yield* clock(1)
        const set = yield* sets(1, {
          fees: { subscription: 0.01, redemption: 0.02 },
          guardrail: { up: 0.1, down: 0.1 },
          holderCap: 5
        })
        assert.deepEqual([set.state, set.why], ["succeeded", ""])
        // A later event, so that a read can be pinned to an offset before it and to one after it.
        yield* Fund.publishes(stage, "1.01", "2026-07-31T12:00:00Z")
        const now = yield* policy()
        assert.deepInclude(now, {
          policyVersion: 2,
          state: "current",
          setBy: "olga",
          until: null,
          waitingOn: []
        })
        const shown = yield* instrument()
        assert.deepEqual(shown.fees, now.body.fees)
        assert.deepEqual(shown.navGuardrail, now.body.guardrail)
        assert.deepInclude(shown, { policyVersion: 2, holderCap: 5 })
        assert.deepEqual(yield* states, ["2 current", "1 superseded"])
        for (const point of [{ at: before }, { asOf: Instant.add(start, Duration.millis(1)) }]) {
          assert.deepInclude(yield* policy(point), {
            policyVersion: 1,
            state: "current",
            until: null
          })
          assert.deepInclude(yield* instrument(point), {
            policyVersion: 1,
            holderCap: 2,
            navGuardrail: null
          })
        }
      }).pipe(engine())
  )

  it.effect("of an instant to come holds from then on, by the clock alone", () =>
    Effect.gen(function* () {
      yield* Fund.opened()
      const set = yield* sets(1, { holderCap: 5, effectiveFrom: Instant.format(after(2)) })
      assert.deepEqual([set.state, set.why], ["succeeded", ""])
      assert.deepEqual(yield* states, ["2 scheduled", "1 current"])
      assert.strictEqual((yield* policy()).until, after(2))
      const [scheduled] = (yield* list(PolicyQueries.list, {
        instrumentId,
        state: ["scheduled"]
      })).value
      assert.deepEqual(scheduled?.waitingOn, [
        {
          party: null,
          role: "engine",
          action: "policy.begin",
          by: after(2),
          actionKey: null,
          resource: null
        }
      ])
      assert.strictEqual((yield* instrument()).holderCap, 2)
      // An amendment is known before it is in force: a cycle's cut-off may lie after its start.
      const ahead = yield* Effect.flatMap(Records, (records) =>
        records.get(instruments, instrumentId)
      )
      assert.isTrue(isRecorded(ahead))
      if (!isRecorded(ahead)) return
      assert.strictEqual((yield* inForce(ahead, after(1))).manifest.holderCap, 2)
      assert.strictEqual((yield* inForce(ahead, after(2))).manifest.holderCap, 5)
      yield* clock(2)
      assert.deepEqual(yield* states, ["2 current", "1 superseded"])
      assert.deepInclude(yield* instrument(), { policyVersion: 2, holderCap: 5 })
      assert.deepInclude(yield* policy({ asOf: after(1) }), { policyVersion: 1, state: "current" })
    }).pipe(engine())
  )

  it.effect("before the scheduled one began withdraws it, and builds on what it said", () =>
    Effect.gen(function* () {
      yield* Fund.opened()
      yield* sets(1, { holderCap: 5, effectiveFrom: Instant.format(after(2)) })
      assert.strictEqual(
        (yield* sets(1, { holderCap: 6 })).why,
        "state-conflict PolicyVersionState"
      )
      yield* sets(2, { residual: "fund", effectiveFrom: Instant.format(after(3)) })
      assert.deepEqual(yield* states, ["3 scheduled", "2 withdrawn", "1 current"])
      yield* clock(2)
      assert.strictEqual((yield* instrument()).policyVersion, 1)
      yield* clock(3)
      assert.deepInclude(yield* instrument(), { policyVersion: 3, holderCap: 5, residual: "fund" })
      assert.deepEqual(yield* states, ["3 current", "2 withdrawn", "1 superseded"])
    }).pipe(engine())
  )

  it.effect("is signed anew once the clock has brought in what it was compared with", () =>
    Effect.gen(function* () {
      yield* Fund.opened()
      yield* sets(1, { holderCap: 5, effectiveFrom: Instant.format(after(2)) })
      const action = yield* Calls.openAction("policy.set", instrumentIds, { holderCap: 4 }, "2")
      const shownFigures = Effect.gen(function* () {
        const records = yield* Records
        return (yield* records.get(approvals, String(action))).figures
      })
      const capOf = Effect.map(shownFigures, (figures) => figures?.["/holderCap"])
      assert.strictEqual(yield* capOf, "loosen: 2 -> 4; tighten: 5 -> 4")
      yield* clock(2)
      // The signature was for a loosening that is none any more.
      const late = yield* Calls.approveAction(action)
      assert.strictEqual(late.why, "rule-refused four-eyes figures-moved")
      assert.strictEqual(yield* capOf, "tighten: 5 -> 4")
      assert.strictEqual((yield* Calls.approveAction(action)).state, "succeeded")
      assert.deepInclude(yield* policy(), { policyVersion: 3, direction: "tighten" })
    }).pipe(engine())
  )

  it.effect("brings forward, or puts off, what was scheduled: either is told for what it is", () =>
    Effect.gen(function* () {
      yield* Fund.opened()
      const at = (hours: number) => ({ effectiveFrom: Instant.format(after(hours)) })
      const last = Effect.map(list(PolicyQueries.list, { instrumentId }), ({ value }) =>
        value.slice(0, 1).flatMap(({ changes }) => changes.map((one) => one.direction))
      )
      yield* sets(1, { holderCap: 5, ...at(4) })
      yield* sets(2, at(1))
      assert.deepEqual(yield* last, ["loosen"])
      yield* sets(3, at(3))
      assert.deepEqual(yield* last, ["tighten"])
      yield* clock(3)
      yield* sets(4, { holderCap: 1, ...at(5) })
      assert.deepEqual(yield* last, ["tighten"])
      yield* sets(5, at(6))
      assert.deepEqual(yield* last, ["loosen"])
    }).pipe(engine())
  )

  it.effect(
    "of a version that was never seen, of an unknown instrument or without one is refused",
    () =>
      Effect.gen(function* () {
        yield* Fund.opened()
        const why = (version: number | null, body = {}) =>
          Effect.map(sets(version, body), (ended) => ended.why)
        assert.strictEqual(yield* why(null), "invalid-request")
        assert.strictEqual(yield* why(7), "state-conflict PolicyVersionState")
        assert.strictEqual(
          yield* why(1, { effectiveFrom: Fund.start }),
          "rule-refused policy effective-ahead"
        )
        assert.strictEqual(yield* why(1, { parValue: 1 }), "invalid-request")
        const unknown = yield* Calls.write("policy.set", { instrumentId: "nobody" }, {})
        assert.strictEqual(unknown.why, "not-found")
        assert.deepEqual(yield* states, ["1 current"])
      }).pipe(engine())
  )

  it.effect("of an instrument that only a registry knows waits for its terms", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* stage.registrar.act(
        Templates.create(Templates.InstrumentConfiguration, {
          registrar: stage.registrar.party,
          provider: stage.venue,
          issuer: stage.fund.party,
          instrument: { admin: stage.registrar.party, id: "fund-b" },
          defaultIdentifier: { source: "venue", id: "fund-b", scheme: "id" },
          additionalIdentifiers: [],
          holderRequirements: [],
          issuerRequirements: []
        })
      )
      const set = yield* Calls.write("policy.set", { instrumentId: "fund-b" }, {})
      assert.strictEqual(set.why, "rule-refused policy in-manifest")
    }).pipe(engine())
  )

  it.effect("approved too late for its instant takes effect never, and says so", () =>
    Effect.gen(function* () {
      yield* Fund.opened()
      const made = yield* Calls.openAction(
        "policy.set",
        instrumentIds,
        { holderCap: 5, effectiveFrom: Instant.format(after(2)) },
        "1"
      )
      yield* clock(3)
      assert.strictEqual(
        (yield* Calls.approveAction(made)).why,
        "rule-refused policy effective-ahead"
      )
      assert.deepEqual(yield* states, ["1 current"])
    }).pipe(engine())
  )

  it.effect("of what units are counted by is taken until the first mint, and not after it", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* Fund.market(stage)
      yield* Fund.admitted(stage)
      assert.strictEqual((yield* sets(1, { unitDecimals: 4 })).why, "")
      assert.strictEqual(
        (yield* sets(2, { unitDecimals: 6, effectiveFrom: Instant.format(after(1)) })).why,
        "rule-refused policy fixed-at-once"
      )
      const credential = yield* Fund.newestContract(Templates.Credential)
      yield* stage.registrar.act(
        Templates.exercise(Templates.Credential, credential.cid, "Receive", {
          amount: Decimal.of("10"),
          reference: { kind: "subscription", id: "s0" },
          configurationCid: null
        })
      )
      for (const term of [{ unitDecimals: 6 }, { currency: "EUR" }, { valuation: "par" }]) {
        assert.strictEqual((yield* sets(2, term)).why, "rule-refused policy fixed-after-mint")
      }
      assert.strictEqual((yield* sets(2, { unitDecimals: 4, holderCap: 3 })).why, "")
    }).pipe(engine())
  )
})

describe("orders", () => {
  it.effect("keep the terms they were claimed under; later ones have the new", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* Fund.market(stage)
      yield* Fund.admitted(stage)
      const claims = (subscriptionId: string) =>
        Calls.write(
          "subscription.claim",
          {},
          {
            subscriptionId,
            instrumentId: "fund-a",
            holderId: "h1",
            payment: "wire",
            amount: 100000
          }
        )
      yield* claims("s1")
      yield* sets(1, {
        fees: { subscription: 0.01, redemption: 0 },
        effectiveFrom: Instant.format(after(1))
      })
      yield* claims("s2")
      yield* clock(1)
      yield* claims("s3")
      const records = yield* Records
      const figuresOf = (id: string) =>
        Effect.map(records.get(subscriptions, id), ({ policyVersion, fee }) => [policyVersion, fee])
      assert.deepEqual(
        [yield* figuresOf("s1"), yield* figuresOf("s2"), yield* figuresOf("s3")],
        [
          [1, 0n],
          [1, 0n],
          [2, Decimal.of("1000")]
        ]
      )
    }).pipe(engine())
  )
})

describe("the policy of an instant", () => {
  /** Hours between two acts, and when what is set is to begin, in hours from then; 0: at once. */
  const acts = fc.array(
    fc.record({ wait: fc.integer({ min: 1, max: 5 }), ahead: fc.integer({ min: 0, max: 6 }) }),
    { minLength: 1, maxLength: 6 }
  )

  const story = (history: ReadonlyArray<{ readonly wait: number; readonly ahead: number }>) =>
    Effect.gen(function* () {
      yield* Fund.opened()
      /** An independent book: which cap holds from which hour on. */
      let book: ReadonlyArray<{ readonly from: number; readonly cap: number }> = [
        { from: 0, cap: 2 }
      ]
      let hour = 0
      let version = 1
      for (const { wait, ahead } of history) {
        hour += wait
        yield* clock(hour)
        const cap = 100 + version
        const set = yield* sets(version, {
          holderCap: cap,
          ...(ahead === 0 ? {} : { effectiveFrom: Instant.format(after(hour + ahead)) })
        })
        assert.strictEqual(set.why, "")
        version += 1
        book = [...book.filter(({ from }) => from <= hour), { from: hour + ahead, cap }]
      }
      const end = hour + 7
      yield* clock(end)
      const records = yield* Records
      const now = yield* records.get(instruments, instrumentId)
      assert.isTrue(isRecorded(now))
      if (!isRecorded(now)) return
      const rows = yield* records.list(policyVersions, { limit: 100 })
      for (let at = 0; at < end; at++) {
        const expected = book.findLast(({ from }) => from <= at)?.cap
        const instant = Instant.add(after(at), Duration.millis(1))
        const terms = yield* inForce(now, instant)
        assert.strictEqual(terms.manifest.holderCap, expected)
        const pinned = { asOf: instant }
        const shown = yield* policy(pinned)
        assert.deepInclude(shown, { state: "current", policyVersion: terms.policyVersion })
        assert.deepInclude(yield* instrument(pinned), {
          policyVersion: terms.policyVersion,
          holderCap: shown.body.holderCap
        })
        assert.strictEqual(shown.body.holderCap, expected)
        // No other version claims to have been in force then.
        const ruling = rows.filter(
          ({ record }) =>
            record.state !== "withdrawn" &&
            record.effectiveFrom <= instant &&
            (record.until === null || record.until > instant)
        )
        assert.deepEqual(
          ruling.map(({ record }) => record.policyVersion),
          [terms.policyVersion]
        )
      }
      assert.isTrue(Option.isSome(yield* records.find(policyVersions, `fund-a:${version}`)))
    }).pipe(engine())

  it("is one version's, whole, at every instant of any history, and reads pinned to it say the same", () =>
    fc.assert(
      fc.asyncProperty(acts, (history) => Calls.runCase(story(history))),
      { numRuns: 12 }
    ))
})
