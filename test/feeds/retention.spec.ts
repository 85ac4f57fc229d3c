/**
 * Retention: deletes exactly the records that are due, keeps held ones, and is neither lost nor
 * repeated by a crash in between.
 */
import {
  AuditRunner,
  Engine,
  EventQueries,
  Metrics,
  type Operation,
  Records,
  settingsDefaults,
  Workers
} from "@bursar/engine-core"
import { Duration, Instant } from "@bursar/engine-core/kernel"
import {
  Documents,
  Feed,
  Keys,
  Ledger,
  ProjectionLog,
  RateWindow,
  StorageUnavailable
} from "@bursar/engine-core/ports"
import { Effect, Layer, Metric, References } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Retention from "#core/engine/Retention.ts"
import { deliveries } from "#core/records/webhook/Delivery.ts"
import { approvals } from "#core/writes/Approval.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import * as Notes from "../engine/ledger-toys.ts"
import * as Toys from "../engine/toys.ts"
import { ports, world, type WorldOptions } from "../engine/world.ts"
import { runsOf } from "../long-run.ts"

const runs = runsOf(40)
const days = (count: number) => Duration.of(`P${count}D`)

/** The counters of the toys as instruments, so that a legal hold can name one. */
const ofInstrument = <O extends typeof Toys.single | typeof Toys.double>(operation: O): O => ({
  ...operation,
  resource: {
    ...operation.resource,
    instrumentId: ({ counterId }: { readonly counterId: string }) => counterId
  }
})
const single = ofInstrument(Toys.single)
const double = ofInstrument(Toys.double)

const auditKeys = [
  { keyId: "au-1", seed: new Uint8Array(32).fill(3), notBefore: 0n as never, notAfter: null }
]
const settings = {
  auditKeys,
  approvalExpiry: 2 * 24 * 3_600_000,
  cursorKeys: [{ id: 1, secret: new Uint8Array(32).fill(7) }],
  legalHold: { holderIds: [], instrumentIds: ["held"] },
  retention: {
    operations: days(10),
    approvals: days(20),
    events: days(5),
    deliveries: days(3),
    exhaustedDeliveries: days(9),
    reconciliationRuns: null,
    clearedFindings: null,
    externalStatements: null
  }
} satisfies WorldOptions["settings"]

const inWorld = <A, E, R>(effect: Effect.Effect<A, E, R>, options: WorldOptions = {}) =>
  Calls.runCase(
    Effect.provide(
      effect,
      world({
        operations: [single, double] as ReadonlyArray<Operation.Operation>,
        ...options,
        settings: { ...settings, ...options.settings }
      })
    ) as Effect.Effect<A, E>
  )

/** Gives every task that is due its turns, until none is. */
const turns = Effect.flatMap(Workers.runnerOf("schedules"), ({ runOnce }) =>
  Effect.repeat(runOnce, { while: (n) => n > 0 })
)
/** The daily run, now. */
const retain = Effect.gen(function* () {
  yield* turns
  yield* TestClock.adjust("1 day")
  yield* turns
})

const listed = Effect.gen(function* () {
  const records = yield* Records
  const ids = <R, F>(
    collection: Parameters<typeof records.list<R, F>>[0],
    id: (one: R) => string
  ) =>
    Effect.map(records.list(collection, { limit: 1_000 }), (rows) =>
      rows.map(({ record }) => id(record)).toSorted()
    )
  return {
    operations: yield* ids(operations, ({ operationId }) => operationId),
    approvals: yield* ids(approvals, ({ actionKey }) => actionKey)
  }
})

const events = (kind?: string) =>
  Effect.flatMap(Feed, (feed) =>
    Effect.map(
      feed.read({ order: "asc", limit: 1_000, ...(kind === undefined ? {} : { kind: [kind] }) }),
      ({ events }) => events
    )
  )
const pruned = Effect.map(events(), (all) =>
  all
    .filter(({ type }) => type === "retention.pruned")
    .map(({ payload }) => JSON.parse(payload) as { readonly counts: Record<string, number> })
)
const logged = Effect.flatMap(Feed, (feed) =>
  Effect.map(
    feed.readAudit({ order: "asc", limit: 1_000, action: ["retention.prune"] }),
    ({ records }) => records.map(({ text }) => (JSON.parse(text) as { detail: object }).detail)
  )
)

const olga = Calls.person("olga", "operator")
const ann = Calls.person("ann", "approver")

// ---- operations and actions ---------------------------------------------------------------------

const step = fc.record({
  do: fc.constantFrom("single", "approve", "reject", "await", "queue"),
  on: fc.constantFrom("a", "b", "held"),
  /** Days until the next one. */
  then: fc.nat(8)
})

/** A write in the test's book, with the instant of its end. */
interface Written {
  readonly id: string
  readonly actionKey: string | null
  readonly on: string
  readonly key: string
  /** Milliseconds; null: it has not ended. */
  ended: number | null
}

const now = Effect.map(Instant.now, Instant.toEpochMillis)
const day = 24 * 3_600_000

const write = Effect.fnUntraced(function* (
  { do: how, on }: { readonly do: string; readonly on: string },
  key: string
) {
  const call = { params: { counterId: on }, key }
  if (how === "single" || how === "queue") {
    const answer = yield* Calls.submit(single, olga, { ...call, body: `{"by":1}` })
    if (how !== "queue") yield* Calls.settle
    const id = String(Calls.field(answer, "operationId"))
    return { id, actionKey: null, on, key, ended: how === "queue" ? null : yield* now }
  }
  const made = yield* Calls.submit(double, olga, {
    ...call,
    body: `{"by":${key.length}${key.slice(1)}}`
  })
  const actionKey = String(Calls.field(made, "actionKey"))
  if (how === "approve") {
    const answer = yield* Calls.approve(actionKey, ann)
    yield* Calls.settle
    return { id: String(Calls.field(answer, "operationId")), actionKey, on, key, ended: yield* now }
  }
  if (how === "reject") {
    yield* Calls.reject(actionKey, ann)
    return { id: "", actionKey, on, key, ended: yield* now }
  }
  // The action stays unsigned: after two days it lapses by the clock.
  return { id: "", actionKey, on, key, ended: (yield* now) + settings.approvalExpiry }
})

describe("operations and actions", () => {
  it("never go early, stay beyond their period, go though held or open, or leave their keys behind", () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), fc.nat(25), (steps, wait) =>
        inWorld(
          Effect.gen(function* () {
            const book: Array<Written> = []
            for (const [index, one] of steps.entries()) {
              const written = yield* write(one, `k${index + 1}`)
              if (one.do === "single" || one.do === "approve") {
                // Operations queued before it ran with it.
                for (const waiting of book) waiting.ended ??= written.ended
              }
              book.push(written)
              yield* TestClock.adjust(`${one.then} days`)
            }
            yield* TestClock.adjust(`${wait} days`)
            const before = yield* listed
            yield* turns
            const at = yield* now
            yield* TestClock.adjust("1 day")
            const ran = yield* now
            yield* turns
            expect(ran).toBe(at + day)
            const goes = ({ actionKey, ended, id, on }: Written) => {
              if (ended === null || on === "held") return false
              const isDue = (period: number) => ended < ran - period * day
              if (actionKey === null) return isDue(10)
              return id === "" ? isDue(20) : isDue(10) && isDue(20)
            }
            const kept = book.filter((one) => !goes(one))
            const ids = (writes: ReadonlyArray<Written>) => ({
              operations: writes.flatMap(({ id }) => (id === "" ? [] : [id])).toSorted(),
              approvals: writes.flatMap(({ actionKey }) => actionKey ?? []).toSorted()
            })
            expect(before).toEqual(ids(book))
            const after = yield* listed
            expect(after).toEqual(ids(kept))
            // The counts are what went, in one event and one record of the log.
            const gone = (name: "operations" | "approvals") =>
              before[name].length - after[name].length
            const [notice = { counts: {} }, ...more] = yield* pruned
            expect(more).toEqual([])
            expect(notice.counts["operations"] ?? 0).toBe(gone("operations"))
            expect(notice.counts["approvals"] ?? 0).toBe(gone("approvals"))
            const [detail] = yield* logged
            expect(detail).toMatchObject(notice.counts)
            // A key names its write for as long as the write is kept, and not longer.
            const keys = yield* Keys
            const sortable = Instant.sortable(yield* Instant.now)
            for (const one of book) {
              const scope = `${settingsDefaults.tenantId}/olga`
              const row = yield* keys.find({ scope, key: one.key, now: sortable })
              expect(row._tag).toBe(goes(one) ? "None" : "Some")
            }
          })
        )
      ),
      { numRuns: runs }
    ))

  it("never are deleted where the settings keep them for ever", () =>
    inWorld(
      Effect.gen(function* () {
        yield* write({ do: "single", on: "a" }, "k1")
        yield* write({ do: "reject", on: "a" }, "k2")
        yield* TestClock.adjust("5000 days")
        const before = yield* listed
        yield* retain
        expect(yield* listed).toEqual(before)
        expect((yield* pruned)[0]?.counts).toEqual({ events: 3 })
      }),
      { settings: { retention: { ...settings.retention, operations: null, approvals: null } } }
    ))
})

// ---- events -------------------------------------------------------------------------------------

describe("control events", () => {
  it("never go out of turn, stay too long, or leave a reader that lost its place untold", () =>
    inWorld(
      Effect.gen(function* () {
        const queries = yield* EventQueries.EventQueries
        const caller = Calls.person("olga", "operator")
        const page = (after?: string) =>
          queries.page({ caller, params: {}, limit: 2, ...(after === undefined ? {} : { after }) })
        yield* write({ do: "single", on: "a" }, "k1")
        yield* write({ do: "single", on: "held" }, "k2")
        yield* write({ do: "reject", on: "a" }, "k3")
        const first = yield* page()
        yield* TestClock.adjust("6 days")
        yield* write({ do: "single", on: "b" }, "k4")
        const latest = yield* events()
        yield* retain
        const all = yield* events()
        // Of the events of six days ago only held ones are left, with unchanged numbers.
        expect(all.map(({ seq }) => seq)).toEqual([
          ...latest.filter(({ instrumentId }) => instrumentId === "held").map(({ seq }) => seq),
          ...latest.slice(4).map(({ seq }) => seq),
          latest.length + 1
        ])
        expect(all.at(-1)?.type).toBe("retention.pruned")
        expect((yield* pruned)[0]?.counts).toEqual({ events: 3 })
        const { slug } = yield* Effect.flip(page(first.next))
        expect(slug).toBe("cursor-expired")
        const fresh = yield* page()
        expect(fresh.value).toHaveLength(2)
        expect((yield* page(fresh.next)).value.length).toBeGreaterThan(0)
        expect(yield* AuditRunner.verifyLog({ anchors: [] })).toMatchObject({ fault: null })
      })
    ))
})

// ---- deliveries: many of them, and crashes ------------------------------------------------------

const opened = (
  count: number,
  state: "taken" | "exhausted" | "cancelled" | "pending",
  at: bigint
) =>
  Effect.flatMap(Records, (records) =>
    records.transactAlone(
      Effect.forEach(
        Array.from({ length: count }, (_, index) => index),
        (index) =>
          records.open(
            deliveries,
            {
              deliveryId: `${state}-${at}-${index}`,
              webhookId: "wh",
              seq: index + 1,
              restoredAt: null,
              type: "operation.succeeded",
              trace: null,
              state,
              attempts: state === "taken" || state === "exhausted" ? 1 : 0,
              last:
                state === "taken" || state === "exhausted"
                  ? {
                      at: at as never,
                      status: 200,
                      durationMs: 1,
                      failure: state === "taken" ? null : "status"
                    }
                  : null,
              endedAt: state === "pending" ? null : (at as never)
            },
            { cause: { by: "clock" }, now: at as never }
          ),
        { discard: true }
      )
    )
  )

const states = Effect.flatMap(Records, (records) => records.countBy(deliveries, "state", {}))

describe("deliveries", () => {
  it("of each outcome are deleted by that outcome's period, once they are over", () =>
    inWorld(
      Effect.gen(function* () {
        const at = yield* Instant.now
        for (const state of ["taken", "exhausted", "cancelled", "pending"] as const) {
          yield* opened(2, state, at)
        }
        yield* turns
        yield* TestClock.adjust("3 days")
        yield* turns
        // To the very instant they are not past it.
        expect(Object.fromEntries(yield* states)).toEqual({
          taken: 2,
          exhausted: 2,
          cancelled: 2,
          pending: 2
        })
        yield* retain
        expect(Object.fromEntries(yield* states)).toEqual({ exhausted: 2, pending: 2 })
        yield* TestClock.adjust("6 days")
        yield* turns
        expect(Object.fromEntries(yield* states)).toEqual({ pending: 2 })
      })
    ))

  /** A store whose deletions fail a given number of times. */
  let failures: Array<"before" | "after"> = []
  const failing = Effect.gen(function* () {
    const documents = yield* Documents
    const forget: (typeof documents)["forget"] = (versions) => {
      const next = failures.shift()
      if (next === undefined) return documents.forget(versions)
      const away = new StorageUnavailable({ detail: "away", retryAfter: 1 })
      return next === "before"
        ? Effect.fail(away)
        : Effect.andThen(documents.forget(versions), Effect.die(new Error("killed")))
    }
    return { ...documents, forget }
  })

  it("never are counted twice or forgotten by half when a run is cut short in the middle", () =>
    Calls.runCase(
      Effect.gen(function* () {
        const at = yield* Instant.now
        yield* opened(2_500, "taken", at)
        yield* turns
        yield* TestClock.adjust("4 days")
        failures = ["before", "after", "before", "after"]
        for (let n = 0; n < 20; n++) {
          yield* turns
          yield* TestClock.adjust("61 seconds")
        }
        expect(failures).toEqual([])
        expect(Object.fromEntries(yield* states)).toEqual({})
        expect(yield* pruned).toMatchObject([{ counts: { deliveries: 2_500 } }])
        expect(yield* logged).toMatchObject([{ deliveries: 2_500 }])
      }).pipe(
        Effect.provide(
          Engine.layerOf({ operations: [], fromLedger: [] }).pipe(
            Layer.provide(Layer.effect(Documents, failing)),
            Layer.provideMerge(ports({ settings }))
          )
        )
      ) as Effect.Effect<void, unknown>
    ))

  it("never are deleted by two instances at once, counted by both", () =>
    inWorld(
      Effect.gen(function* () {
        yield* opened(1_500, "taken", yield* Instant.now)
        const { runOnce } = yield* Workers.runnerOf("schedules")
        yield* runOnce
        yield* TestClock.adjust("4 days")
        for (let n = 0; n < 30; n++) {
          yield* Effect.all([runOnce, runOnce, runOnce], { concurrency: "unbounded" })
        }
        expect(Object.fromEntries(yield* states)).toEqual({})
        expect(yield* pruned).toMatchObject([{ counts: { deliveries: 1_500 } }])
      })
    ))
})

// ---- kinds that fail ----------------------------------------------------------------------------

describe("a kind whose batch fails", () => {
  const failed = Effect.map(
    Metric.value(Metric.withAttributes(Metrics.retentionFailed, { kind: "events" })),
    ({ count }) => count
  )

  // Red where a failed batch stops the kinds after it, or is tried again at once.
  it("never stops the kinds after it, and is tried again until it is done", () => {
    let isBroken = true
    let tries = 0
    const breaking = Effect.map(Feed, (feed) => ({
      ...feed,
      prune: (input: Parameters<typeof feed.prune>[0]) => {
        tries += 1
        return isBroken ? Effect.die(new Error("an index is broken")) : feed.prune(input)
      }
    }))
    return Calls.runCase(
      Effect.gen(function* () {
        yield* opened(2, "taken", yield* Instant.now)
        yield* turns
        yield* TestClock.adjust("6 days")
        yield* turns
        // The deliveries come after the events.
        expect(Object.fromEntries(yield* states)).toEqual({})
        expect([tries, yield* failed, yield* pruned]).toEqual([1, 1, []])
        // After a minute, two more, and four more.
        for (const [minutes, triesByThen] of [
          [1, 2],
          [1, 2],
          [1, 3],
          [3, 3],
          [1, 4]
        ] as const) {
          yield* TestClock.adjust(`${minutes} minutes`)
          yield* turns
          expect(tries).toBe(triesByThen)
        }
        isBroken = false
        yield* TestClock.adjust("8 minutes")
        yield* turns
        expect(yield* pruned).toMatchObject([{ counts: { deliveries: 2 } }])
        // Of the day after, as the run before it ended.
        isBroken = true
        yield* opened(1, "taken", yield* Instant.now)
        yield* TestClock.adjust("5 days")
        yield* turns
        expect(Object.fromEntries(yield* states)).toEqual({})
        expect(yield* pruned).toHaveLength(1)
        for (let hours = 0; hours < 25; hours++) {
          yield* TestClock.adjust("61 minutes")
          yield* turns
        }
        // The run that cannot end has ended with its day, and the next one is under way.
        expect((yield* pruned).map(({ counts }) => counts)).toEqual([
          { deliveries: 2 },
          { deliveries: 1 }
        ])
      }).pipe(
        Effect.provide(
          Engine.layerOf({ operations: [], fromLedger: [] }).pipe(
            Layer.provide(Layer.effect(Feed, breaking)),
            Layer.provideMerge(ports({ settings }))
          )
        ),
        Effect.provideService(Metric.MetricRegistry, new Map()),
        Effect.provideService(References.MinimumLogLevel, "None")
      ) as Effect.Effect<void, unknown>
    )
  })
})

// ---- nonces, keys that lapsed, budgets ----------------------------------------------------------

describe("what nobody can ask for any more", () => {
  it("never stays, or what is still asked for goes", () =>
    inWorld(
      Effect.gen(function* () {
        const keys = yield* Keys
        const budgets = yield* RateWindow
        yield* turns
        const minute = 60_000
        yield* keys.useNonce({ scope: "s", nonce: "short", keep: 5 * minute })
        yield* keys.useNonce({ scope: "s", nonce: "long", keep: 30 * minute })
        yield* budgets.take({ subject: "olga", cost: 1, interval: 1, tolerance: 1_000 })
        yield* TestClock.adjust("21 minutes")
        yield* turns
        const use = (nonce: string) => keys.useNonce({ scope: "s", nonce, keep: 5 * minute })
        expect([yield* use("short"), yield* use("long")]).toEqual([true, false])
        // The idle budget is deleted already.
        expect(yield* budgets.forget({ idle: 0, limit: 10 })).toBe(0)
      })
    ))
})

// ---- the ledger's history -----------------------------------------------------------------------

describe("what the ledger has forgotten", () => {
  it("never stays readable, its journal events stay, or what is newer goes with it", () => {
    let horizon = 0
    return Calls.runCase(
      Effect.gen(function* () {
        const { party } = yield* Notes.outsider("registrar")
        const ledger = yield* Ledger.Ledger
        const make = (noteId: string) =>
          Effect.flatMap(ledger.ledgerEnd, (offset) =>
            ledger.submit({
              commandId: `past:${noteId}`,
              commands: [Notes.proposal(ledger.venue, { noteId, registrar: party })],
              dedup: { _tag: "Since", offset }
            })
          )
        const queries = yield* EventQueries.EventQueries
        const pageOf = (params: EventQueries.EventParams, after?: string) =>
          queries.page({
            caller: Calls.person("olga", "operator"),
            params,
            limit: 9,
            ...(after === undefined ? {} : { after })
          })
        /** Filters of readers that are before the journal event of the first note. */
        const filters = [
          {},
          { kind: ["journal"] },
          { kind: ["control"] },
          { type: ["operation.succeeded"] },
          { order: "desc" }
        ] as const satisfies ReadonlyArray<EventQueries.EventParams>
        const behind = yield* Effect.forEach(filters, (params) => pageOf(params))
        yield* make("a")
        yield* Calls.catchUp
        const log = yield* ProjectionLog
        const middle = (yield* log.head).offset
        const past = yield* pageOf({})
        yield* make("b")
        yield* Calls.catchUp
        yield* turns
        yield* TestClock.adjust("2 days")
        yield* turns
        expect((yield* log.head).horizonOffset).toBe(0)
        expect(yield* events("journal")).toHaveLength(2)
        horizon = middle
        yield* retain
        expect((yield* log.head).horizonOffset).toBe(middle)
        expect((yield* events("journal")).map(({ instrumentId }) => instrumentId)).toEqual(["b"])
        // A forward reader that had not reached what was deleted is told, where its filters select it.
        const answers = yield* Effect.forEach(filters, (params, index) =>
          Effect.match(pageOf(params, behind[index]?.next), {
            onFailure: ({ slug }) => slug,
            onSuccess: () => "read"
          })
        )
        expect(answers).toEqual(["cursor-expired", "cursor-expired", "read", "read", "read"])
        expect((yield* pageOf({}, past.next)).value[0]?.instrumentId).toBe("b")
        expect((yield* pageOf({}, (yield* pageOf({})).next)).value).toEqual([])
        // Records that are still in force are kept, however old.
        const records = yield* Records
        const left = yield* records.list(Notes.notes, { limit: 10 })
        expect(left.map(({ record }) => record.noteId)).toEqual(["a", "b"])
        expect((yield* pruned).at(-1)?.counts).toMatchObject({ journalEvents: 1 })
        yield* make("c")
        yield* Calls.catchUp
        expect(yield* events("journal")).toHaveLength(2)
      }).pipe(
        Effect.provide(
          Engine.layerOf({
            operations: Notes.operations,
            fromLedger: Notes.fromLedger,
            history: [Notes.notes as never]
          }).pipe(
            Layer.provideMerge(
              ports({
                settings: { ...settings, retention: { ...settings.retention, events: null } },
                tamper: (ledger) => ({ ...ledger, horizon: Effect.sync(() => horizon as never) })
              })
            )
          )
        )
      ) as Effect.Effect<void, unknown>
    )
  })
})

describe("the table of periods", () => {
  it("never is not the contract's", () => {
    expect(
      Object.fromEntries(
        Object.entries(Retention.periods).map(([name, period]) => [
          name,
          period === null ? null : Duration.format(period)
        ])
      )
    ).toEqual({
      operations: "P7Y",
      approvals: "P7Y",
      events: "P2Y",
      deliveries: "P30D",
      exhaustedDeliveries: "P90D",
      reconciliationRuns: "P10Y",
      clearedFindings: "P10Y",
      externalStatements: "P10Y"
    })
    expect(settingsDefaults.auditLogKept).toBeNull()
  })
})
