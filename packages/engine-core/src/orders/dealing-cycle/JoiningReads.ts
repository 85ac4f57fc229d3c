/** Which open cycle an order joins when it is claimed, and whether the cycle can take one more. */
import { Effect, Option } from "effect"
import { Settings } from "../../engine/Settings.ts"
import { type Refused, refused, type Unavailable } from "../../kernel/Refusal.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { dealtAt, type DealingCycle, dealingCycles } from "./DealingCycle.ts"
import type { Counts, Objection } from "./DealingCycleMachine.ts"
import { inputsOf } from "./TransactionSize.ts"

/** The open cycle of an instrument and cut-off; null while there is none. */
export const openCycleOf = Effect.fnUntraced(function* (
  of: Pick<DealingCycle, "instrumentId" | "cutOffAt">
) {
  const records = yield* Records
  const [found] = yield* records.list(dealingCycles, { where: { open: [dealtAt(of)] }, limit: 1 })
  return found === undefined ? null : found.record
})

/**
 * The cycle that a ledger-paid order of this cut-off joins by its claim; null: it is settled by
 * itself. Orders that could not settle together in one ledger transaction are refused here, while
 * there is still another cut-off to claim them for (ledger.md section 5).
 */
export const joined = (
  of: Pick<DealingCycle, "instrumentId" | "cutOffAt">,
  kind: keyof Counts
): Effect.Effect<
  (Stored<DealingCycle> & { readonly cycleCid: string }) | null,
  Refused<"rule-refused"> | Unavailable,
  Records
> =>
  Effect.gen(function* () {
    const cycle = yield* openCycleOf(of)
    if (cycle === null || cycle.cycleCid === null || !cycle.acceptsOrders) return null
    const { inputsMax } = yield* Settings
    const members = { ...cycle.members, [kind]: cycle.members[kind] + 1 }
    if (inputsOf(members) > inputsMax) {
      return yield* Effect.fail(refused("rule-refused", tooLarge(cycle.cycleId, inputsMax)))
    }
    return { ...cycle, cycleCid: cycle.cycleCid }
  })

/**
 * An order of an open cycle deals with the others of its cut-off: by itself it would pass the gate
 * and the order of the cycles by. Once its cycle has ended without it, it settles by itself.
 */
export const againstApart = Effect.fnUntraced(function* ({
  cycleId
}: {
  readonly cycleId: string | null
}) {
  if (cycleId === null) return []
  const records = yield* Records
  const cycle = yield* records.find(dealingCycles, cycleId)
  const objection: Objection = [
    Option.isSome(cycle) && cycle.value.state === "open",
    "rule-refused",
    {
      gate: "policy",
      check: "in-cycle",
      detail: `The order is in the open dealing cycle ${cycleId}.`,
      recovery: "Settle its cycle, or release the order."
    }
  ]
  return [objection]
})

const tooLarge = (cycleId: string, inputsMax: number) =>
  ({
    gate: "ledger",
    check: "transaction-size",
    detail: `The cycle ${cycleId} has as many orders as one transaction of ${inputsMax} contracts settles.`,
    recovery: "Claim the order after the cut-off, for the next one, or settle fewer at once."
  }) as const
