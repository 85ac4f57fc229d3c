/** Pure rules of holds: the acts that a hold stops, and the condition of gate `hold`. */
import { condition, type Judgement } from "../../kernel/Gates.ts"
import type { HoldBlock } from "../../vocabulary/sets.ts"

/** An open hold. */
export interface OpenHold {
  readonly holdId: string
  readonly instrumentId: string
  readonly blocks: ReadonlyArray<HoldBlock>
}

/**
 * Kinds of acts that holds stop. `deal`: opens or settles an order, or moves units; stopped by a
 * hold that blocks all. `distribution`: executes or delivers one; stopped by every hold. `mint`:
 * mints units against a reserve; stopped by a hold that blocks mints or all. Tightening acts
 * (restrict, withdraw, cancel, release, revoke) are stopped by none
 * (docs/domain/restraints.md#what-a-hold-blocks).
 */
export type Act = "deal" | "distribution" | "mint"

/** Checks whether an open hold stops an act of this kind. */
export const stops = ({ blocks }: Pick<OpenHold, "blocks">, act: Act): boolean =>
  act === "distribution" ||
  blocks.some((block) => block === "all" || (act === "mint" && block === "mint"))

/** Key of the condition of waiting records that an open hold of an instrument stops acts of a kind. */
export const stopKey = (act: Act, instrumentId: string): string => `hold:${act}:${instrumentId}`

/** The act and the instrument of such a key; undefined: it is the key of another condition. */
export const stoppedBy = (
  key: string
): { readonly act: Act; readonly instrumentId: string } | undefined => {
  const [name, act, ...rest] = key.split(":")
  const isAct = act === "deal" || act === "distribution" || act === "mint"
  return name === "hold" && isAct ? { act, instrumentId: rest.join(":") } : undefined
}

/** Check of gate `hold`; its refusal names the first open hold that stops the act. */
export const against = (holds: ReadonlyArray<OpenHold>, act: Act): Judgement => {
  const stopping = holds.find((hold) => stops(hold, act))
  return condition("not-held", stopping === undefined, {
    detail: stopping === undefined ? null : `The hold ${stopping.holdId} is open.`
  })
}
