/** Look-up of the open cycle that a claimed order joins, and whether it has room. */
import { Effect, Option } from "effect"
import { Settings } from "../../engine/Settings.ts"
import type { Objection } from "../../kernel/Gates.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { dealtAt, type DealingCycle, dealingCycles } from "./DealingCycle.ts"
import type { Counts } from "./DealingCycleMachine.ts"
import { againstJoining, againstLeaving } from "./JoiningRules.ts"
import { inputsOf } from "./TransactionSize.ts"

/** The open cycle of an instrument and cut-off; null while there is none. */
export const openCycleOf = Effect.fnUntraced(function* (
  of: Pick<DealingCycle, "instrumentId" | "cutOffAt">
) {
  const records = yield* Records
  const [found] = yield* records.list(dealingCycles, { where: { open: [dealtAt(of)] }, limit: 1 })
  return found === undefined ? null : found.record
})

/** The cycle that an order joins, and the row that says whether the two can settle together. */
export interface Joining {
  /** Null: the order is settled by itself. */
  readonly cycle: (Stored<DealingCycle> & { readonly cycleCid: string }) | null
  readonly against: Objection
}

/**
 * The cycle that a ledger-paid order of this cut-off joins by its claim. Orders that could not
 * settle together in one ledger transaction are refused here, while there is still another cut-off
 * to claim them for (docs/domain/dealing-cycles.md#size).
 */
export const joining = (
  of: Pick<DealingCycle, "instrumentId" | "cutOffAt">,
  kind: keyof Counts
): Effect.Effect<Joining, Unavailable, Records> =>
  Effect.gen(function* () {
    const open = yield* openCycleOf(of)
    const { inputsMax } = yield* Settings
    if (open === null || open.cycleCid === null || !open.acceptsOrders) {
      return { cycle: null, against: againstJoining(null, inputsMax) }
    }
    const members = { ...open.members, [kind]: open.members[kind] + 1 }
    const full = inputsOf(members) > inputsMax ? open.cycleId : null
    return { cycle: { ...open, cycleCid: open.cycleCid }, against: againstJoining(full, inputsMax) }
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
  const records = yield* Records
  const cycle = cycleId === null ? Option.none() : yield* records.find(dealingCycles, cycleId)
  const isOpen = Option.isSome(cycle) && cycle.value.state === "open"
  return againstLeaving(isOpen ? cycleId : null)
})
