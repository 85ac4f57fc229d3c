/** Loads the largest ages of a clear screening, from settings and policies in force. */
import { Effect, Stream } from "effect"
import { Settings } from "../../engine/Settings.ts"
import { instruments } from "../../instruments/instrument/Instrument.ts"
import * as Duration from "../../kernel/Duration.ts"
import { Records } from "../../records/Records.ts"

/**
 * Largest ages of a clear screening: of the deployment's settings and of every instrument's policy
 * in force, each once (docs/domain/holders.md#screening). One screening serves all instruments, so
 * the shortest age decides.
 */
export const ages = Effect.gen(function* () {
  const records = yield* Records
  const { rescreenAfter } = yield* Settings
  const policies = yield* records.stream(instruments, { where: { listed: ["yes"] } }).pipe(
    Stream.map(({ record }) => record.manifest?.rescreenAfter ?? null),
    Stream.runFold(
      () => new Map<string, Duration.Duration>(),
      (byText, age) => (age === null ? byText : byText.set(Duration.format(age), age))
    )
  )
  return rescreenAfter === null ? [...policies.values()] : [rescreenAfter, ...policies.values()]
})
