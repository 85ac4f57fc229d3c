/** Look-up of the distribution lines that a cited order voids (docs/domain/powers.md#voided-lines). */
import { Effect } from "effect"
import type { VoidableLine, VoidableLines } from "../../powers/VoidableLines.ts"
import { Records } from "../../records/Records.ts"
import { DistributionLine as LineTemplate } from "../../templates/Distribution.ts"
import { exercise } from "../../templates/Template.ts"
import { type DistributionLine, distributionLines } from "./DistributionLine.ts"

const voidableOf = ({ holderId, lineCid, lineId, net, state }: DistributionLine): VoidableLine => ({
  lineId,
  holderId,
  isSuspended: state === "suspended",
  isVoid: state === "void",
  net,
  voiding: ({ orderRef }) => {
    if (lineCid === null) throw new Error(`the suspended line ${lineId} has no contract`)
    return exercise(LineTemplate, lineCid, "Void", { orderRef })
  }
})

/** Finds the distribution lines of these ids; one that does not exist is left out. */
export const linesById: VoidableLines["linesById"] = Effect.fnUntraced(function* (lineIds) {
  const records = yield* Records
  return (yield* records.many(distributionLines, lineIds)).map(voidableOf)
})
