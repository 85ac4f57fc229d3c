/**
 * Fold: the projection equals the fold of the ledger's updates, with repeats and cuts of the stream.
 */
import { Follower, Records } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Feed, Ledger, ProjectionLog } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Duration, Effect, Option, Stream } from "effect"
import * as fc from "fast-check"
import { TestClock } from "effect/testing"
import { describe, expect, it } from "vitest"
import { contracts } from "#core/projection/Contract.ts"
import { unexpectedFacts } from "#core/projection/Unexpected.ts"
import * as Calls from "../engine/calls.ts"
import * as Notes from "../engine/ledger-toys.ts"
import * as Passing from "../engine/passing.ts"
import { world } from "../engine/world.ts"
import { runsOf } from "../long-run.ts"

const runs = runsOf(40)

/** Transactions on the ledger, one after another. */
const happening = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      what: fc.constant("make" as const),
      ids: fc.array(fc.constantFrom("a", "b", "c", "d", "e", "f"), { minLength: 1, maxLength: 3 })
    })
  },
  {
    weight: 3,
    arbitrary: fc.record({ what: fc.constant("withdraw" as const), which: fc.nat(20) })
  },
  { weight: 2, arbitrary: fc.record({ what: fc.constant("decline" as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("elsewhere" as const) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("wait" as const), millis: fc.nat(5_000) }) }
)
type Happening = typeof happening extends fc.Arbitrary<infer A> ? A : never

/**
 * Faults of a connection: updates that are repeated, and the number of updates before it breaks.
 */
const trouble = fc.record({
  again: fc.nat(4),
  twice: fc.integer({ min: 1, max: 4 }),
  cut: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined })
})
type Trouble = typeof trouble extends fc.Arbitrary<infer A> ? A : never

const tormented =
  (troubles: ReadonlyArray<Trouble>) =>
  (port: Ledger.Ledger["Service"]): Ledger.Ledger["Service"] => {
    let connections = 0
    const updates: typeof port.updates = (query) => {
      // Only tails have faults; the test's own requests are answered without.
      if (query.through !== undefined) return port.updates(query)
      const now = troubles[connections++]
      if (now === undefined) return port.updates(query)
      const after = Math.max(0, query.after - now.again) as typeof query.after
      const doubled = port.updates({ ...query, after }).pipe(
        Stream.zipWithIndex,
        Stream.flatMap(([update, index]) =>
          index % now.twice === 0 ? Stream.make(update, update) : Stream.make(update)
        )
      )
      const gone = new Ledger.Unreachable({ detail: "cut", retryAfter: Duration.seconds(1) })
      return now.cut === undefined
        ? doubled
        : Stream.concat(Stream.take(doubled, now.cut), Stream.fail(gone))
    }
    return { ...port, updates }
  }

const history = Effect.fnUntraced(function* (happenings: ReadonlyArray<Happening>) {
  const ledger = yield* Ledger.Ledger
  const registrar = yield* Notes.outsider("registrar")
  const stranger = yield* Notes.outsider("stranger")
  let commands = 0
  const submit = (...commanded: readonly [Ledger.Command, ...ReadonlyArray<Ledger.Command>]) =>
    Effect.flatMap(ledger.ledgerEnd, (offset) =>
      ledger.submit({
        commandId: `test:${++commands}`,
        commands: commanded,
        dedup: { _tag: "Since", offset }
      })
    )
  const open: Array<string> = []
  for (const one of happenings) {
    const which = "which" in one ? open[one.which % Math.max(1, open.length)] : undefined
    switch (one.what) {
      case "make": {
        const [first, ...more] = one.ids.map((noteId) =>
          Notes.proposal(ledger.venue, { noteId, registrar: registrar.party })
        )
        if (first === undefined) break
        const receipt = yield* submit(first, ...more)
        const made = Option.getOrThrow(receipt.transaction).events
        open.push(...made.map(({ contractId }) => contractId))
        break
      }
      case "withdraw":
        if (which === undefined) break
        yield* submit(Templates.exercise(Templates.AdmissionConsentProposal, which, "Withdraw", {}))
        open.splice(open.indexOf(which), 1)
        break
      case "decline":
        if (which === undefined) break
        yield* registrar.decline(which)
        open.splice(open.indexOf(which), 1)
        break
      case "elsewhere":
        // The venue is no party to this contract: the ledger's end moves on without an update for
        // it.
        yield* stranger.act(
          Templates.create(Templates.SignedTerms, {
            venue: registrar.party,
            holder: stranger.party,
            holderId: "h",
            documentHash: "0".repeat(64),
            signedAt: Instant.fromNanos(0n)
          })
        )
        break
      case "wait":
        yield* TestClock.adjust(one.millis)
        break
    }
  }
})

/** The naive fold of the ledger's updates, independent of the engine's code. */
const naive = (all: ReadonlyArray<Ledger.Transaction>) => {
  const notes = new Map<string, { contractId: string; state: string; from: Array<number> }>()
  const active = new Map<string, { created: number; archived: number | null }>()
  const unexpected: Array<string> = []
  const naiveFold: Array<string> = []
  const ofContract = new Map<string, string>()
  for (const update of all) {
    for (const event of update.events) {
      if (event._tag === "Created") {
        const noteId = String(event.payload["admissionConsentId"])
        ofContract.set(event.contractId, noteId)
        active.set(event.contractId, { created: update.offset, archived: null })
        if (notes.has(noteId)) unexpected.push(`${update.updateId}:${event.nodeId}:note`)
        else {
          notes.set(noteId, { contractId: event.contractId, state: "open", from: [update.offset] })
          naiveFold.push(`${update.updateId}:${event.nodeId}:settlement.proposed`)
        }
        continue
      }
      const noteId = ofContract.get(event.contractId) ?? ""
      const note = notes.get(noteId)
      const contract = active.get(event.contractId)
      if (contract !== undefined) contract.archived = update.offset
      if (note?.contractId !== event.contractId) {
        unexpected.push(`${update.updateId}:${event.nodeId}:note`)
        continue
      }
      note.state = event.choice === "Withdraw" ? "withdrawn" : "declined"
      note.from.push(update.offset)
    }
  }
  return { notes, active, unexpected, sources: naiveFold }
}

const projected = Effect.gen(function* () {
  const records = yield* Records
  const limit = 1_000
  const feed = yield* Feed
  const log = yield* ProjectionLog
  const notes = yield* records.list(Notes.notes, { limit })
  const held = yield* records.list(contracts, { limit })
  const kept = yield* records.list(unexpectedFacts, { limit })
  const events = yield* feed.read({ order: "asc", limit, kind: ["journal"] })
  return {
    notes: notes.map(({ record }) => record),
    contracts: held.map(({ record }) => record),
    unexpected: kept.map(({ record }) => record.unexpectedFactId),
    sources: events.events.map(({ source }) => source),
    updates: yield* log.read({ after: 0, limit }),
    head: yield* log.head
  }
})

const agree = Effect.gen(function* () {
  const ledger = yield* Ledger.Ledger
  const all = yield* Notes.transactions
  const end = yield* ledger.ledgerEnd
  const expected = naive(all)
  const got = yield* projected
  expect(got.head.offset).toBe(end)
  expect(got.updates.map(({ updateId }) => updateId)).toEqual(all.map(({ updateId }) => updateId))
  expect(got.sources, "journal events, once each and in order").toEqual(expected.sources)
  expect(got.unexpected.toSorted()).toEqual(expected.unexpected.toSorted())
  expect(
    new Map(got.notes.map(({ noteId, contractId, state }) => [noteId, `${contractId} ${state}`]))
  ).toEqual(new Map([...expected.notes].map(([id, one]) => [id, `${one.contractId} ${one.state}`])))
  expect(
    new Map(
      got.contracts.map((one) => [
        one.contractId,
        { created: one.createdOffset, archived: one.archivedOffset }
      ])
    )
  ).toEqual(expected.active)
  for (const note of got.notes) {
    expect(note.version, "a fact was folded twice").toBe(
      expected.notes.get(note.noteId)?.from.length
    )
  }
  let before = 0
  let latest = ""
  for (const row of got.updates) {
    expect(row.prevOffset, "the chain of offsets").toBeGreaterThanOrEqual(before)
    expect(row.prevOffset).toBeLessThan(row.offset)
    latest = row.effectiveAt > latest ? row.effectiveAt : latest
    expect(row.ledgerTime, "ledger time is the running maximum").toBe(latest)
    before = row.offset
  }
})

const fromLedger = Notes.fromLedger
const skew = { minMillis: -30_000, maxMillis: 30_000 }

describe("the projection", () => {
  it("is the fold of the updates, in one go and in batches of any size", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(happening, { maxLength: 25, size: "max" }),
        fc.integer({ min: 1, max: 7 }),
        fc.nat(24),
        (happenings, batchMax, pause) => {
          const faults = SimulatedLedger.Faults.make()
          return Calls.runCase(
            Effect.gen(function* () {
              faults.replace({ skew })
              const follower = yield* Follower
              yield* history(happenings.slice(0, pause))
              yield* follower.catchUp
              yield* agree
              yield* historyGoesOn(happenings.slice(pause))
              yield* follower.catchUp
              yield* agree
            }).pipe(
              Effect.provide(world({ operations: [], fromLedger, faults, settings: { batchMax } }))
            )
          )
        }
      ),
      { numRuns: runs }
    ))

  it("is the same when updates come twice, come again and are cut off", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(happening, { maxLength: 25, size: "max" }),
        fc.array(trouble, { maxLength: 6, size: "max" }),
        fc.integer({ min: 1, max: 7 }),
        (happenings, troubles, batchMax) => {
          const faults = SimulatedLedger.Faults.make()
          return Calls.runCase(
            Effect.gen(function* () {
              faults.replace({ skew })
              yield* Passing.working
              const half = Math.floor(happenings.length / 2)
              yield* history(happenings.slice(0, half))
              yield* Passing.seconds(3)
              yield* historyGoesOn(happenings.slice(half))
              const log = yield* ProjectionLog
              const ledger = yield* Ledger.Ledger
              const caught = Effect.map(
                Effect.all([log.head, ledger.ledgerEnd]),
                ([head, end]) => head.offset === end
              )
              expect(yield* Passing.until(caught, 600)).toBe(true)
              yield* agree
            }).pipe(
              Effect.provide(
                world({
                  operations: [],
                  fromLedger,
                  faults,
                  settings: { batchMax },
                  tamper: tormented(troubles)
                })
              )
            )
          )
        }
      ),
      { numRuns: runs }
    ))
})

/** Other parties go on: the names of the first ones are taken. */
const historyGoesOn = (happenings: ReadonlyArray<Happening>) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger.Ledger
    const registrar = yield* Notes.outsider(`registrar-${happenings.length}-later`)
    let commands = 0
    for (const one of happenings) {
      if (one.what === "wait") yield* TestClock.adjust(one.millis)
      if (one.what !== "make") continue
      const [first, ...more] = one.ids.map((noteId) =>
        Notes.proposal(ledger.venue, { noteId, registrar: registrar.party })
      )
      if (first === undefined) continue
      const receipt = yield* ledger.submit({
        commandId: `later:${++commands}`,
        commands: [first, ...more],
        dedup: { _tag: "Since", offset: yield* ledger.ledgerEnd }
      })
      const [made] = Option.getOrThrow(receipt.transaction).events
      if (made !== undefined && commands % 2 === 0) yield* registrar.decline(made.contractId)
    }
  })
