/** Waits of records in the index: at every offset those of the versions in force, however they were written. */
import { Records } from "@bursar/engine-core"
import { Collection, Instant, Integer, Offset } from "@bursar/engine-core/kernel"
import { Documents, type StoredPin, type VersionRow } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { Effect, Layer, Option, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as RecordsLayer from "#core/records/layer.ts"
import * as Waits from "#core/records/Waits.ts"
import { type Timer, timer, timers } from "../engine/timers.ts"
import { runsOf } from "../long-run.ts"

const Waiter = Schema.Struct({ waiterId: Schema.String, count: Integer.schema })
const Fact = Schema.Struct({ by: Integer.schema })

const waiters = Collection.define<typeof Waiter.Type, typeof Fact.Type>("waiter", {
  doc: "A record that waits for other people after each fact.",
  id: (self) => self.waiterId,
  record: Waiter,
  fact: Fact,
  evolve: (self, { by }) => ({ ...self, count: self.count + by }),
  keptBy: "ledger",
  waitingOn: ({ count }) => [
    ...(count % 3 === 0
      ? []
      : [{ role: "operator" as const, action: "approve" as const, by: null }]),
    ...(count % 3 === 2
      ? [{ role: "risk" as const, action: "hold.release" as const, by: null }]
      : [])
  ]
})

const kind: Waits.WaitingKind = {
  collection: waiters as Collection.Collection,
  roles: new Set(["operator", "risk"]),
  resourceKinds: ["hold"],
  subjectOf: (record) => {
    const { waiterId } = record as typeof Waiter.Type
    return {
      resource: { kind: "hold", id: waiterId, href: `/v1/holds/${waiterId}` },
      ...{ state: null, instrumentId: null, holderId: null, actionKey: null, hiddenFrom: [] }
    }
  }
}

const written: Array<VersionRow> = []

const watched = Layer.effect(
  Documents,
  Effect.map(Documents, (documents) => ({
    ...documents,
    put: (rows) => {
      written.push(...rows)
      return documents.put(rows)
    }
  }))
)

/** Records over a store in memory of their own, whose written versions are noted. */
const records = () =>
  Layer.fresh(
    RecordsLayer.layer.pipe(
      Layer.provide(Layer.succeed(Waits.Declared, new Map([[waiters.name, kind]]))),
      Layer.provideMerge(
        watched.pipe(Layer.provideMerge(Layer.mergeAll(Memory.layer, NodeCrypto.layer)))
      )
    )
  )

/** Facts of a transaction, each of one record and at an offset that may be past that of the one before. */
const transactions = fc.array(
  fc.record({
    facts: fc.array(
      fc.record({
        waiter: fc.constantFrom("a", "b"),
        by: fc.integer({ min: 0, max: 3 }),
        on: fc.constantFrom(0, 0, 1)
      }),
      { minLength: 1, maxLength: 4 }
    ),
    ends: fc.constantFrom("well", "well", "badly")
  }),
  { minLength: 1, maxLength: 6 }
)

const play = Effect.fnUntraced(function* (
  all: ReadonlyArray<{
    readonly ends: string
    readonly facts: ReadonlyArray<{
      readonly waiter: string
      readonly by: number
      readonly on: number
    }>
  }>
) {
  const service = yield* Records
  let offset = 1
  for (const { ends, facts } of all) {
    const run = Effect.gen(function* () {
      for (const { by, on, waiter } of facts) {
        offset += on
        const act = {
          ...{ cause: { by: "request" as const, requestId: "r" }, now: yield* Instant.now },
          offset: Offset.of(offset)
        }
        const before = yield* service.find(waiters, waiter)
        if (Option.isNone(before)) {
          yield* service.open(waiters, { waiterId: waiter, count: by }, act)
        } else {
          yield* service.append(waiters, before.value, { by }, act)
        }
      }
      if (ends === "badly") return yield* Effect.fail("badly")
    })
    yield* Effect.exit(service.transact(run))
  }
  return offset
})

/** What the versions at a pin wait for, and what the index says. */
const both = Effect.fnUntraced(function* (pin: StoredPin) {
  const documents = yield* Documents
  const versions = yield* documents.get({ collection: "waiter", recordIds: ["a", "b"], pin })
  const waiting = versions.flatMap(({ body, recordId }) => {
    const { count } = JSON.parse(body) as { readonly count: number }
    return Waits.rowsOf(kind, { waiterId: recordId, count }).map(
      ({ action, role }) => `${recordId} ${role} ${action}`
    )
  })
  const rows = yield* documents.waits({
    pins: { ledger: pin },
    judgedAt: "9",
    audience: ["operator", "risk"].map((role) => ({ role, resourceKind: "hold" })),
    ...{ where: [], subject: "", conditions: [], limit: 100 }
  })
  const indexed = rows.map(({ action, body, role }) => `${Waits.bodyOf(body).id} ${role} ${action}`)
  return { indexed: indexed.toSorted(), waiting: waiting.toSorted() }
})

const settled = <A>(effect: Effect.Effect<A, unknown, Records | Documents>): Promise<A> =>
  Effect.runPromise(
    effect.pipe(Effect.provide(records()), Effect.scoped, Effect.orDie) as Effect.Effect<A>
  )

describe("the index of waiting records", () => {
  it("has at every offset what the versions in force wait for, by transactions of any facts", () =>
    fc.assert(
      fc.asyncProperty(transactions, (all) =>
        settled(
          Effect.gen(function* () {
            const last = yield* play(all)
            const pins: ReadonlyArray<StoredPin> = [
              { by: "latest" },
              ...Array.from(
                { length: last + 1 },
                (_, offset) => ({ by: "offset", offset }) as const
              )
            ]
            for (const pin of pins) {
              const { indexed, waiting } = yield* both(pin)
              expect(indexed, JSON.stringify(pin)).toEqual(waiting)
            }
          })
        )
      ),
      { seed: 36, numRuns: runsOf(200) }
    ))

  it("is of the clock's moves to come, which nothing is written for", () => {
    const ringing = {
      ...kind,
      collection: {
        ...timers,
        waitingOn: ({ state }: typeof Timer.Type) =>
          state === "set" ? [] : [{ role: "operator", action: "approve", by: null }]
      } as Collection.Collection,
      subjectOf: (record: unknown) => {
        const { state, timerId } = record as typeof Timer.Type
        return { ...kind.subjectOf({ waiterId: timerId }), state }
      }
    }
    const [ring, stop] = [1_000, 5_000].map((millis) =>
      Instant.sortable(Instant.fromEpochMillis(millis))
    )
    expect(
      Waits.rowsOf(ringing, timer("t", 1_000, 5_000)).map(({ from, since, state, until }) => ({
        ...{ from, since, state, until }
      }))
    ).toEqual([
      { state: "rung", from: ring, until: stop, since: ring },
      { state: "stopped", from: stop, until: null, since: ring }
    ])
  })

  it("is written with those versions alone that wait for something else than the one before", async () => {
    written.length = 0
    const facts = [1, 0, 3, 1, 0, 1, 3].map((by) => ({ waiter: "a", by, on: 1 }))
    await settled(play(facts.map((fact) => ({ ends: "well", facts: [fact] }))))
    expect(
      written.map(({ waits }) => waits && [waits.follow, waits.rows.map(({ role }) => role)])
    ).toEqual([
      [false, ["operator"]],
      undefined,
      undefined,
      [true, ["operator", "risk"]],
      undefined,
      [true, []],
      undefined
    ])
  })
})
