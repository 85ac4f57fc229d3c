/** A trigger pulled by the clock stands in a machine's table exactly where the collection's `due` yields it. */
import { Arbitrary, Effect, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { collections, machines } from "#core/catalogue.ts"
import { type Collection, never } from "#core/kernel/Collection.ts"
import type { Machine } from "#core/kernel/Machine.ts"
import { approvals } from "#core/writes/Approval.ts"
import { operations } from "#core/writes/OperationRecord.ts"

/** Machines whose states no collection's records have, and what moves them by the clock instead. */
const withoutCollection: Readonly<Record<string, string>> = {
  AttributeState: "part of the holder's record: its fact `expire-attributes`",
  ScreeningState: "part of the holder's record: its fact `screen`, and the runner that asks again"
}

/** Machines of records that no clock move of their own moves, and whose clock moves do. */
const movedByOthers: Readonly<Record<string, string>> = {
  DistributionLineState: "the notices of its holder's restrictions, registration and attributes"
}

/** The collections of the writes themselves, which no area lists. */
const ofWrites = [approvals, operations] as unknown as ReadonlyArray<Collection>

const fieldsOf = ({ record }: Collection): Schema.Struct.Fields =>
  (record as unknown as Schema.Struct<Schema.Struct.Fields>).fields

const collectionOf = (machine: Machine): Collection | undefined =>
  [...collections, ...ofWrites].find(
    (collection) => fieldsOf(collection)["state"] === machine.schema
  )

/** Members left empty in generated records: they hold any JSON, or obey rules that chance never meets. */
const emptied: Schema.Struct.Fields = {
  changes: Schema.Tuple([]),
  manifest: Schema.Null,
  request: Schema.Null
}

const recordsOf = (collection: Collection): ReadonlyArray<unknown> => {
  if (collection.due === never) return []
  const fields = fieldsOf(collection)
  const shape = Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [name, emptied[name] ?? schema])
  )
  return Effect.runSync(
    Arbitrary.sampleEffect(Arbitrary.schema(Schema.Struct(shape)), { count: 400, seed: 7 })
  )
}

/** The moves of the table that the clock may make, each as its state and its trigger. */
const declared = ({ moves, triggers }: Machine): ReadonlyArray<string> =>
  Object.entries(moves).flatMap(([state, row]) =>
    Object.keys(row)
      .filter((on) => triggers[on]?.by.includes("clock"))
      .map((on) => `${state} ${on}`)
  )

/** The moves that `due` yields; a fact that is named as no trigger of the table moves no state. */
const yielded = (machine: Machine, collection: Collection): ReadonlyArray<string> => [
  ...new Set(
    recordsOf(collection).flatMap((record) => {
      const fact = collection.due(record)?.fact as { readonly on: string } | undefined
      return fact === undefined || machine.triggers[fact.on] === undefined
        ? []
        : [`${(record as { readonly state: string }).state} ${fact.on}`]
    })
  )
]

describe("the clock", () => {
  it.each(
    machines.flatMap((machine) => {
      const collection = collectionOf(machine)
      return collection === undefined ? [] : [[machine.name, machine, collection] as const]
    })
  )("moves a record of %s exactly as its table says", (_, machine, collection) => {
    const own = machine.name in movedByOthers ? [] : declared(machine)
    expect(yielded(machine, collection).toSorted()).toEqual(own.toSorted())
  })

  it("never leaves out a machine without saying what moves it", () => {
    const left = machines.filter((machine) => collectionOf(machine) === undefined)
    expect(left.map(({ name }) => name).toSorted()).toEqual(
      Object.keys(withoutCollection).toSorted()
    )
  })
})
