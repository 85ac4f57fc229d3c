/** Gate of the distribution lines that a forced transfer voids (docs/domain/powers.md#voided-lines). */
import { condition, type Judgement } from "../kernel/Gates.ts"
import type { VoidableLine } from "./VoidableLines.ts"

/** Largest number of lines that one act voids, which an approver can still read. */
export const voidsMax = 100

/** A line that the body names. */
interface NamedLine {
  readonly lineId: string
  /** Null: there is no such line. */
  readonly line: Pick<VoidableLine, "holderId" | "isSuspended" | "isVoid"> | null
}

/** Lines that the body names, of the holder that the order is against. */
interface LineVoids<Line extends NamedLine = NamedLine> {
  readonly holderId: string
  /** In the order of the body. */
  readonly lines: ReadonlyArray<Line>
  /** True: an earlier step of the operation may have voided some of the lines. */
  readonly isBegun: boolean
}

/** Reason why a line cannot be voided; null: it can, or an earlier step has done so. */
const faultOf = (
  { lineId, line }: NamedLine,
  { holderId, isBegun }: Pick<LineVoids, "holderId" | "isBegun">
): string | null => {
  // The refusal discloses neither the line's holder nor whether the line exists.
  if (line?.holderId !== holderId) return `The holder has no line ${lineId}.`
  if (line.isSuspended || (isBegun && line.isVoid)) return null
  return `The line ${lineId} is not suspended.`
}

/** The condition that each named line is a suspended line of the holder, with the place of each that is not. */
export const against = (voiding: LineVoids): Judgement => {
  const errors = voiding.lines.flatMap((named, index) => {
    const detail = faultOf(named, voiding)
    return detail === null ? [] : [{ pointer: `/body/voids/${index}`, detail }]
  })
  return condition("lines-voidable", errors.length === 0, {
    detail: `Lines that the order cannot void: ${errors.length}. Nothing is voided or moved.`,
    errors
  })
}
