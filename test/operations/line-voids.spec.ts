/** Suspended distribution lines whose amounts a cited order books elsewhere: alone, and with units moved. */
import { Records } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { approvals } from "#core/writes/Approval.ts"
import * as Calls from "../engine/calls.ts"
import { polled, world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Month from "./distributions.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"
import * as Restricting from "./restricting.ts"

const engine = Effect.provide(world())
/** A transaction has room for one move, and none beside it; a test may act between two steps. */
const narrow = Effect.provide(world({ settings: { inputsMax: 7 }, storage: polled }))

const { order } = Powers
const kind = "holder.force-transfer"
const orders = (holderId: string, body: { readonly [member: string]: Calls.Json }) =>
  Calls.write(kind, { holderId }, { order, ...body })

/** `pointer detail` of each error with which a body is refused, after its slug and check. */
const refusal = (holderId: string, body: { readonly [member: string]: Calls.Json }) =>
  Effect.map(
    Effect.result(Calls.openAction(kind, { holderId }, { order, ...body })),
    (answer): ReadonlyArray<string> => {
      if (Result.isSuccess(answer)) return ["no refusal"]
      const { slug, details } = answer.failure as unknown as {
        readonly slug: string
        readonly details: {
          readonly check?: string
          readonly errors?: ReadonlyArray<{ readonly pointer: string; readonly detail: string }>
        }
      }
      const errors = (details.errors ?? []).map(({ pointer, detail }) => `${pointer} ${detail}`)
      return [`${slug} ${details.check ?? "-"}`, ...errors]
    }
  )

/** h1's line is suspended by a court's order, h2's by a freeze, h3's is due, h4's carried. */
const founded = Effect.gen(function* () {
  const { stage, holders, point } = yield* Month.founded(["h1", "h2", "h3", "h4"])
  const [h1, h2, h3, h4] = holders as [Cycles.Holder, Cycles.Holder, Cycles.Holder, Cycles.Holder]
  yield* Powers.mints(stage, h1, "100")
  yield* Powers.agrees(stage)
  yield* Month.opened(stage, point, [
    Month.lineOf(1, h1.party),
    Month.lineOf(2, h2.party),
    Month.lineOf(3, h3.party),
    Month.carried(4, h4.party)
  ])
  yield* Restricting.restricts("h1", "r1", { reason: "court-order", order })
  yield* Restricting.restricts("h2", "r2")
  yield* Cycles.turns
  return { stage, h1, h2, h3, h4 }
})

const initial = [
  "1 suspended court-order",
  "2 suspended restriction",
  "3 due",
  "4 carried unrolled"
]
const oneVoid = ["1 void", ...initial.slice(1)]

const lineContracts = Fund.countActive(Templates.DistributionLine)

describe("an order that voids lines", () => {
  it.effect("alone moves no units, asks no consent, and leaves a line that is never paid", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* founded
      assert.deepEqual(yield* Month.states, initial)
      const contracts = yield* lineContracts
      const done = yield* orders("h1", { voids: ["d-july.1"] })
      assert.strictEqual(done.why, "")
      const { cause, moves, openOrders, orderRef, succeeded, voids } = done.result
      assert.deepEqual({ cause, moves, openOrders, orderRef, succeeded, voids } as unknown, {
        cause: "forced",
        moves: [],
        openOrders: [],
        orderRef: Powers.documentHash,
        succeeded: [],
        voids: ["d-july.1"]
      })
      assert.deepEqual(yield* Month.states, oneVoid)
      assert.strictEqual(yield* lineContracts, contracts - 1)
      assert.strictEqual(yield* Cycles.holds(h1, "fund-a"), "100")
      assert.deepEqual(yield* Powers.summed, [])
      // The cure of its cause, and the closing of the month, leave it void.
      yield* Restricting.lifts("r1")
      yield* Restricting.lifts("r2")
      yield* Cycles.turns
      assert.deepEqual(yield* Month.states, ["1 void", "2 due", "3 due", "4 carried unrolled"])
      for (const line of ["d-july.2", "d-july.3"]) yield* Month.delivers(stage, "d-july", line)
      yield* Month.rolls(["d-july.2", "d-july.3"])
      assert.deepEqual(yield* Month.states, [
        "1 void",
        "2 rolled",
        "3 rolled",
        "4 carried unrolled"
      ])
      assert.strictEqual((yield* Month.distribution()).state, "paid")
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(engine)
  )

  it.effect("is signed with each line and its net, or approvers see less than they void", () =>
    Effect.gen(function* () {
      yield* founded
      const body = { order, voids: ["d-july.1"] }
      const key = String(yield* Calls.openAction(kind, { holderId: "h1" }, body))
      const records = yield* Records
      const { figures } = yield* records.get(approvals, key)
      const shown = Object.fromEntries(
        Object.entries(figures ?? {}).map(([name, figure]) => [
          name,
          typeof figure === "string" ? figure : Decimal.formatPlain(figure as Decimal.Decimal)
        ])
      )
      assert.deepEqual(shown, {
        "d-july.1 net": "46.17",
        voids: "1",
        moves: "0",
        carried: "",
        openOrders: "",
        order: Powers.documentHash
      })
      // Signed while it was suspended, and due when it runs.
      yield* Restricting.lifts("r1")
      const done = yield* Calls.approveAction(key)
      assert.strictEqual(done.why, "rule-refused policy lines-voidable")
      assert.deepEqual(yield* Month.states, ["1 due", ...initial.slice(1)])
    }).pipe(engine)
  )

  it.effect("together with units is one transaction, and either both are done or neither", () =>
    Effect.gen(function* () {
      const { h1, h3 } = yield* founded
      const body = { toHolderId: "h3", voids: ["d-july.1"] }
      // The consent is asked for the units, and nothing is voided without it.
      const refused = yield* orders("h1", body)
      assert.strictEqual(refused.why, "rule-refused consent issuer-powers-consent")
      assert.deepEqual(yield* Month.states, initial)
      yield* Powers.consents(h1)
      const done = yield* orders("h1", body)
      assert.strictEqual(done.why, "")
      assert.deepEqual(done.result["voids"], ["d-july.1"])
      assert.strictEqual((done.result["moves"] as ReadonlyArray<unknown>).length, 1)
      assert.deepEqual(yield* Month.states, oneVoid)
      assert.deepEqual(
        [yield* Cycles.holds(h1, "fund-a"), yield* Cycles.holds(h3, "fund-a")],
        ["0", "100"]
      )
      assert.deepEqual(yield* Powers.summed, ["holder.forced-transfer h1 fund-a to h3 100"])
    }).pipe(engine)
  )

  it.effect("never voids twice or stops short where its steps are apart", () =>
    Effect.gen(function* () {
      const { h1, h3 } = yield* founded
      yield* Powers.consents(h1)
      const started = yield* orders("h1", { toHolderId: "h3", voids: ["d-july.1"] })
      assert.strictEqual(started.state, "running")
      const done = yield* Powers.ran(started, kind)
      assert.strictEqual(done.why, "")
      assert.deepEqual(done.result["voids"], ["d-july.1"])
      assert.deepEqual(yield* Month.states, oneVoid)
      assert.strictEqual(yield* Cycles.holds(h3, "fund-a"), "100")
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(narrow)
  )

  it.effect("never moves units after its lines are void where a gate has closed in between", () =>
    Effect.gen(function* () {
      const { h1 } = yield* founded
      yield* Powers.consents(h1)
      const started = yield* orders("h1", { toHolderId: "h3", voids: ["d-july.1"] })
      assert.strictEqual(started.state, "running")
      yield* Restricting.restricts("h3", "r3")
      const done = yield* Powers.ran(started, kind)
      assert.strictEqual(done.why, "rule-refused restriction may-receive")
      assert.strictEqual((yield* Month.states)[0], "1 void")
      assert.strictEqual(yield* Cycles.holds(h1, "fund-a"), "100")
    }).pipe(narrow)
  )

  it.effect("names the place of each line that is not a suspended one of the holder", () =>
    Effect.gen(function* () {
      const { stage } = yield* founded
      const strange = (index: number, id: string) =>
        `/body/voids/${index} The holder has no line ${id}.`
      const open = (index: number, id: string) =>
        `/body/voids/${index} The line ${id} is not suspended.`
      assert.deepEqual(
        yield* refusal("h1", { voids: ["d-july.1", "d-july.2", "d-july.9", "d-june.1"] }),
        [
          "rule-refused lines-voidable",
          strange(1, "d-july.2"),
          strange(2, "d-july.9"),
          strange(3, "d-june.1")
        ]
      )
      const refuses = (holderId: string, id: string) => refusal(holderId, { voids: [id] })
      const said = (id: string) => ["rule-refused lines-voidable", open(0, id)]
      assert.deepEqual(yield* refuses("h3", "d-july.3"), said("d-july.3"))
      assert.deepEqual(yield* refuses("h4", "d-july.4"), said("d-july.4"))
      yield* Month.delivers(stage, "d-july", "d-july.3")
      assert.deepEqual(yield* refuses("h3", "d-july.3"), said("d-july.3"))
      yield* orders("h1", { voids: ["d-july.1"] })
      assert.deepEqual(yield* refuses("h1", "d-july.1"), said("d-july.1"))
      assert.deepEqual(yield* Month.states, [
        "1 void",
        "2 suspended restriction",
        "3 delivered",
        "4 carried unrolled"
      ])
    }).pipe(engine)
  )

  it.effect("is malformed without a receiver and without lines, and never means all units", () =>
    Effect.gen(function* () {
      yield* founded
      const pointers = (body: { readonly [member: string]: Calls.Json }) =>
        Effect.map(refusal("h1", body), (all) =>
          all.map((text) => text.split(" ").slice(0, 1).join(""))
        )
      assert.deepEqual(yield* pointers({}), ["invalid-request", "/body/toHolderId"])
      const instruments = [{ instrumentId: "fund-a" }]
      const voids = ["d-july.1"]
      assert.deepEqual(yield* pointers({ instruments }), ["invalid-request", "/body/toHolderId"])
      assert.deepEqual(yield* pointers({ voids, instruments }), [
        "invalid-request",
        "/body/instruments"
      ])
      assert.deepEqual(yield* pointers({ voids: [] }), ["invalid-request", "/body/voids"])
      assert.deepEqual(yield* pointers({ voids: [...voids, ...voids] }), [
        "invalid-request",
        "/body/voids"
      ])
      const many = Array.from({ length: 101 }, (_, nth) => `d-july.${nth + 1}`)
      assert.deepEqual(yield* pointers({ voids: many }), ["invalid-request", "/body/voids"])
      assert.deepEqual(yield* Month.states, initial)
    }).pipe(engine)
  )

  it.effect("wins over a cure that comes before the venue reads its transaction", () =>
    Effect.gen(function* () {
      yield* founded
      // The cure is recorded, and then a void is read that the ledger took: no gate judges it.
      yield* Restricting.lifts("r1")
      assert.strictEqual((yield* Month.states)[0], "1 due")
      yield* Month.voids("d-july.1")
      assert.strictEqual((yield* Month.states)[0], "1 void")
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(engine)
  )
})
