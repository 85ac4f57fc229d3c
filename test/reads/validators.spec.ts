/** Validators of answers: equal for equal answers, and another for each part that a caller may read. */
import { type Caller, Queries, Records, Settings, settingsDefaults } from "@bursar/engine-core"
import { Instant, Offset } from "@bursar/engine-core/kernel"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { Crypto } from "@bursar/engine-core/ports"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Cursor from "#core/reads/Cursor.ts"
import type * as Point from "#core/reads/Point.ts"
import type { PointParams } from "#core/reads/Point.ts"
import * as Validator from "#core/reads/Validator.ts"
import * as Calls from "../engine/calls.ts"
import { engine, stores } from "../engine/stores.ts"
import { timer, timers } from "../engine/timers.ts"
import * as ToyQueries from "../engine/toy-reads.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)
const instant = Instant.of("2026-01-01T00:00:00Z")
const secret = new Uint8Array(32).fill(1)

const pin: Point.ResolvedPoint = {
  offset: Offset.of(7),
  ledgerEpoch: 1,
  ledgerTime: instant,
  moves: 12,
  select: { by: "snapshot", instant },
  judgedAt: instant
}
const last = {
  read: { pinned: true },
  role: "operator" as const,
  pin,
  printed: { bytes: bytesOf("[1]"), records: 1 },
  after: null,
  bound: "all"
}
const before = { ...last, after: "b" }
type Answer = Parameters<typeof Validator.of>[1]

const validators = Effect.map(
  Crypto,
  (crypto) =>
    (answer: Answer, key: Cursor.CursorKey = { id: 1, secret }) =>
      Validator.of({ crypto, cursors: Cursor.make(crypto, [key]) }, answer)
)

describe("a validator", () => {
  const moved = (change: Partial<Point.ResolvedPoint>) => ({ ...pin, ...change })
  const other: ReadonlyArray<readonly [string, Answer, Answer]> = [
    ["bytes", last, { ...last, printed: { bytes: bytesOf("[2]"), records: 1 } }],
    ["an offset", last, { ...last, pin: moved({ offset: Offset.of(8) }) }],
    [
      "a ledger time",
      last,
      { ...last, pin: moved({ ledgerTime: Instant.of("2026-01-01T00:00:01Z") }) }
    ],
    ["a ledger", last, { ...last, pin: moved({ ledgerEpoch: 2 }) }],
    ["a page that follows", last, before],
    ["a place at which the next page begins", before, { ...before, after: "c" }],
    ["a scope that its cursor is bound to", before, { ...before, binding: "own" }],
    ["a head, where a page follows", before, { ...before, pin: moved({ moves: 13 }) }]
  ]
  it.effect.each(other)("never is the same for another: %s", ([, answer, changed]) =>
    Effect.gen(function* () {
      const validator = yield* validators
      assert.match(validator(answer) ?? "", /^[\w-]{22}$/)
      assert.notStrictEqual(validator(answer), validator(changed))
    }).pipe(Effect.provide(NodeCrypto.layerCrypto))
  )

  const unpinned = { ...last, read: { pinned: false } }
  const same: ReadonlyArray<readonly [string, Answer, Answer]> = [
    ["clock", last, { ...last, pin: moved({ judgedAt: Instant.of("2027-01-01T00:00:00Z") }) }],
    ["head, of a last page", last, { ...last, pin: moved({ moves: 13 }) }],
    ["role, of a last page", last, { ...last, role: "investor" }],
    [
      "offset, which the answer does not say",
      unpinned,
      { ...unpinned, pin: moved({ offset: Offset.of(8) }) }
    ]
  ]
  it.effect.each(same)("is the same at another %s", ([, answer, changed]) =>
    Effect.gen(function* () {
      const validator = yield* validators
      assert.strictEqual(validator(answer), validator(changed))
    }).pipe(Effect.provide(NodeCrypto.layerCrypto))
  )

  it.effect("is another under another key: the cursors of the copy no longer verify", () =>
    Effect.gen(function* () {
      const validator = yield* validators
      assert.notStrictEqual(validator(last), validator(last, { id: 1, secret: new Uint8Array(32) }))
    }).pipe(Effect.provide(NodeCrypto.layerCrypto))
  )

  it.effect("of a page before others, at the latest point, is for the venue's staff alone", () =>
    Effect.gen(function* () {
      const validator = yield* validators
      const { moves: _, ...past } = pin
      const roles = [
        "approver",
        "risk",
        "compliance",
        "auditor",
        "investor",
        "app",
        "monitor",
        "feed",
        "registrar"
      ] as const
      const receiving = (answer: Answer) =>
        roles.filter((role) => validator({ ...answer, role }) !== undefined)
      assert.deepStrictEqual(receiving(before), ["approver", "risk", "compliance", "auditor"])
      assert.deepStrictEqual(receiving(last), [...roles])
      assert.deepStrictEqual(receiving({ ...before, pin: past }), [...roles])
    }).pipe(Effect.provide(NodeCrypto.layerCrypto))
  )
})

const ports = stores[0]!.ports
const onEngine = (answersKept: number) =>
  Effect.provide(
    engine.pipe(
      Layer.provideMerge(
        Layer.merge(ports, Layer.succeed(Settings, { ...settingsDefaults, answersKept }))
      )
    )
  )

const print = (value: unknown) =>
  Effect.sync(() => ({
    records: 1,
    bytes: bytesOf(
      JSON.stringify(value, (_, member: unknown) =>
        typeof member === "bigint" ? String(member) : member
      )
    )
  }))

const page = (
  options: {
    readonly caller?: Caller.Caller
    readonly limit?: number
    readonly point?: PointParams
    readonly params?: { readonly state?: ReadonlyArray<string> }
  } = {}
) =>
  Effect.flatMap(Queries, (queries) =>
    queries.pagePrinted(ToyQueries.listTimers, {
      caller: options.caller ?? ToyQueries.auditor,
      params: options.params ?? {},
      point: options.point ?? {},
      page: { limit: options.limit ?? 10 },
      target: JSON.stringify(
        [options.params, options.limit, options.point],
        (_, member: unknown) => (typeof member === "bigint" ? String(member) : member)
      ),
      print
    })
  )

const set = (id: string, millis: number) =>
  Effect.gen(function* () {
    const records = yield* Records
    const now = yield* Instant.now
    const at = Instant.toEpochMillis(now)
    const act = { cause: { by: "request" as const, requestId: "r" }, now }
    yield* records.transact(records.open(timers, timer(id, at + millis, at + 2 * millis), act))
  })

describe("the validator of a page", () => {
  it.effect("never is shared by callers whose cursors are bound to other scopes", () =>
    Effect.gen(function* () {
      const caller = { ...Calls.person("h", "investor"), holderId: "h" }
      yield* set("h-1", 60_000)
      yield* set("h-2", 60_000)
      const point = { asOf: (yield* page()).now }
      yield* TestClock.adjust(1_000)
      for (const [limit, isShared] of [
        [1, false],
        [2, true]
      ] as const) {
        const [all, own] = [yield* page({ limit, point }), yield* page({ limit, point, caller })]
        assert.deepStrictEqual(own.printed, all.printed)
        assert.isDefined(own.validator)
        assert.strictEqual(own.validator === all.validator, isShared)
      }
    }).pipe(onEngine(0))
  )

  /** Validators over a history: at its start, after a clock move, after a write for another owner. */
  const history = Effect.gen(function* () {
    const own = { ...Calls.person("h", "investor"), holderId: "h" }
    const all: Array<ReadonlyArray<string | undefined>> = []
    const look = Effect.gen(function* () {
      const pages = [page(), page(), page({ limit: 1 }), page({ caller: own })]
      const answers = yield* Effect.all(pages)
      all.push(answers.map(({ validator }) => validator))
      yield* TestClock.adjust(1_000)
    })
    yield* set("h-1", 60_000)
    yield* set("i-1", 600_000)
    yield* look
    yield* look
    yield* set("i-2", 600_000)
    yield* look
    yield* TestClock.adjust(60_000)
    yield* look
    return all
  })

  it.effect("is the same kept as made, through writes and clock moves", () =>
    Effect.gen(function* () {
      // Each engine has a key of its own, so that validators are compared within a history alone.
      const [kept, made] = [
        yield* history.pipe(onEngine(100_000)),
        yield* history.pipe(onEngine(0))
      ]
      const changes = (all: typeof kept) =>
        all.slice(1).map((row, index) => row.map((tag, at) => tag !== all[index]?.[at]))
      const expected = [
        [false, false, false, false],
        [true, true, true, false],
        [true, true, true, true]
      ]
      assert.deepStrictEqual(changes(kept), expected)
      assert.deepStrictEqual(changes(made), expected)
      for (const [first, again] of [...kept, ...made]) {
        assert.isDefined(first)
        assert.strictEqual(first, again)
      }
    })
  )

  it.effect("is missing where the clock may bring in a record that the page does not show", () =>
    Effect.gen(function* () {
      yield* set("a", 60_000)
      const { validator } = yield* page({ params: { state: ["rung"] } })
      assert.isUndefined(validator)
      assert.isDefined((yield* page()).validator)
    }).pipe(onEngine(0))
  )

  it.effect("is there at an instant and at an offset, where no answer is kept", () =>
    Effect.gen(function* () {
      yield* set("a", 60_000)
      const { now, offset, validator } = yield* page()
      yield* TestClock.adjust(1_000)
      assert.strictEqual((yield* page({ point: { asOf: now } })).validator, validator)
      assert.isDefined((yield* page({ point: { at: offset } })).validator)
    }).pipe(onEngine(100_000))
  )
})
