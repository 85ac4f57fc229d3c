/** Standing approvals of distributions: granted by two, revoked by one, used up to their limits. */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant, Offset } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { TestClock } from "effect/testing"
import {
  evolve,
  standingApprovals
} from "#core/distributions/standing-approval/StandingApproval.ts"
import { againstUse } from "#core/distributions/standing-approval/StandingApprovalGates.ts"
import { openOf } from "#core/distributions/standing-approval/StandingApprovalLookups.ts"
import * as Queries from "#core/distributions/standing-approval/StandingApprovalQueries.ts"
import { countUse } from "#core/distributions/standing-approval/StandingApprovalSteps.ts"
import { instruments as instrumentsOf } from "#core/instruments/instrument/Instrument.ts"
import { ripen } from "#core/kernel/Collection.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Fund from "./fund.ts"
import { granted, idOf } from "./standing-approvals.ts"
import { id as instrumentIds, instrumentId } from "./story.ts"
import { list, read } from "./venue.ts"

const engine = () => Effect.provide(world())
const d = Decimal.of

const distribution = {
  schedule: "monthly",
  withholding: 0.15,
  payoutDecimals: 2,
  payout: "units",
  calendar: { frequency: "monthly", recordDay: 31, paymentLagDays: 5 }
}

const clock = (at: string) => TestClock.setTime(Instant.toEpochMillis(Instant.of(at)))
const until = "2027-06-30T00:00:00Z"

const grants = (body: Readonly<Record<string, Calls.Json>> = {}) =>
  Calls.write(
    "standing-approval.grant",
    {},
    { standingApprovalId: "sa1", instrumentId: "fund-a", until, ...body }
  )
const revokes = (id = "sa1", caller: typeof Calls.operator = Calls.operator) =>
  Calls.write("standing-approval.revoke", { standingApprovalId: id }, {}, caller)
const shown = (id = "sa1") =>
  Effect.map(read(Queries.get, { standingApprovalId: idOf(id) }), ({ value }) => value)
const listed = (params: { readonly state?: ReadonlyArray<"scheduled" | "active" | "lapsed"> }) =>
  Effect.map(list(Queries.list, params), ({ value }) =>
    value.map(({ standingApprovalId, state }) => `${standingApprovalId} ${state}`)
  )

const uses = (net: string, id = "sa1") =>
  Effect.flatMap(Records, (records) =>
    Effect.flatMap(Instant.now, (now) =>
      records.transact(
        countUse(
          { standingApprovalId: id, distributionId: "d1", net: d(net), at: now },
          { cause: { by: "clock" }, now, offset: Offset.of(1_000) }
        )
      )
    )
  )

describe("a standing approval", () => {
  it.effect("is granted with what its body leaves out, and shown with who granted it", () =>
    Effect.gen(function* () {
      yield* Fund.opened({ distribution })
      const made = yield* grants()
      assert.deepEqual([made.state, made.why], ["succeeded", ""])
      const self = yield* shown()
      assert.deepInclude(self, {
        standingApprovalId: idOf("sa1"),
        instrumentId,
        action: "distribution.execute",
        state: "active",
        from: self.grantedAt,
        until: Instant.of(until),
        maxUses: null,
        maxNet: null,
        currency: "USD",
        rateChange: "alert",
        partial: "carry",
        uses: 0,
        grantedBy: "olga",
        approvedBy: "ada",
        revokedBy: null,
        revokedAt: null,
        waitingOn: []
      })
      assert.isFalse("judgedAt" in self)
    }).pipe(engine())
  )

  it.effect("never is granted without a calendar, past its end, or for too long", () =>
    Effect.gen(function* () {
      yield* Fund.opened({ distribution })
      for (const [body, check] of [
        [{ until: "2026-07-01T00:00:00Z" }, "approval-period"],
        [{ from: "2026-05-01T00:00:00Z", until: "2026-07-01T00:00:00Z" }, "approval-period"],
        [{ from: "2026-12-01T00:00:00Z", until: "2026-12-01T00:00:00Z" }, "approval-period"],
        [{ until: "2027-12-31T00:00:00Z" }, "approval-longest"],
        [{ from: "2026-12-01T00:00:00Z", until: "2028-01-06T00:00:00Z" }, "approval-longest"]
      ] as const) {
        assert.include((yield* grants(body)).why, check)
      }
      for (const terms of [
        { ...distribution, calendar: null },
        { ...distribution, calendar: null, schedule: "none" }
      ]) {
        const { policyVersion } = yield* Effect.flatMap(Records, (records) =>
          records.get(instrumentsOf, "fund-a")
        )
        const set = yield* Calls.write(
          "policy.set",
          instrumentIds,
          { distribution: terms },
          Calls.operator,
          String(policyVersion)
        )
        assert.strictEqual(set.why, "")
        assert.strictEqual((yield* grants()).why, "rule-refused policy calendar")
      }
    }).pipe(engine())
  )

  it.effect("is alone: another of the instrument is refused until it has ended", () =>
    Effect.gen(function* () {
      yield* Fund.opened({ distribution })
      yield* grants({ from: "2026-09-01T00:00:00Z" })
      const second = { standingApprovalId: "sa2" }
      assert.include((yield* grants(second)).why, "StandingApprovalState")
      yield* clock("2026-10-01T00:00:00Z")
      assert.include((yield* grants(second)).why, "StandingApprovalState")
      yield* revokes()
      assert.strictEqual((yield* grants(second)).why, "")
      assert.strictEqual((yield* openOf("fund-a"))?.standingApprovalId, "sa2")
    }).pipe(engine())
  )

  it.effect("begins and ends by the clock, for lists too", () =>
    Effect.gen(function* () {
      yield* Fund.opened({ distribution })
      yield* grants({ from: "2026-09-01T00:00:00Z", until: "2026-10-01T00:00:00Z" })
      assert.deepEqual((yield* shown()).waitingOn, [
        {
          party: null,
          role: "engine",
          action: "standing-approval.begin",
          by: Instant.of("2026-09-01T00:00:00Z"),
          actionKey: null,
          resource: null
        }
      ])
      assert.deepEqual(yield* listed({ state: ["scheduled"] }), ["sa1 scheduled"])
      yield* clock("2026-09-01T00:00:00Z")
      assert.deepEqual(yield* listed({ state: ["active"] }), ["sa1 active"])
      assert.deepEqual(yield* listed({ state: ["scheduled"] }), [])
      yield* clock("2026-10-01T00:00:00Z")
      assert.deepEqual(yield* listed({ state: ["lapsed"] }), ["sa1 lapsed"])
      assert.isNull(yield* openOf("fund-a"))
      assert.include((yield* revokes()).why, "StandingApprovalState")
    }).pipe(engine())
  )

  it.effect("is revoked by one person at once, by an approver or risk too", () =>
    Effect.gen(function* () {
      yield* Fund.opened({ distribution })
      yield* grants()
      yield* revokes("sa1", Calls.person("ada", "approver"))
      const self = yield* shown()
      assert.deepInclude(self, { state: "revoked", revokedBy: "ada" })
      assert.isNull(yield* openOf("fund-a"))
      // A use that was sent before is counted, and the ended approval stays ended.
      yield* uses("1")
      assert.deepInclude(yield* shown(), { state: "revoked", uses: 1, usedNet: d("1") })
    }).pipe(engine())
  )

  it.effect("is exhausted by its uses, or by exactly its net", () =>
    Effect.gen(function* () {
      yield* Fund.opened({ distribution })
      yield* grants({ maxNet: 1000 })
      yield* uses("640.10")
      const before = yield* shown()
      assert.strictEqual(before.state, "active")
      assert.isTrue(againstUse(before, d("359.91")).refuses)
      assert.isFalse(againstUse(before, d("359.90")).refuses)
      yield* uses("359.90")
      const after = yield* shown()
      assert.deepInclude(after, { state: "exhausted", uses: 2, usedNet: d("1000") })
      assert.isTrue(againstUse(after, d("0")).refuses)
      yield* grants({ standingApprovalId: "sa2", maxUses: 1 })
      yield* uses("0", "sa2")
      assert.strictEqual((yield* shown("sa2")).state, "exhausted")
    }).pipe(engine())
  )
})

const start = Instant.of("2026-08-01T00:00:00Z")
const at = (hours: number) => Instant.fromNanos(start + BigInt(hours) * 3_600_000_000_000n)

const inCents = (cents: number) =>
  d(`${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, "0")}`)

const acts = fc.array(
  fc.record({
    hours: fc.integer({ min: 0, max: 12 }),
    act: fc.oneof(
      { weight: 9, arbitrary: fc.record({ net: fc.integer({ min: 0, max: 40_000 }) }) },
      { weight: 1, arbitrary: fc.constant("revoke" as const) }
    )
  }),
  { maxLength: 30 }
)

describe("the uses of a standing approval", () => {
  it("never pass its limits, and none is admitted outside its time or once it is revoked", () => {
    fc.assert(
      fc.property(
        fc.option(fc.integer({ min: 1, max: 5 })),
        fc.option(fc.integer({ min: 1, max: 100_000 })),
        acts,
        (maxUses, cents, steps) => {
          const maxNet = cents === null ? null : inCents(cents)
          let self = granted({
            from: at(10),
            until: at(90),
            grantedAt: start,
            judgedAt: start,
            maxUses,
            maxNet
          })
          let hours = 0
          let [uses, used, isRevoked] = [0, 0, false]
          for (const step of steps) {
            hours += step.hours
            const now = at(hours)
            const read = ripen(standingApprovals, self, now)
            if (step.act === "revoke") {
              if (read.state !== "scheduled" && read.state !== "active") continue
              self = evolve(read, { on: "revoke", at: now, by: "olga" })
              isRevoked = true
              continue
            }
            const { net } = step.act
            const expected =
              !isRevoked &&
              hours >= 10 &&
              hours < 90 &&
              (maxUses === null || uses < maxUses) &&
              (cents === null || (used < cents && used + net <= cents))
            const amount = inCents(net)
            assert.strictEqual(!againstUse(read, amount).refuses, expected)
            if (!expected) continue
            uses += 1
            used += net
            self = evolve(read, { on: "use", at: now, distributionId: "d1", net: amount })
            assert.isTrue(maxNet === null || Decimal.atMost(self.usedNet, maxNet))
            assert.isTrue(maxUses === null || self.uses <= maxUses)
            assert.strictEqual(self.uses, uses)
          }
        }
      )
    )
  })
})
