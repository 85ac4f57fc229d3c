/** Records that the updates of a batch look up: prefetched together, however many updates there are. */
import { Follower, Records } from "@bursar/engine-core"
import { Documents, Ledger } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Notes from "../engine/ledger-toys.ts"
import { world } from "../engine/world.ts"

/** Look-ups by id that the store was asked for. */
const counter = { looks: 0 }
const storage = Layer.effect(
  Documents,
  Effect.map(Documents, (documents) => ({
    ...documents,
    get: (query: Parameters<typeof documents.get>[0]) =>
      Effect.suspend(() => {
        counter.looks += 1
        return documents.get(query)
      })
  }))
).pipe(Layer.provideMerge(Memory.layer))

const fromLedger = Notes.fromLedger.map((reading) => ({
  ...reading,
  looks: ({ admissionConsentId: id }: Ledger.LfRecord) =>
    typeof id === "string" ? [{ collection: Notes.notes, id }] : []
}))

/** Contracts of an update; fewer are not prefetched where the update is alone. */
const notesEach = 8

/** Folds so many updates of eight notes each in one batch; returns the look-ups that it took. */
const looksFor = (updates: number) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger.Ledger
    const follower = yield* Follower
    yield* follower.catchUp
    for (let update = 0; update < updates; update++) {
      const [first, ...more] = Array.from({ length: notesEach }, (_, n) =>
        Notes.proposal(ledger.venue, { noteId: `n-${update}-${n}`, registrar: ledger.venue })
      )
      yield* ledger.submit({
        commandId: `past-${update}:1`,
        commands: [first!, ...more],
        dedup: { _tag: "Since", offset: yield* ledger.ledgerEnd }
      })
    }
    counter.looks = 0
    yield* follower.catchUp
    const looks = counter.looks
    const records = yield* Records
    const notes = yield* records.list(Notes.notes, { limit: 1_000 })
    assert.strictEqual(notes.length, updates * notesEach)
    return looks
  }).pipe(Effect.provide(world({ operations: Notes.operations, fromLedger, storage })))

describe("the records that a batch of updates looks up", () => {
  it.effect("are looked up as often for ten updates as for one", () =>
    Effect.gen(function* () {
      const [one, ten] = [yield* looksFor(1), yield* looksFor(10)]
      assert.isAbove(one, 0)
      assert.strictEqual(ten, one)
    })
  )
})
