/** Limits of the ledger: every loop and every size is bounded, and its clock never goes back. */
import { Decimal, Duration, Instant, Offset, Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, type Layer, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as World from "./world.ts"

const { Entity } = SimulatedLedger

const Loop = Templates.define({
  typeRef: { packageName: "loop-v1", module: "Loop", entity: "Loop" },
  payload: Schema.Struct({ owner: Party.schema, share: Schema.optionalKey(Decimal.text) }),
  choices: {
    Again: { consuming: false, argument: Schema.Struct({}), result: Schema.Struct({}) },
    EndAll: {
      consuming: false,
      argument: Schema.Struct({ others: Schema.Array(Schema.String) }),
      result: Schema.Struct({})
    },
    Share: {
      consuming: false,
      argument: Schema.Struct({ by: Schema.String }),
      result: Schema.Struct({})
    },
    Break: { consuming: false, argument: Schema.Struct({}), result: Schema.Struct({}) },
    Hide: { consuming: false, argument: Schema.Struct({}), result: Schema.Struct({}) }
  }
})

/** A text that the compiler does not know, as rules have one that are written without types. */
const hidden: string = "a guard that is in no list"

const largest = "9999999999999999999999999999"

const loop = Entity.define(Loop, {
  signatories: ["owner"],
  observers: [],
  ensure: [
    ["its share is a decimal", ({ share = Decimal.zero }) => Decimal.add(share, Decimal.one) > 0n]
  ],
  choices: {
    Again: {
      controllers: ["owner"],
      body: ({ contractId }, scope) => scope.exercise(Loop, contractId, "Again", {})
    },
    EndAll: {
      controllers: ["owner"],
      body: ({ argument }, scope) =>
        Result.map(
          Result.all(argument.others.map((other) => scope.archive(Loop, other))),
          () => ({})
        )
    },
    Share: {
      controllers: ["owner"],
      body: ({ argument: { by } }, scope) => {
        Decimal.divideRounded(Decimal.of(largest), Decimal.of(by), { places: 0, rounding: "floor" })
        Instant.add(scope.now, Duration.of("P9990Y"))
        return Result.succeed({})
      }
    },
    Break: {
      controllers: ["owner"],
      body: () => {
        throw new Error("a bug of the body")
      }
    },
    Hide: { controllers: ["owner"], body: () => Entity.abort(hidden) }
  }
  // Typed rules with such a body are no entity: test/types/guards.ts.
}) as unknown as SimulatedLedger.Entity.Entity

const ledger = SimulatedLedger.layerMemory({
  ...World.options,
  entities: [loop],
  settings: { inputsMax: 3 }
})

const scene = Effect.gen(function* () {
  const owner = (yield* World.parties("owner"))("owner")
  const made = Effect.suspend(() =>
    World.make(owner, "Loop", Templates.create(Loop, { owner: owner.party }))
  )
  return { owner, made, first: yield* made }
})

describe("the ledger", () => {
  it.effect("never would run a choice that calls itself for ever", () =>
    Effect.gen(function* () {
      const { owner, first } = yield* scene
      const again = Templates.exercise(Loop, first, "Again", {})
      expect(yield* Effect.flip(World.act(owner, again))).toMatchObject({
        _tag: "Refused",
        code: "DAML_FAILURE",
        cause: "consequences nest too deep"
      })
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would use more input contracts than it may", () =>
    Effect.gen(function* () {
      const { owner, made, first } = yield* scene
      const others = [yield* made, yield* made, yield* made]
      const end = (ids: ReadonlyArray<string>) =>
        World.act(owner, Templates.exercise(Loop, first, "EndAll", { others: ids }))
      expect(yield* Effect.flip(end(others))).toMatchObject({ code: "INVALID_ARGUMENT" })
      expect((yield* end(others.slice(1))).duplicate).toBe(false)
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would stop for everybody because one body throws", () =>
    Effect.gen(function* () {
      const { owner, made, first } = yield* scene
      const broken = World.act(owner, Templates.exercise(Loop, first, "Break", {}))
      const exit = yield* Effect.exit(broken)
      expect(exit._tag).toBe("Failure")
      expect(exit._tag === "Failure" && Cause.pretty(exit.cause)).toContain("a bug of the body")
      expect(yield* made).not.toBe(first)
    }).pipe(Effect.provide(ledger))
  )

  it.effect.each([
    ["divides by zero", "0", "Decimal: division by zero"],
    ["has a figure of too many digits", "0.1", "Decimal: more than 28 digits before the point"],
    ["reaches beyond the last year", "1", "Date: there is no such date"]
  ] as const)("never would have no answer for a party whose choice %s", ([, by, cause]) =>
    Effect.gen(function* () {
      const { owner, made, first } = yield* scene
      const shared = World.act(owner, Templates.exercise(Loop, first, "Share", { by }))
      expect(yield* Effect.flip(shared)).toMatchObject({
        _tag: "Refused",
        code: "UNHANDLED_EXCEPTION",
        category: 9,
        cause: `ArithmeticError in loop-v1:Loop:Loop.Share: ${cause}`
      })
      expect(yield* made).not.toBe(first)
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would have no answer for a party whose contract has no sum", () =>
    Effect.gen(function* () {
      const { owner } = yield* scene
      const { party } = owner
      const create = Templates.create(Loop, { owner: party, share: Decimal.of(largest) })
      expect(yield* Effect.flip(World.act(owner, create))).toMatchObject({
        code: "TEMPLATE_PRECONDITION_VIOLATED"
      })
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would abort with a text that its choice does not name", () =>
    Effect.gen(function* () {
      const { owner, first } = yield* scene
      const hiding = World.act(owner, Templates.exercise(Loop, first, "Hide", {}))
      const exit = yield* Effect.exit(hiding)
      expect(exit._tag === "Failure" && Cause.pretty(exit.cause)).toContain(
        `loop-v1:Loop:Loop.Hide aborts with a guard that it does not name: ${hidden}`
      )
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would record a time before one it has recorded", () =>
    Effect.gen(function* () {
      const { owner } = yield* scene
      const create = Templates.create(Loop, { owner: owner.party })
      yield* TestClock.setTime(10_000)
      const before = yield* World.act(owner, create)
      yield* TestClock.setTime(5_000)
      const after = yield* World.act(owner, create)
      expect(after.recordTime).toBe(before.recordTime)
      expect(after.offset).toBeGreaterThan(before.offset)
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would have no gaps by default, or gaps although told to have none", () =>
    Effect.gen(function* () {
      // Of so many drawn gaps none of the three sizes is missing but once in 10^10 runs.
      const count = 60
      const offsets = (layer: Layer.Layer<SimulatedLedger.Participant, unknown>) =>
        Effect.gen(function* () {
          const owner = (yield* World.parties("owner"))("owner")
          const create = Templates.create(Loop, { owner: owner.party })
          const receipts = yield* Effect.replicateEffect(
            Effect.suspend(() => World.act(owner, create)),
            count
          )
          return receipts.map(({ offset }) => offset)
        }).pipe(Effect.provide(layer))
      const dense = SimulatedLedger.layerMemory({
        ...World.options,
        entities: [loop],
        settings: { gap: "dense" }
      })
      expect(yield* offsets(dense)).toEqual(
        Array.from({ length: count }, (_, i) => Offset.of(i + 1))
      )
      const sparse = yield* offsets(ledger)
      const steps = sparse.map((offset, index) => offset - (sparse[index - 1] ?? 0))
      expect(new Set(steps)).toEqual(new Set([1, 2, 3]))
    })
  )
})
