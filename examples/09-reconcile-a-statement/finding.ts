/** The difference between an instrument's register and its administrator's, as the engine shows it. */
import { Decimal } from "@bursar/engine-core/kernel"
import { Console, Effect } from "effect"
import { people } from "../01-embed-the-engine/people.ts"

/** The finding of check `register-line`, with the verdict of its instrument. */
export const difference = Effect.fnUntraced(function* (instrumentId: string) {
  const { olive } = yield* people
  const where = { instrumentId, check: ["register-line"] } as const
  const [finding] = (yield* olive.list("findings.list", { where })).value
  const verdicts = yield* olive.list("reconciliation-verdict.list", { where: { instrumentId } })
  const [judged] = verdicts.value
  if (finding === undefined || judged === undefined) {
    return yield* Effect.die(new Error("the register was not compared"))
  }
  const { severity, state, unexplained, explained, ageDays, holdId } = finding
  const [by = null] = explained.by.map(({ id }) => id)
  yield* Console.log(
    `  ${state} and ${severity}: ${unexplained === null ? "no" : Decimal.formatPlain(unexplained)} units unexplained, ` +
      `${by === null ? "" : `the rest by ${by}, `}found ${ageDays} days ago; ` +
      `${holdId === null ? "nothing is held" : `hold ${holdId}`}; the verdict is ${judged.verdict}`
  )
  return { ...finding, by, verdict: judged.verdict }
})
type Difference = Effect.Success<ReturnType<typeof difference>>

/** Ends the program where the finding is not as the story has it. */
export const demand = (
  found: Difference,
  wanted: Pick<Difference, "severity" | "state" | "by" | "verdict">
) => {
  const wrong = (["severity", "state", "by", "verdict"] as const).filter(
    (member) => found[member] !== wanted[member]
  )
  return wrong.length === 0
    ? Effect.void
    : Effect.die(new Error(`the finding's ${wrong.join(", ")} is not as it should be`))
}
