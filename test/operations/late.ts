/**
 * Late acts: another write happens between the plan of an act and its commit, and the act is sent
 * as it was planned.
 */
import type { Ledger } from "@bursar/engine-core/ports"
import { Effect } from "effect"

/**
 * Does something beside the engine as it is about to send the first submission with such a choice at
 * its root, written `Template.Choice`; then that very submission goes to the ledger.
 */
export const beside = () => {
  const race: { choice: string; first: Effect.Effect<unknown> | null } = { choice: "", first: null }
  const isLate = ({ commands }: Ledger.Submission) =>
    commands.some(
      (one) => one._tag === "Exercise" && `${one.target.entity}.${one.choice}` === race.choice
    )
  const tamper = (port: Ledger.Ledger["Service"]): Ledger.Ledger["Service"] => ({
    ...port,
    submit: (submission) => {
      const { first } = race
      if (first === null || !isLate(submission)) return port.submit(submission)
      race.first = null
      return Effect.andThen(first, port.submit(submission))
    }
  })
  return { race, tamper }
}
export type Race = ReturnType<typeof beside>["race"]
