/** Two small collections and their writes, for the tests of the mechanisms of writing. */
import { Operation, Records } from "@bursar/engine-core"
import { Collection, Integer } from "@bursar/engine-core/kernel"
import { Effect, Schema } from "effect"

export const Counter = Schema.Struct({ counterId: Schema.String, count: Integer.schema })
export const counters = Collection.define<typeof Counter.Type, { on: "add"; by: number }>(
  "counter",
  {
    doc: "A thing that is counted.",
    id: (self) => self.counterId,
    record: Counter,
    fact: Schema.Struct({ on: Schema.Literal("add"), by: Integer.schema }),
    evolve: (self, fact) => ({ ...self, count: self.count + fact.by }),
    keptBy: "engine"
  }
)

const Input = Schema.Struct({ counterId: Schema.String, by: Integer.schema })

/** Adds to a counter, making it when it is not there; refuses to add nothing. */
const add = Effect.fn(function* (
  input: typeof Input.Type,
  act: Parameters<Operation.OnRecords["run"]>[1]
) {
  const records = yield* Records
  if (input.by === 0) return yield* Effect.fail(refusedZero)
  const before = yield* records.find(counters, input.counterId)
  if (before._tag === "None") {
    return yield* records
      .open(counters, { counterId: input.counterId, count: input.by }, act)
      .pipe(Effect.catchTag("Refused", () => Effect.die("it was just looked for")))
  }
  return yield* records.append(counters, before.value, { on: "add", by: input.by }, act)
})

const refusedZero = {
  _tag: "Refused" as const,
  slug: "rule-refused" as const,
  details: { gate: "units" as const, check: "something-to-add" }
}

const declared = {
  doc: "Adds to a counter.",
  makers: ["operator"],
  resource: {
    kind: "instrument",
    id: (input: typeof Input.Type) => input.counterId,
    href: (input: typeof Input.Type) => `/v1/counters/${input.counterId}`
  },
  input: Input,
  result: Counter,
  refuses: ["rule-refused"],
  run: add
} as const

/** Runs at once. */
export const single = Operation.define("instrument.pause", {
  ...declared,
  route: "POST /v1/counters/{counterId}:add",
  approvers: 0
})
/** Needs one approver. */
export const double = Operation.define("instrument.record", {
  ...declared,
  makers: ["operator", "compliance"],
  route: "POST /v1/counters/{counterId}:add-by-two",
  approvers: 1
})
/** Needs two. */
export const triple = Operation.define("hold.release", {
  ...declared,
  route: "POST /v1/counters/{counterId}:add-by-three",
  approvers: 2
})

/** Needs one approver, and refuses to count beyond three: what may run now may not run later. */
export const capped = Operation.define("reserve.close", {
  ...declared,
  route: "POST /v1/counters/{counterId}:add-up-to-three",
  approvers: 1,
  run: Effect.fn(function* (
    input: typeof Input.Type,
    act: Parameters<Operation.OnRecords["run"]>[1]
  ) {
    const records = yield* Records
    const before = yield* records.find(counters, input.counterId)
    const count = before._tag === "None" ? 0 : before.value.count
    if (count + input.by > 3) return yield* Effect.fail(refusedZero)
    return yield* add(input, act)
  })
})

/** Needs one approver, and names by If-Match the count that it replaces. */
export const replacing = Operation.define("policy.set", {
  ...declared,
  route: "POST /v1/counters/{counterId}:replace",
  approvers: 1,
  ifMatch: "replaces",
  input: Schema.Struct({ ...Input.fields, replaces: Schema.optionalKey(Schema.String) })
})

export const toys: ReadonlyArray<Operation.Operation> = [single, double, triple]
