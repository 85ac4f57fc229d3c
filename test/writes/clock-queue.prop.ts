/** Due instants of the clock: the next look at a record, and the scheduled reports of reserves. */
import { Duration, Instant } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import * as fc from "fast-check"
import { describe, expect, it, test } from "vitest"
import { mints } from "#core/reserves/reserve-order/Mint.ts"
import * as MintOperations from "#core/reserves/reserve-order/MintOperations.ts"
import { dueAt } from "#core/reserves/report/ReportRules.ts"
import * as ClockQueue from "#core/records/ClockQueue.ts"
import type { Timely } from "#core/records/Timely.ts"
import type { Collection } from "#core/kernel/Collection.ts"

/** A record is the instants that it comes to: of its clock move, then of each write. */
type Instants = ReadonlyArray<number | null>

const instant = (at: number | null | undefined) =>
  at === null || at === undefined ? undefined : Instant.fromNanos(BigInt(at))

const collection = {
  ...(mints as unknown as Collection<Instants, unknown>),
  due: ([at]: Instants) => {
    const due = instant(at)
    return due === undefined ? undefined : { at: due, fact: {} }
  }
}

const writes = (
  count: number,
  written: Pick<Collection, "name"> = collection
): ReadonlyArray<Timely> =>
  Array.from({ length: count }, (_, index) => ({
    ...(MintOperations.timely[0] as unknown as Timely),
    collection: written,
    at: (self) => instant((self as Instants)[index + 1])
  }))

const anyInstant = fc.option(fc.integer({ min: 0, max: 20 }))

describe("the next instant of a record", () => {
  it("is the first of its clock move and its writes, whatever other records come to", () => {
    fc.assert(
      fc.property(fc.array(anyInstant, { minLength: 1, maxLength: 5 }), (instants) => {
        const timely = [...writes(instants.length - 1), ...writes(5, { name: "other" })]
        const all = instants.filter((at) => at !== null)
        expect(ClockQueue.next(collection, instants, { timely })).toEqual(
          instant(all.length === 0 ? null : Math.min(...all))
        )
      })
    )
  })

  it("after an instant is the first that is later, and none where all have come", () => {
    fc.assert(
      fc.property(
        fc.array(anyInstant, { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 0, max: 20 }),
        (instants, now) => {
          const timely = [...writes(instants.length - 1), ...writes(5, { name: "other" })]
          const laterInstants = instants.filter(
            (at) => at !== null && at > now
          ) as ReadonlyArray<number>
          const at = Instant.fromNanos(BigInt(now))
          expect(ClockQueue.next(collection, instants, { timely, after: at })).toEqual(
            instant(laterInstants.length === 0 ? null : Math.min(...laterInstants))
          )
        }
      )
    )
  })
})

describe("a change of a record", () => {
  // Switched off to see it red: that a later instant counts which the record did not have before.
  it("is queued by each instant that its move or write did not have before, and for no other reason", () =>
    fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(anyInstant, { minLength: 4, maxLength: 4 }),
        fc.array(anyInstant, { minLength: 4, maxLength: 4 }),
        async (count, earlier, later) => {
          const [before, record] = [earlier.slice(0, count), later.slice(0, count)]
          const timely = writes(count - 1)
          const step = { fact: {}, record, by: "act", announcements: [] } as const
          const change = { before, recordId: "r", version: 1, steps: [step] as const }
          const items = await Effect.runPromise(ClockQueue.itemsOf(collection, change, timely))
          const instants = record.filter((at) => at !== null)
          const isNew = (at: number | null, nth: number) => at !== null && at !== before[nth]
          const first = Math.min(...instants)
          const isMoved = first !== Math.min(...before.filter((at) => at !== null))
          expect(items.length).toBe(record.some(isNew) || (isMoved && instants.length > 0) ? 1 : 0)
        }
      ),
      {
        // A write comes to the instant of another one, which may pause until much later; two swap theirs.
        examples: [
          [3, [null, 10, null, null], [null, 10, 10, null]],
          [3, [null, 10, 20, null], [null, 20, 10, null]]
        ]
      }
    ))
})

describe("a record that changes at any time while its items fire", () => {
  /** The record, and the instants that the items of its versions wait for. */
  interface World {
    readonly record: Instants
    readonly awaited: ReadonlyArray<number>
  }

  const changed = async (
    before: Instants | undefined,
    record: Instants,
    { version, timely }: { readonly version: number; readonly timely: ReadonlyArray<Timely> }
  ): Promise<ReadonlyArray<number>> => {
    const step = { fact: {}, record, by: "act", announcements: [] } as const
    const change = { before, recordId: "r", version, steps: [step] as const }
    const items = await Effect.runPromise(ClockQueue.itemsOf(collection, change, timely))
    return items.map(({ payload }) => Number(Instant.of(payload.slice("at:".length))))
  }

  /** The turn of an item that is due, as the scheduler decides it. */
  const turned = async (
    { awaited, record }: World,
    item: number,
    { now, timely }: { readonly now: number; readonly timely: ReadonlyArray<Timely> }
  ): Promise<World> => {
    const next = ClockQueue.next(collection, record, { timely })
    if (next === undefined) return { awaited, record }
    if (next > BigInt(now)) {
      const payload = ClockQueue.payloadFor(Instant.fromNanos(BigInt(item)))
      const isObsolete = ClockQueue.isObsolete(collection, record, { payload, timely })
      return { record, awaited: isObsolete ? awaited : [...awaited, Number(next)] }
    }
    const after = record.map((at) => (at !== null && at <= now ? null : at))
    return {
      record: after,
      awaited: [...awaited, ...(await changed(record, after, { version: now, timely }))]
    }
  }

  // Switched off to see it red: that a change queues its first instant where that has moved.
  it("never is without an item that is due by its next instant", () =>
    fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(fc.option(fc.array(anyInstant, { minLength: 3, maxLength: 3 })), {
          minLength: 1,
          maxLength: 12
        }),
        async (count, changes) => {
          const timely = writes(count - 1)
          let world: World = { record: Array.from({ length: count }, () => null), awaited: [] }
          for (let now = 0; now <= 21; now++) {
            const change = changes[now]?.slice(0, count)
            if (change !== undefined) {
              const queued = await changed(world.record, change, { version: now, timely })
              world = { record: change, awaited: [...world.awaited, ...queued] }
            }
            for (const item of world.awaited.filter((at) => at <= now)) {
              const others = world.awaited.toSpliced(world.awaited.indexOf(item), 1)
              world = await turned({ ...world, awaited: others }, item, { now, timely })
            }
            const next = ClockQueue.next(collection, world.record, { timely })
            if (next === undefined) continue
            expect(Math.min(...world.awaited)).toBeLessThanOrEqual(Number(next))
          }
          expect(world.awaited).toEqual([])
        }
      )
    ))
})

describe("the delay of an item in the queue", () => {
  test.each([
    ["nothing where the instant has come", -1, 0],
    ["nothing at the very instant", 0, 0],
    ["until the instant", 5_000, 5_000],
    ["never more than 30 days", 31 * 86_400_000, 30 * 86_400_000]
  ])("is %s", (_, ahead, delay) => {
    const now = Instant.of("2026-08-01T00:00:00Z")
    const then = Instant.fromEpochMillis(Instant.toEpochMillis(now) + ahead)
    expect(ClockQueue.until(now, then)).toBe(delay)
  })
})

describe("scheduled reports", () => {
  test.each([
    ["P1D", "2026-07-31T23:59:59.999999999Z", "2026-07-31T00:00:00Z", "2026-08-01T00:00:00Z"],
    ["P1D", "2026-08-01T00:00:00Z", "2026-08-01T00:00:00Z", "2026-08-02T00:00:00Z"],
    ["PT1H", "2026-08-01T00:59:59.999Z", "2026-08-01T00:00:00Z", "2026-08-01T01:00:00Z"],
    ["PT7H", "1970-01-01T06:59:59Z", "1970-01-01T00:00:00Z", "1970-01-01T07:00:00Z"]
  ])("of %s are due at whole periods since 1970, at %s", (every, now, latest, next) => {
    const due = dueAt(Duration.of(every), Instant.of(now))
    expect(due).toEqual({ latest: Instant.of(latest), next: Instant.of(next) })
  })

  it("are due once a period: the next of an instant is the latest of the next", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 * 24 }),
        fc.integer({ min: 0, max: 4_000_000_000_000 }),
        (hours, millis) => {
          const every = Duration.hours(hours)
          const now = Instant.fromEpochMillis(millis)
          const { latest, next } = dueAt(every, now)
          expect(Instant.atOrBefore(latest, now) && Instant.isAfter(next, now)).toBe(true)
          expect(dueAt(every, next).latest).toEqual(next)
          expect(dueAt(every, latest)).toEqual({ latest, next })
        }
      )
    )
  })
})
