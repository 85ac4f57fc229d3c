/** Look-up of the open cycle that a claimed order joins, and the condition of its room. */
import { Effect, Option } from "effect"
import { Settings } from "../../engine/Settings.ts"
import type { Judgement } from "../../kernel/Gates.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { dealtAt, type DealingCycle, dealingCycles, type Counts } from "./DealingCycle.ts"
import { againstJoining, againstLeaving, isOfMarket, type PayingMarket } from "./JoiningRules.ts"
import { stillUnderWay, underWayIn } from "./JoiningSteps.ts"
import { inputsOf } from "./TransactionSize.ts"

/** Finds the open cycle of an instrument and cut-off; null: there is none. */
export const openCycleOf = Effect.fnUntraced(function* (
  cutOff: Pick<DealingCycle, "instrumentId" | "cutOffAt">
) {
  const records = yield* Records
  const [found] = yield* records.list(dealingCycles, {
    where: { open: [dealtAt(cutOff)] },
    limit: 1
  })
  return found === undefined ? null : found.record
})

/** The cycle that an order joins, and the row of the condition that it has room. */
interface JoinedCycle {
  /** Null: the order settles by itself. */
  readonly cycle: (Stored<DealingCycle> & { readonly cycleCid: string }) | null
  readonly against: Judgement
}

/**
 * Finds the cycle that a ledger-paid order of this cut-off and market joins by its claim, and checks its
 * room. An order beyond the size of one ledger transaction is refused at its claim, when it can still be
 * claimed for another cut-off (docs/domain/dealing-cycles.md#size). An order of another fund or payment
 * asset than the open cycle's settles by itself (docs/domain/dealing-cycles.md#opening).
 */
export const joining = (
  cutOff: Pick<DealingCycle, "instrumentId" | "cutOffAt"> & PayingMarket,
  claim: { readonly kind: keyof Counts; readonly operationId: string }
): Effect.Effect<JoinedCycle, Unavailable, Records> =>
  Effect.gen(function* () {
    const records = yield* Records
    const open = yield* openCycleOf(cutOff)
    const { inputsMax } = yield* Settings
    if (
      open === null ||
      open.cycleCid === null ||
      !open.acceptsOrders ||
      !isOfMarket(open, cutOff)
    ) {
      return { cycle: null, against: againstJoining(null, inputsMax) }
    }
    const latest = records
      .get(dealingCycles, open.cycleId)
      .pipe(Effect.catchTag("Refused", (gone) => Effect.die(new Error(gone.slug))))
    let joinings = yield* underWayIn(open.cycleId, claim.operationId)
    let joined: Stored<DealingCycle> = open
    // A claim that was recorded while the cycle was read would count twice: both are read again.
    for (let before = -1; before !== joinings.length; ) {
      before = joinings.length
      joined = yield* latest
      joinings = yield* stillUnderWay(joinings)
    }
    const { members, ...cycle } = joined
    const countOf = (kind: keyof Counts) =>
      members[kind] +
      joinings.filter((joining) => joining.kind === kind).length +
      (kind === claim.kind ? 1 : 0)
    const counts = { subscriptions: countOf("subscriptions"), redemptions: countOf("redemptions") }
    const full = inputsOf(counts) > inputsMax ? open.cycleId : null
    return {
      cycle: { ...cycle, members, cycleCid: open.cycleCid },
      against: againstJoining(full, inputsMax)
    }
  })

/**
 * Checks that an order is in no open cycle. Settled apart from its cycle, it would evade the cycle's
 * capacity and the sequence of cut-offs; after its cycle has ended without it, it settles by itself.
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
