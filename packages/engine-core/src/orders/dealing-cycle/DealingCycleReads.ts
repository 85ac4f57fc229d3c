/** What the API answers about dealing cycles: all of them, or one with what it comes to. */
import { Effect, Schema } from "effect"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import { refused } from "../../kernel/Refusal.ts"
import * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import { redemptions } from "../redemption/Redemption.ts"
import { subscriptions } from "../subscription/Subscription.ts"
import { CycleId, dealingCycles } from "./DealingCycle.ts"
import { DealingCycleMachine } from "./DealingCycleMachine.ts"
import * as DealingCycleView from "./DealingCycleView.ts"

const audience = {
  operator: "all",
  approver: "all",
  risk: "all",
  auditor: "all",
  app: "all",
  investor: "own"
} as const satisfies Read.Audience

/** The holder whose orders alone the caller sees; null: everybody's. */
const holderOf = ({ caller, sight }: Pick<Read.Asking, "caller" | "sight">): string | null =>
  sight === "own" ? caller.holderId : null

export const list = Read.list({
  name: "dealing-cycles.list",
  doc: "Lists dealing cycles; an investor sees those it has an order in, and of the orders its own.",
  route: "GET /v1/dealing-cycles",
  audience,
  pinned: true,
  collection: dealingCycles,
  params: Schema.Struct({
    state: Schema.optionalKey(Schema.Array(DealingCycleMachine.schema)),
    instrumentId: Schema.optionalKey(InstrumentId)
  }),
  item: DealingCycleView.DealingCycleView,
  direction: "asc",
  order: "by id",
  changes: true,
  where: ({ state, instrumentId }) => ({
    ...(state === undefined ? {} : { state }),
    ...(instrumentId === undefined ? {} : { instrumentId: [instrumentId] })
  }),
  scope: ({ caller, sight }) =>
    sight === "own" && caller.holderId === null
      ? Effect.fail(
          refused("permission-denied", {
            detail: "The sign-in does not say whose records these are."
          })
        )
      : Effect.succeed({}),
  narrow: Effect.fn("dealing-cycles.narrow")(function* (_, asking) {
    const holderId = holderOf(asking)
    if (holderId === null) return {}
    const records = yield* Records
    const query = { pin: asking.pin, where: { holderId: [holderId] } }
    const bought = yield* records.countBy(subscriptions, "cycleId", query)
    const sold = yield* records.countBy(redemptions, "cycleId", query)
    return { cycleId: [...new Set([...bought.keys(), ...sold.keys()])].toSorted() }
  }),
  view: (records, asking) =>
    DealingCycleView.many(records, { pin: asking.pin, holderId: holderOf(asking) })
})

export const get = Read.one({
  name: "dealing-cycles.get",
  doc: "A dealing cycle with its legs; an investor sees its own orders' alone.",
  route: "GET /v1/dealing-cycles/{cycleId}",
  audience,
  pinned: true,
  params: Schema.Struct({ cycleId: CycleId }),
  value: DealingCycleView.DealingCycleDetail,
  refuses: ["not-found"],
  run: Effect.fn("dealing-cycles.get")(function* ({ cycleId }, asking) {
    const records = yield* Records
    const record = yield* records.get(dealingCycles, cycleId, asking.pin)
    return yield* DealingCycleView.detail(record, {
      pin: asking.pin,
      holderId: holderOf(asking)
    })
  })
})

export const reads = [list, get] as const
