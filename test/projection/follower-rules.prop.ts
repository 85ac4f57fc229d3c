/** Pure decisions of the follower: start, snapshot, look-ups to prefetch, restart, operation of an update. */
import { Instant } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import { describe, expect, it } from "@effect/vitest"
import { Clock, Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import * as Bootstrap from "#core/projection/Bootstrap.ts"
import { operationIdOf } from "#core/projection/OperationCompletion.ts"
import type { Look, FromLedger } from "#core/projection/FromLedger.ts"
import * as FromLedgerIndex from "#core/projection/FromLedgerIndex.ts"
import * as Restart from "#core/projection/Restart.ts"
import * as Snapshot from "#core/projection/Snapshot.ts"
import { looksOf } from "#core/projection/UpdateFold.ts"

const template = (entity: string): Ledger.TypeRef => ({
  packageName: "package",
  module: "Module",
  entity
})

const active = (contract: {
  readonly contractId: string
  readonly entity: string
  readonly createdAt?: Instant.Instant
}): Ledger.Active => ({
  _tag: "Created",
  nodeId: 0,
  contractId: contract.contractId,
  template: template(contract.entity),
  packageId: "package-id",
  payload: { name: contract.contractId },
  views: [],
  signatories: [],
  observers: [],
  witnesses: [],
  createdAt: contract.createdAt ?? Instant.fromNanos(0n),
  blob: Option.none(),
  inAcs: true,
  synchronizerId: "synchronizer"
})

const exercised = (contractId: string, entity: string): Ledger.Exercised => ({
  _tag: "Exercised",
  nodeId: 0,
  lastDescendant: 0,
  contractId,
  template: template(entity),
  iface: Option.none(),
  choice: "Choose",
  arg: {},
  result: null,
  actors: [],
  consuming: true,
  witnesses: [],
  inAcs: true
})

const entity = fc.constantFrom("First", "Second", "Other", "Unread")
const fromLedger = FromLedgerIndex.make([
  { template: template("Other") },
  { template: template("Second"), inSnapshot: "second" },
  { template: template("First") },
  { template: template("First"), inSnapshot: "first" }
])

describe("the index of readings", () => {
  it("gives the readings of a template in the order declared, and none of another", () => {
    expect(fromLedger.of(template("First"))).toEqual(fromLedger.all.slice(2))
    expect(fromLedger.of(template("Unread"))).toEqual([])
  })
})

describe("the start of a follower", () => {
  it("takes a snapshot of a pruned ledger for an empty projection, and for a kept one at its next epoch alone", () => {
    const head = { ledgerEpoch: 1, offset: 0 }
    expect(Bootstrap.needsSnapshot(head, { horizon: 0, rebootstrap: null })).toBe(false)
    expect(Bootstrap.needsSnapshot(head, { horizon: 1, rebootstrap: null })).toBe(true)
    const epoch = fc.integer({ min: 1, max: 3 })
    fc.assert(
      fc.property(
        fc.integer({ min: 1 }),
        fc.nat(),
        epoch,
        fc.option(epoch),
        (offset, horizon, ledgerEpoch, rebootstrap) => {
          const needs = () =>
            Bootstrap.needsSnapshot({ ledgerEpoch, offset }, { horizon, rebootstrap })
          if (horizon <= offset) expect(needs()).toBe(false)
          else if (rebootstrap === ledgerEpoch + 1) expect(needs()).toBe(true)
          else
            expect(needs).toThrow(
              `set rebootstrap (ledger.rebootstrap of the host) to ${ledgerEpoch + 1}`
            )
        }
      )
    )
  })

  it("goes on with its own participant or the first one, never with another", () => {
    Bootstrap.assertParticipant({ participant: null }, "node-1")
    Bootstrap.assertParticipant({ participant: "node-1" }, "node-1")
    expect(() => Bootstrap.assertParticipant({ participant: "node-1" }, "node-2")).toThrow("node-2")
  })
})

describe("a snapshot", () => {
  it("is read by rank, and in a rank as its contracts were created, however the ledger lists them", () => {
    const shown = fc.uniqueArray(
      fc.record({
        contractId: fc.nat(99).map(String),
        entity,
        createdAt: fc.bigInt({ min: 0n, max: 9n }).map(Instant.fromNanos)
      }),
      { selector: ({ contractId }) => contractId }
    )
    const ranks = ["First", "Second"]
    const rankOf = ({ template }: Ledger.Active) => (ranks.indexOf(template.entity) + 3) % 3
    fc.assert(
      fc.property(shown, fc.infiniteStream(fc.nat()), (entities, dice) => {
        const contracts = entities.map(active)
        const read = Snapshot.inOrder(contracts, fromLedger)
        expect(new Set(read)).toEqual(new Set(contracts))
        for (const [nth, contract] of read.slice(1).entries()) {
          const before = read[nth]!
          const isSameRank = rankOf(before) === rankOf(contract)
          expect(rankOf(before) <= rankOf(contract)).toBe(true)
          expect(!isSameRank || before.createdAt <= contract.createdAt).toBe(true)
        }
        const shuffled = contracts
          .map((contract) => ({ contract, at: dice.next().value }))
          .toSorted((left, right) => left.at - right.at)
          .map(({ contract }) => contract)
        expect(Snapshot.inOrder(shuffled, fromLedger)).toEqual(read)
      })
    )
  })

  it("is effective at the latest creation, or now where nothing is active", () => {
    const now = Instant.of("2026-07-31T16:00:00Z")
    const horizonTime = "2026-07-31T16:01:00.000000000Z"
    expect(Snapshot.timesOf([], { now, atLeast: null })).toEqual({
      effectiveAt: now,
      ledgerTime: null,
      horizonTime
    })
    const instants = fc.array(fc.bigInt({ min: 0n, max: 10n ** 18n }), { minLength: 1 })
    fc.assert(
      fc.property(instants, (nanos) => {
        const created = nanos.map((nano) => ({ createdAt: Instant.fromNanos(nano) }))
        const latest = Instant.fromNanos(nanos.reduce((max, nano) => (nano > max ? nano : max)))
        expect(Snapshot.timesOf(created, { now, atLeast: null })).toEqual({
          effectiveAt: latest,
          ledgerTime: Instant.sortable(latest),
          horizonTime
        })
        // The ledger time that a kept projection has reached does not decrease.
        const later = Instant.fromNanos(latest + 1n)
        expect(
          Snapshot.timesOf(created, { now, atLeast: Instant.sortable(later) }).ledgerTime
        ).toBe(Instant.sortable(later))
      })
    )
  })
})

describe("the records to prefetch", () => {
  const look = (id: string): Look => ({ collection: { name: "note" }, id })
  const looking: FromLedger = {
    template: template("First"),
    looks: (payload, contractId) => [look(String(payload["name"])), look(contractId)]
  }
  const looks = (events: ReadonlyArray<Ledger.Event>) =>
    looksOf(events, {
      payloadOf: (contractId) => (contractId === "b" ? { name: "before" } : undefined),
      fromLedger: FromLedgerIndex.make([...fromLedger.all, looking])
    })

  it("are those that readings name for a creation, and for a choice on a contract at hand", () => {
    expect(looks([active({ contractId: "a", entity: "First" })])).toEqual([look("a"), look("a")])
    expect(looks([exercised("b", "First")])).toEqual([look("before"), look("b")])
  })

  it("are none for a contract that is not at hand, and none for a template that nothing reads", () => {
    expect(looks([exercised("c", "First"), exercised("b", "Unread")])).toEqual([])
  })
})

describe("the restart of a follower", () => {
  it("waits twice as long after each failure, half a minute at most", () => {
    expect(Array.from({ length: 9 }, (_, nth) => Restart.backoff(nth + 1))).toEqual([
      500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000
    ])
  })

  it("counts failures in a row, from one again once the task has run for more than a minute", () => {
    expect(Restart.failuresAfter(0, 0n)).toBe(1)
    expect(Restart.failuresAfter(3, 60_000_000_000n)).toBe(4)
    expect(Restart.failuresAfter(3, 60_000_000_001n)).toBe(1)
  })

  it.effect("counts from one again after the task has ended without a failure", () =>
    Effect.gen(function* () {
      const ends = ["fails", "fails", "ends", "fails", "runs"]
      const began: Array<number> = []
      const task = Effect.gen(function* () {
        const end = ends[began.length]
        began.push(yield* Clock.currentTimeMillis)
        if (end === "fails") yield* Effect.fail(end)
        if (end === "runs") yield* Effect.never
      })
      yield* Effect.forkScoped(Restart.forever(task, { failed: "the task failed" }))
      yield* TestClock.adjust(10_000)
      expect(began).toEqual([0, 500, 1_500, 1_500, 2_000])
    })
  )
})

describe("the operation of an update", () => {
  it("is what the command id names before its first colon", () => {
    const text = fc.string().filter((id) => !id.includes(":"))
    fc.assert(
      fc.property(text, fc.string(), (operationId, step) => {
        expect(operationIdOf(Option.some(`${operationId}:${step}`))).toBe(operationId)
        expect(operationIdOf(Option.some(operationId))).toBe(null)
      })
    )
    expect(operationIdOf(Option.none())).toBe(null)
  })
})
