/** Pure rules of holds: which acts a hold stops, and the check of gate `hold`. */
import { check, type Objection } from "../../kernel/Gates.ts"
import type { HoldBlock } from "../../vocabulary/sets.ts"

/** A hold that is open. */
export interface Holding {
  readonly holdId: string
  readonly instrumentId: string
  readonly blocks: ReadonlyArray<HoldBlock>
}

/**
 * Kinds of act by what stops them. `deal`: it opens or settles an order, or moves units; only a
 * hold on all stops it. `distribution`: it executes or delivers one; every hold stops it. `mint`:
 * it makes units against a reserve. What only tightens (restrict, withdraw, cancel, release,
 * revoke) asks no hold (docs/domain/restraints.md#what-a-hold-blocks).
 */
export type Act = "deal" | "distribution" | "mint"

export const stops = ({ blocks }: Pick<Holding, "blocks">, act: Act): boolean =>
  act === "distribution" ||
  blocks.some((block) => block === "all" || (act === "mint" && block === "mint"))

/** The check of gate `hold`; of several open holds it names the first that stops the act. */
export const against = (holds: ReadonlyArray<Holding>, act: Act): Objection => {
  const stopping = holds.find((hold) => stops(hold, act))
  return check("not-held", stopping === undefined, {
    detail: stopping === undefined ? null : `The hold ${stopping.holdId} is open.`
  })
}
