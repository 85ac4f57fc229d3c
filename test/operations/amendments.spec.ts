/**
 * Amendments of a reserve's terms: a tightening is in force at once, a loosening waits, and a
 * replaced one is dropped.
 */
import { EventQueries, Records } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as AmendmentQueries from "#core/reserves/amendment/AmendmentQueries.ts"
import { amendments } from "#core/reserves/amendment/Amendment.ts"
import { reserves } from "#core/reserves/reserve/Reserve.ts"
import { approvals } from "#core/writes/Approval.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Given from "../machines/reserves.ts"
import * as Backed from "./backed.ts"
import * as Fund from "./fund.ts"
import * as Venue from "./venue.ts"

const engine = () => Effect.provide(world())

/** Proposes terms, by default the scene's with this of the bills changed. */
const proposes = (
  scene: Backed.Scene,
  amendmentId: string,
  change: Parameters<typeof Backed.termsOf>[1]
) => Backed.amends(amendmentId, Backed.termsOf(scene, change))

const amends = (
  scene: Backed.Scene,
  amendmentId: string,
  change: Parameters<typeof Backed.termsOf>[1]
) =>
  Effect.andThen(proposes(scene, amendmentId, change), Backed.answersAmendment(scene, amendmentId))

const withdraws = (amendmentId: string) =>
  Calls.write("amendment.withdraw", { reserveId: "res-1", amendmentId }, {})

/** `id state` of every amendment, in the order of their proposals, as of the read. */
const states = Effect.map(
  Venue.list(AmendmentQueries.list, { reserveId: "res-1" as never }),
  ({ value }) => value.toReversed().map(({ amendmentId, state }) => `${amendmentId} ${state}`)
)

/** Haircut of the bills in force, by the view of the amendments and by the ledger's own contract. */
const haircut = Effect.gen(function* () {
  const now = yield* Instant.now
  const { terms, pending } = yield* Backed.reserve()
  const inForce = pending !== null && pending.effectiveAt <= now ? pending.terms : terms
  return String(Number(inForce.assets[1]?.haircut ?? 0n) / 1e10)
})

/** `direction effectiveAt` of each amendment that was announced. */
const announced = Effect.gen(function* () {
  const feed = yield* EventQueries.EventQueries
  const page = yield* feed.page({
    caller: Calls.operator,
    params: { resourceKind: ["reserve"] },
    limit: 1000
  })
  return page.value.flatMap(({ type, payload }) => {
    const { amendmentId, direction, effectiveAt } = payload as Readonly<Record<string, string>>
    return type === "reserve.amended" ? [`${amendmentId} ${direction} ${effectiveAt}`] : []
  })
})

const tighter = { haircut: 0.1 }
const looser = { haircut: 0.01 }

const active = Effect.gen(function* () {
  const scene = yield* Backed.opened()
  yield* Backed.reserved(scene)
  return scene
})

describe("terms that only tighten", () => {
  it.effect("are in force the moment the issuer accepts them, and never later", () =>
    Effect.gen(function* () {
      const scene = yield* active
      const { result, state } = yield* proposes(scene, "am-1", tighter)
      assert.deepEqual(
        [state, result["state"], result["loosens"]],
        ["succeeded", "proposed", false]
      )
      assert.deepEqual([yield* states, yield* haircut], [["am-1 proposed"], "0.05"])
      yield* Backed.answersAmendment(scene, "am-1")
      assert.deepEqual([yield* states, yield* haircut], [["am-1 effective"], "0.1"])
      const { acceptedAt, effectiveAt } = yield* Effect.flatMap(Records, (records) =>
        records.get(amendments, "am-1")
      )
      assert.deepEqual(effectiveAt, acceptedAt)
      assert.deepEqual(yield* announced, [`am-1 tighten ${Instant.format(effectiveAt!)}`])
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("end the terms before them, and drop those that wait", () =>
    Effect.gen(function* () {
      const scene = yield* active
      yield* amends(scene, "am-1", { haircut: 0.07 })
      yield* amends(scene, "am-2", looser)
      yield* amends(scene, "am-3", tighter)
      assert.deepEqual(yield* states, ["am-1 superseded", "am-2 superseded", "am-3 effective"])
      yield* TestClock.adjust("25 hours")
      assert.deepEqual([yield* haircut, (yield* Backed.reserve()).pending], ["0.1", null])
      assert.deepEqual(yield* states, ["am-1 superseded", "am-2 superseded", "am-3 effective"])
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )
})

describe("terms that loosen", () => {
  it.effect("are never in force before their delay has passed, and are at its very end", () =>
    Effect.gen(function* () {
      const scene = yield* active
      yield* amends(scene, "am-1", { haircut: 0.07 })
      yield* amends(scene, "am-2", looser)
      const { effectiveAt } = yield* Effect.flatMap(Records, (records) =>
        records.get(amendments, "am-2")
      )
      assert.deepEqual(yield* states, ["am-1 effective", "am-2 accepted"])
      const end = Instant.toEpochMillis(effectiveAt!)
      yield* TestClock.setTime(end - 1)
      assert.deepEqual(
        [yield* haircut, yield* states],
        ["0.07", ["am-1 effective", "am-2 accepted"]]
      )
      yield* TestClock.setTime(end)
      assert.deepEqual(
        [yield* haircut, yield* states],
        ["0.01", ["am-1 superseded", "am-2 effective"]]
      )
      // A later amendment is judged against the terms that came into force without an act.
      const next = yield* proposes(scene, "am-3", { haircut: 0.02 })
      assert.deepEqual(next.result["loosens"], false)
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("with a change that tightens wait whole", () =>
    Effect.gen(function* () {
      const scene = yield* active
      const { result } = yield* proposes(scene, "am-1", { haircut: 0.1, minCover: 0.9 })
      assert.deepEqual(
        (result["change"] as ReadonlyArray<{ direction: string }>).map((one) => one.direction),
        ["loosen", "tighten"]
      )
      yield* Backed.answersAmendment(scene, "am-1")
      assert.deepEqual([yield* states, yield* haircut], [["am-1 accepted"], "0.05"])
    }).pipe(engine())
  )

  it.effect("are refused while others wait, until these are withdrawn", () =>
    Effect.gen(function* () {
      const scene = yield* active
      yield* amends(scene, "am-1", looser)
      const second = yield* proposes(scene, "am-2", { haircut: 0.02 })
      assert.strictEqual(second.why, "rule-refused policy nothing-pending")
      assert.strictEqual((yield* withdraws("am-1")).state, "succeeded")
      assert.deepEqual((yield* Backed.reserve()).pending, null)
      assert.strictEqual((yield* proposes(scene, "am-2", { haircut: 0.02 })).state, "succeeded")
      assert.deepEqual(yield* states, ["am-1 withdrawn", "am-2 proposed"])
      yield* TestClock.adjust("25 hours")
      assert.deepEqual([yield* haircut, yield* Fund.surprises], ["0.05", []])
    }).pipe(engine())
  )

  it.effect("cannot be withdrawn once they are in force", () =>
    Effect.gen(function* () {
      const scene = yield* active
      yield* amends(scene, "am-1", looser)
      yield* TestClock.adjust("24 hours")
      assert.strictEqual((yield* withdraws("am-1")).why, "state-conflict AmendmentState")
      assert.strictEqual(yield* haircut, "0.01")
    }).pipe(engine())
  )
})

describe("terms that wait when their reserve ends", () => {
  it.effect.each(["its close", "the release that leaves nothing"] as const)(
    "are withdrawn by %s, and never in force",
    (end) =>
      Effect.gen(function* () {
        const scene = yield* active
        const isReleased = end !== "its close"
        if (isReleased) yield* Backed.locked(scene, { asset: scene.usd, amount: "10" })
        yield* amends(scene, "am-1", { haircut: 0.07 })
        yield* amends(scene, "am-2", looser)
        assert.strictEqual((yield* Backed.closes()).why, "")
        if (isReleased) {
          assert.deepEqual(yield* states, ["am-1 effective", "am-2 accepted"])
          assert.strictEqual((yield* Backed.releasesLock("lock-USD")).why, "")
        }
        for (const hours of [0, 25]) {
          yield* TestClock.adjust(`${hours} hours`)
          const { locked, pending, state } = yield* Backed.reserve()
          assert.deepEqual([state, pending, yield* haircut], ["closed", null, "0.07"])
          assert.deepEqual(locked, [])
          assert.deepEqual(yield* states, ["am-1 effective", "am-2 withdrawn"])
        }
        assert.deepEqual(yield* Fund.surprises, [])
      }).pipe(engine())
  )
})

describe("an amendment that the issuer has not answered", () => {
  it.effect("changes nothing once it is declined or taken back", () =>
    Effect.gen(function* () {
      const scene = yield* active
      yield* proposes(scene, "am-1", tighter)
      assert.strictEqual(
        (yield* proposes(scene, "am-2", { haircut: 0.2 })).why,
        "rule-refused policy one-amendment"
      )
      yield* Backed.answersAmendment(scene, "am-1", "Decline")
      yield* proposes(scene, "am-2", { haircut: 0.2 })
      assert.strictEqual((yield* withdraws("am-2")).state, "succeeded")
      assert.deepEqual(
        [yield* states, yield* haircut],
        [["am-1 declined", "am-2 withdrawn"], "0.05"]
      )
      assert.strictEqual((yield* withdraws("am-2")).why, "state-conflict AmendmentState")
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("is never one of another reserve, nor under an id that is taken", () =>
    Effect.gen(function* () {
      const scene = yield* active
      yield* proposes(scene, "am-1", tighter)
      assert.strictEqual((yield* proposes(scene, "am-1", tighter)).why, "already-exists")
      const other = yield* Calls.write(
        "amendment.withdraw",
        { reserveId: "res-2", amendmentId: "am-1" },
        {}
      )
      assert.strictEqual(other.why, "not-found")
      const read = Venue.read(AmendmentQueries.get, {
        reserveId: "res-2" as never,
        amendmentId: "am-1" as never
      })
      assert.strictEqual(yield* Venue.refusal(read), "not-found")
      // Nor while the other reserve is there.
      const records = yield* Records
      const { registrar } = scene
      yield* records.transact(
        records.open(
          reserves,
          {
            ...Given.reserve({ issuer: registrar.party, instrumentId: "fund-b" }),
            reserveId: "res-2" as never
          },
          { cause: { by: "request", requestId: "r" }, now: yield* Instant.now }
        )
      )
      assert.strictEqual(yield* Venue.refusal(read), "not-found")
      const seen = { reserveId: "res-1" as never, amendmentId: "am-1" as never }
      const as = (party: string) => Venue.person("rosa", ["registrar"], { party: party as never })
      const near = Venue.read(AmendmentQueries.get, seen, { caller: as(scene.registrar.party) })
      assert.strictEqual((yield* near).value.state, "proposed")
      const far = Venue.read(AmendmentQueries.get, seen, { caller: as(scene.bank.party) })
      assert.strictEqual(yield* Venue.refusal(far), "not-found")
    }).pipe(engine())
  )
})

describe("a proposal", () => {
  it.effect("is refused for terms that no reserve may have, with nothing sent", () =>
    Effect.gen(function* () {
      const scene = yield* active
      const own = { admin: scene.registrar.party, id: "fund-a" }
      const terms = Backed.termsOf(scene)
      const asset = (change: Readonly<Record<string, Calls.Json>>) => ({
        ...terms,
        assets: [
          {
            asset: scene.usd,
            priceSource: null,
            freshness: null,
            haircut: 0,
            maxShare: 0.5,
            ...change
          }
        ] as never
      })
      const refused = (named: Calls.Json) =>
        Effect.map(
          Calls.write("amendment.propose", { reserveId: "res-1" }, { terms: named }),
          ({ why }) => why
        )
      assert.strictEqual(yield* refused(terms), "rule-refused policy terms-changed")
      assert.strictEqual(
        yield* refused(asset({ asset: own, maxShare: null })),
        "rule-refused policy own-asset"
      )
      assert.strictEqual(yield* refused(asset({})), "rule-refused policy feasible")
      assert.strictEqual(yield* refused(asset({ freshness: "PT1H" })), "invalid-request")
      assert.strictEqual(yield* refused(asset({ haircut: -0.1 })), "invalid-request")
      assert.strictEqual(yield* refused(asset({ maxShare: 0 })), "invalid-request")
      assert.strictEqual(yield* Fund.countActive(Templates.AmendmentProposal), 0)
    }).pipe(engine())
  )

  it.effect("shows its approver each change, and the cover before and after", () =>
    Effect.gen(function* () {
      const scene = yield* active
      const key = yield* Calls.openAction(
        "amendment.propose",
        { reserveId: "res-1" },
        { amendmentId: "am-1", terms: Backed.termsOf(scene, { haircut: 0.1, minCover: 1.5 }) }
      )
      const { figures } = yield* Effect.flatMap(Records, (records) =>
        records.get(approvals, String(key))
      )
      const bill = `["${scene.bill.admin}","BILL"]`
      assert.deepEqual(figures as object, {
        direction: "tighten",
        "/minCover": 'tighten: "1" -> "1.5"',
        [`/assets/${bill}/haircut`]: 'tighten: "0.05" -> "0.1"',
        ratioBefore: "none",
        coverBefore: "covered",
        mintableBefore: "0",
        ratioAfter: "none",
        coverAfter: "covered",
        mintableAfter: "0"
      })
    }).pipe(engine())
  )
})
