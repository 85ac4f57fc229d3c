/** The difference between an instrument's register and its administrator's, as the API shows it. */
import { PlainJson } from "@bursar/engine-core/kernel"
import { Console, Effect, Schema } from "effect"
import { list, olive } from "../01-embed-the-engine/people.ts"

const Finding = Schema.Struct({
  findingId: Schema.String,
  severity: Schema.String,
  state: Schema.String,
  unexplained: Schema.Number,
  explained: Schema.Struct({ by: Schema.Array(Schema.Struct({ id: Schema.String })) }),
  ageDays: Schema.Number,
  holdId: Schema.NullOr(Schema.String)
})
const Verdict = Schema.Struct({ verdict: Schema.String })

/** Reads rows of a list, decoded for people: their decimals are not computed with. */
const rows = <A>(schema: Schema.Codec<A, unknown>, ...of: Parameters<typeof list>) =>
  Effect.map(list(...of), (found) =>
    Schema.decodeUnknownSync(Schema.Array(schema))(JSON.parse(PlainJson.stringify(found)))
  )

/** The finding of check `register-line`, with the verdict of its instrument. */
export const difference = Effect.fnUntraced(function* (instrumentId: string) {
  const of = { instrumentId, check: ["register-line"] }
  const [finding] = yield* rows(Finding, olive, "findings", of)
  const [judged] = yield* rows(Verdict, olive, "reconciliation-verdict", { instrumentId })
  if (finding === undefined || judged === undefined) {
    return yield* Effect.die(new Error("the register was not compared"))
  }
  const { severity, state, unexplained, explained, ageDays, holdId } = finding
  const [by = null] = explained.by.map(({ id }) => id)
  yield* Console.log(
    `  ${state} and ${severity}: ${unexplained} units unexplained, ` +
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
