/** Four-eyes writes with figures: purchases at a price that moves while people sign. */
import { Operation, Records } from "@bursar/engine-core"
import { Decimal, Instant, Integer } from "@bursar/engine-core/kernel"
import { Effect, Option, Schema } from "effect"
import * as Toys from "./toys.ts"

const Input = Schema.Struct({ counterId: Schema.String, by: Integer.schema })

/** The counter whose count, above a hundred, is the price. */
export const priceId = "price"

/** Current price: 100 and the count of its counter. */
export const price = Effect.gen(function* () {
  const records = yield* Records
  const found = yield* records.find(Toys.counters, priceId)
  return 100 + Option.match(found, { onNone: () => 0, onSome: ({ count }) => count })
})

const inOne = <A, E>(effect: Effect.Effect<A, E, Records>) =>
  Effect.flatMap(Records, (records) => records.transact(effect))

/** Moves the price, as a correction of a price point would. */
export const movePrice = Effect.fnUntraced(function* (by: number) {
  const act = {
    cause: { by: "request" as const, requestId: "price" },
    now: yield* Instant.now
  }
  const records = yield* Records
  const before = yield* records.find(Toys.counters, priceId)
  if (Option.isNone(before)) {
    yield* records.open(Toys.counters, { counterId: priceId, count: by }, act)
  } else {
    yield* records.append(Toys.counters, before.value, { on: "add", by }, act)
  }
}, inOne)

const declared = {
  doc: "Buys at the price of the moment.",
  makers: ["operator"],
  resource: {
    kind: "instrument",
    id: (input: typeof Input.Type) => input.counterId,
    href: (input: typeof Input.Type) => `/v1/counters/${input.counterId}`
  },
  input: Input,
  result: Schema.Struct({ total: Integer.schema }),
  refuses: ["rule-refused"],
  run: Effect.fn(function* (input: typeof Input.Type) {
    return { total: input.by * (yield* price) }
  })
} as const

const figuresOf = (figures: { readonly tolerance: string; readonly named: boolean }) =>
  Effect.fn(function* (input: typeof Input.Type) {
    const at = yield* price
    return {
      figures: {
        total: Decimal.fromInteger(input.by * at),
        ...(figures.named ? { point: `point-${at}` } : {})
      },
      tolerance: Decimal.of(figures.tolerance)
    }
  })

/** Two approvers sign the very figures. */
export const exact = Operation.define("hold.release", {
  ...declared,
  route: "POST /v1/counters/{counterId}:buy",
  approvers: 2,
  figures: figuresOf({ tolerance: "0", named: true })
})

/** One approver signs figures that may move by a tenth. */
export const near = Operation.define("instrument.record", {
  ...declared,
  route: "POST /v1/counters/{counterId}:buy-about",
  approvers: 1,
  figures: figuresOf({ tolerance: "0.1", named: false })
})

export const figured: ReadonlyArray<Operation.Operation> = [exact, near]
