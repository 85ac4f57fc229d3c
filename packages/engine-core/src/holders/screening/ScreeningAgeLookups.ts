/** Look-up of the largest age of a screening, from settings and policies in force. */
import { Effect, Stream } from "effect"
import { Settings } from "../../engine/Settings.ts"
import { instruments } from "../../instruments/instrument/Instrument.ts"
import * as Duration from "../../kernel/Duration.ts"
import { Records } from "../../records/Records.ts"

/**
 * How old a screening may be: as the deployment says, and as every instrument's policy in force
 * says (docs/domain/holders.md#screening). One screening serves all instruments, so the shortest
 * rules.
 */
export const ages = Effect.gen(function* () {
  const records = yield* Records
  const { rescreenAfter } = yield* Settings
  const policies = yield* records.stream(instruments, { where: { listed: ["yes"] } }).pipe(
    Stream.map(({ record }) => record.manifest?.rescreenAfter ?? null),
    Stream.runFold(
      () => new Map<string, Duration.Duration>(),
      (known, age) => (age === null ? known : known.set(Duration.format(age), age))
    )
  )
  return rescreenAfter === null ? [...policies.values()] : [rescreenAfter, ...policies.values()]
})
