/** Basis of a cycle's figures: the orders behind its sums, partial fills and swung price. */
import * as Basis from "../../kernel/Basis.ts"
import type * as Formula from "../../kernel/Formula.ts"
import type { Offset } from "../../kernel/Offset.ts"
import * as Formulas from "../order/OrderFormulas.ts"
import type { DealingCycle, OrderFill, Gross } from "./DealingCycle.ts"
import type { SwingInput } from "./DealingCycleRules.ts"

/** Contribution of an order to the cycle's sums. */
export interface Part {
  readonly kind: "subscription" | "redemption"
  readonly id: string
  readonly gross: Gross
}

/** Inputs of a cycle's figures. */
interface Inputs {
  readonly cycle: Pick<
    DealingCycle,
    "cycleId" | "instrumentId" | "unitDecimals" | "cashDecimals" | "gate" | "pointCid"
  >
  readonly parts: ReadonlyArray<Part>
  readonly fills: ReadonlyArray<OrderFill>
  /** Inputs of the swing; null if orders deal unswung, or if the caller sees only its own orders. */
  readonly swinging: SwingInput | null
  readonly offset: Offset
}

/** Returns one basis for each figure that a formula gives (docs/domain/figures.md#basis). */
export const of = (inputs: Inputs): ReadonlyArray<Basis.Basis> => [
  ...ofNet(inputs),
  ...ofGate(inputs),
  ...ofSwing(inputs)
]

const ofNet = ({ cycle, parts, offset }: Inputs): ReadonlyArray<Basis.Basis> => {
  const kindOf = new Map(parts.map(({ id, kind }) => [id, kind]))
  const side = (kind: Part["kind"], figure: keyof Gross): ReadonlyArray<Formula.Item> =>
    parts
      .filter((part) => part.kind === kind)
      .map(({ id, gross }) => ({ id, amount: gross[figure] }))
  return Basis.of(Formulas.fundNet, {
    values: {
      subscribed: side("subscription", "subscribed"),
      refunded: side("subscription", "refunded"),
      redeemed: side("redemption", "redeemed"),
      minted: side("subscription", "minted"),
      burned: side("redemption", "burned"),
      unitDecimals: cycle.unitDecimals,
      cashDecimals: cycle.cashDecimals
    },
    fields: { "fundNet.cash": "cash", "fundNet.units": "units" },
    source: (_, id) =>
      id === null
        ? ofInstrument(cycle, offset)
        : { resourceKind: kindOf.get(id) ?? "subscription", id, offset }
  })
}

const ofGate = ({ cycle, fills, offset }: Inputs): ReadonlyArray<Basis.Basis> =>
  cycle.gate === null
    ? []
    : Basis.of(Formulas.gateFill, {
        values: {
          capacity: cycle.gate.capacity,
          order: fills.map(({ redemptionId: id, ordered: amount }) => ({ id, amount })),
          unitDecimals: cycle.unitDecimals
        },
        fields: { "gate.factor": "factor" },
        source: (_, id) =>
          id === null ? ofInstrument(cycle, offset) : { resourceKind: "redemption", id, offset }
      })

const ofSwing = ({ cycle, swinging, offset }: Inputs): ReadonlyArray<Basis.Basis> => {
  if (swinging === null || swinging.swing === null) return []
  const { price, ordered, outstanding, swing } = swinging
  return Basis.of(Formulas.swing, {
    values: { price, ...ordered, outstanding, ...swing },
    fields: { swungPrice: "swungPrice" },
    source: (name) =>
      name === "price" && cycle.pointCid !== null
        ? { resourceKind: "contract", id: cycle.pointCid, offset }
        : ofInstrument(cycle, offset)
  })
}

/** Source of the terms, the sums of the day and the units outstanding: the instrument. */
const ofInstrument = (
  { instrumentId }: Pick<DealingCycle, "instrumentId">,
  offset: Offset
): Basis.Source => ({ resourceKind: "instrument", id: instrumentId, offset })
