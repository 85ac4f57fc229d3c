/** Scripted screening source, for tests, demonstrations and trials. */
import { Instant } from "@bursar/engine-core/kernel"
import { ScreeningSource } from "@bursar/engine-core/ports"
import { Effect, Layer, Schema } from "effect"

const found = Schema.Literals(["nothing-yet", "none", "possible", "confirmed"])
/** Answers to the first request, the second, and so on; the last answer repeats. */
const answers = Schema.Array(found).check(Schema.isMinLength(1), Schema.isMaxLength(20))

/** Largest number of holders in a script. */
const namedMax = 10_000

/** Answers of a scripted source, by name. */
export const Script = Schema.Struct({
  /** Version of the source's lists. */
  listVersion: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200)),
  /** Holders with answers of their own: by holder id, party or legal name. */
  named: Schema.Array(
    Schema.Struct({
      who: Schema.String,
      answers,
      reason: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(2_000)))
    })
  ).check(Schema.isMaxLength(namedMax)),
  /** Answers for all other holders. */
  others: answers
})
export type Script = typeof Script.Type

/** A script without hits. */
export const clear: Script = { listVersion: "1", named: [], others: ["none"] }

/**
 * Largest number of requests whose progress is kept; the oldest are dropped first and start again.
 */
const requestsMax = 10_000

/** Makes a source that reads its script at each request, so that the script may change. */
export const make = (
  script: Effect.Effect<Script, ScreeningSource.SourceUnavailable>
): ScreeningSource.Source => {
  const turnByRequest = new Map<string, number>()
  const turnOf = (requestId: string): number => {
    const turn = turnByRequest.get(requestId) ?? 0
    turnByRequest.delete(requestId)
    turnByRequest.set(requestId, turn + 1)
    const [oldest] = turnByRequest.keys()
    if (turnByRequest.size > requestsMax && oldest !== undefined) turnByRequest.delete(oldest)
    return turn
  }
  return {
    screens: "yes",
    listVersion: Effect.map(script, ({ listVersion }) => listVersion),
    ask: Effect.fnUntraced(function* ({ requestId, holderId, party, legalName }) {
      const { listVersion, named, others } = yield* script
      const scripted = named.find(({ who }) => [holderId, party, legalName].includes(who))
      const all = scripted?.answers ?? others
      const answer = all[Math.min(turnOf(requestId), all.length - 1)] ?? "none"
      if (answer === "nothing-yet") return { found: answer }
      const screenedAt = yield* Instant.now
      const reason = scripted?.reason ?? null
      return { found: answer, screenedAt, listVersion, validUntil: null, reason }
    })
  }
}

/** Layer of a source with a fixed script. */
export const layer = (script: Script): Layer.Layer<ScreeningSource.ScreeningSource> =>
  Layer.succeed(ScreeningSource.ScreeningSource, make(Effect.succeed(script)))
