/** Write that releases a dealing cycle: its orders end unsettled, and their allocations end. */
import { Effect, Schema } from "effect"
import { Records } from "../../records/Records.ts"
import { DealingCycle as DealingCycleTemplate } from "../../templates/DealingCycle.ts"
import { exercise } from "../../templates/Template.ts"
import * as Concerns from "../../writes/ConcernLookups.ts"
import * as Operation from "../../writes/Operation.ts"
import { concerning, sentence } from "../../writes/Summary.ts"
import * as Timely from "../../records/Timely.ts"
import type { Redemption } from "../redemption/Redemption.ts"
import { admitted, CycleId, dealingCycles } from "./DealingCycle.ts"
import { none } from "./DealingCycleOrders.ts"
import { ordersOf } from "./CycleOrderLookups.ts"
import { endingOf, withoutContract } from "./OrderEndCommands.ts"
import * as DealingCycleView from "./DealingCycleView.ts"
import { viewOf } from "./CycleViewLookups.ts"

const ById = Schema.Struct({ cycleId: CycleId })

/**
 * Releases a cycle and ends its orders in the same transaction: a priced order is released, an unpriced
 * one is withdrawn, since only a priced order can be released
 * (docs/domain/dealing-cycles.md#releasing).
 */
export const release = Operation.defineOnLedger("dealing-cycle.release", {
  doc: "Releases a dealing cycle with its orders: nothing settles, and allocations go back.",
  summary: (_, subject) =>
    sentence`Releases dealing cycle ${subject.resource.id}${concerning(subject)} with its orders.`,
  route: "POST /v1/dealing-cycles/{cycleId}:release",
  makers: ["operator", "risk"],
  approvers: 0,
  resource: {
    kind: "dealing-cycle",
    id: ({ cycleId }) => cycleId,
    href: ({ cycleId }) => `/v1/dealing-cycles/${cycleId}`,
    concerns: Concerns.ofRecord(dealingCycles, ({ cycleId }) => cycleId)
  },
  input: ById,
  result: DealingCycleView.DealingCycleView,
  refuses: ["not-found", "state-conflict"],
  plan: Effect.fn("dealing-cycle.release.plan")(function* ({ cycleId }) {
    const records = yield* Records
    const cycle = yield* records.get(dealingCycles, cycleId)
    yield* Effect.fromResult(admitted(cycle, "release"))
    const { subscriptions, redemptions } =
      (yield* ordersOf([cycle], { pin: null, holderId: null })).get(cycleId) ?? none
    const ending = exercise(
      DealingCycleTemplate,
      cycle.cycleCid ?? withoutContract(cycleId),
      "Release",
      {
        allocations: cycle.allocations.map(({ cid }) => cid),
        intents: []
      }
    )
    return {
      // The cycle ends first, so that its orders end with it and are not counted as having left before.
      commands: [
        ending,
        ...endingOf({ subscriptions, redemptions: redemptions.filter(isReleasable) })
      ],
      last: true
    }
  }),
  finish: ({ cycleId }) => viewOf(cycleId)
})

/** Scheduled release of a cycle past its `settleBy` (docs/domain/dealing-cycles.md#releasing). */
export const timely = [
  Timely.define({
    name: "dealing-cycle.release",
    doc: "Releases a dealing cycle that has not settled by its time to.",
    collection: dealingCycles,
    operation: release,
    at: (cycle) => (cycle.state === "open" && !cycle.lost ? cycle.settleBy : undefined),
    request: ({ cycleId }) => ({ cycleId })
  })
]

/**
 * Checks whether a redemption is released with its cycle. One with a burn request is not: the registrar
 * may burn its units at any moment, and its holder must then be paid.
 */
const isReleasable = ({ burnRequestCid }: Redemption): boolean => burnRequestCid === null
