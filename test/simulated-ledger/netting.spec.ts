/** Legs that settle in one transaction: each account moves by its net, all of them or none, and no more of them than a transaction may use. */
import { Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import * as Dealing from "./dealing.ts"
import * as World from "./world.ts"

const { Entity } = SimulatedLedger

const parties = Schema.Array(Party.schema)
const cids = Schema.Array(Schema.String)
const unit = Schema.Struct({})

/** A settlement as CIP-112 has it: once all have signed, one transaction executes what they allocated. */
const Batch = Templates.define({
  typeRef: { packageName: "batch-v1", module: "Batch", entity: "Batch" },
  payload: Schema.Struct({ venue: Party.schema, awaited: parties, signed: parties }),
  choices: {
    Sign: { consuming: true, argument: Schema.Struct({ party: Party.schema }), result: unit },
    Settle: { consuming: true, argument: Schema.Struct({ allocations: cids }), result: unit }
  }
})

const batch = Entity.define(Batch, {
  signatories: ["venue", "signed"],
  observers: ["awaited"],
  choices: {
    Sign: {
      controllers: ["argument.party"],
      body: ({ self, argument: { party } }, scope) => {
        const signed = [...self.signed, party]
        return Result.map(scope.create(Batch, { ...self, signed }), () => ({}))
      }
    },
    Settle: {
      controllers: ["venue"],
      body: ({ argument }, scope) =>
        Result.map(
          Result.all(
            argument.allocations.map((contractId) =>
              scope.exercise(Templates.Allocation, contractId, "Allocation_ExecuteTransfer", {
                credentialCid: null
              })
            )
          ),
          () => ({})
        )
    }
  }
})

const people = ["alice", "bob", "carol", "custodian"] as const
type Person = (typeof people)[number]

/**
 * Golden vector G15 (docs/domain/figures.md#golden-vectors): an asset that goes round, what it
 * costs, and a fee from each.
 */
const legs: ReadonlyArray<readonly [Person, Person, string, "X" | "USD"]> = [
  ["alice", "bob", "1", "X"],
  ["bob", "carol", "1", "X"],
  ["carol", "alice", "1", "X"],
  ["bob", "alice", "10", "USD"],
  ["carol", "bob", "11", "USD"],
  ["alice", "carol", "12", "USD"],
  ["alice", "custodian", "0.1", "USD"],
  ["bob", "custodian", "0.11", "USD"],
  ["carol", "custodian", "0.12", "USD"]
]

const nineLegs = Effect.gen(function* () {
  const sessionOf = yield* World.parties(...Dealing.hints)
  const bank = sessionOf("bank").party
  const assets = { X: { admin: bank, id: "X" }, USD: { admin: bank, id: "USD" } }
  const floor = { sessionOf, cash: assets.USD }
  const allocations: Array<string> = []
  for (const [owner, to, amount, asset] of legs) {
    const holding = yield* Dealing.give(floor, owner, amount, assets[asset])
    const reference = `leg-${allocations.length}`
    allocations.push(yield* Dealing.allocate(floor, { owner, holding, to, amount, reference }))
  }
  const awaited = people.map((hint) => sessionOf(hint).party)
  const { party: venue } = sessionOf("venue")
  let signed = yield* World.make(
    sessionOf("venue"),
    "Batch",
    Templates.create(Batch, { venue, awaited, signed: [] })
  )
  for (const hint of people) {
    const { party } = sessionOf(hint)
    const sign = Templates.exercise(Batch, signed, "Sign", { party })
    signed = yield* World.make(sessionOf(hint), "Batch", sign)
  }
  const settle = (which: ReadonlyArray<string>) =>
    World.act(
      sessionOf("venue"),
      Templates.exercise(Batch, signed, "Settle", { allocations: which })
    )
  const balances = (asset: keyof typeof assets) =>
    Effect.forEach(people, (hint) => Dealing.balance(sessionOf(hint), assets[asset]))
  return { sessionOf, allocations, settle, balances }
})

const withBatch = (settings: SimulatedLedger.Options["settings"] = {}) =>
  SimulatedLedger.layerMemory({ ...World.options, entities: [batch], settings })

describe("nine legs in one transaction", () => {
  it.effect("leave an asset that goes round where it was, and each account with its net", () =>
    Effect.gen(function* () {
      const { allocations, settle, balances } = yield* nineLegs
      expect(yield* balances("USD")).toEqual(["12.1", "10.11", "11.12", "0"])
      yield* settle(allocations)
      expect(yield* balances("X")).toEqual(["1", "1", "1", "0"])
      // Nets of −2.10, 0.89, 0.88 and 0.33.
      expect(yield* balances("USD")).toEqual(["10", "11", "12", "0.33"])
    }).pipe(Effect.provide(withBatch()))
  )

  it.effect("move nothing where the last of them is bad", () =>
    Effect.gen(function* () {
      const { allocations, settle, balances } = yield* nineLegs
      const [first = ""] = allocations
      const twice = yield* Effect.flip(settle([...allocations, first]))
      expect(twice).toMatchObject({ code: "CONTRACT_NOT_ACTIVE" })
      expect(yield* balances("USD")).toEqual(["12.1", "10.11", "11.12", "0"])
      yield* settle(allocations)
    }).pipe(Effect.provide(withBatch()))
  )

  /** The batch, and of each leg its allocation and the holding that this locks. */
  const inputs = 1 + 2 * legs.length

  it.effect("never would use one contract more than a transaction may", () =>
    Effect.gen(function* () {
      const { allocations, settle } = yield* nineLegs
      expect(yield* Effect.flip(settle(allocations))).toMatchObject({ code: "INVALID_ARGUMENT" })
    }).pipe(Effect.provide(withBatch({ inputsMax: inputs - 1 })))
  )
  it.effect("use no more contracts than they have", () =>
    Effect.gen(function* () {
      const { allocations, settle } = yield* nineLegs
      yield* settle(allocations)
    }).pipe(Effect.provide(withBatch({ inputsMax: inputs })))
  )
})
