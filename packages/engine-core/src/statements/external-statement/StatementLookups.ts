/** Look-ups of statements in force, by source, instrument and business date. */
import { Effect, Option, Stream } from "effect"
import type * as Date from "../../kernel/Date.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { Records, type Stored } from "../../records/Records.ts"
import {
  dateKeyOf,
  type ExternalStatement,
  externalStatements,
  statementsOfDates
} from "./ExternalStatement.ts"

/** A source's statements of an instrument. */
export interface Feed {
  readonly externalSourceId: string
  readonly instrumentId: string
}

const feedKeyOf = ({ externalSourceId, instrumentId }: Feed): string =>
  `${externalSourceId}/${instrumentId}`

/** Finds the statement in force of a business date; none: it has not come. */
export const inForceOf = Effect.fnUntraced(function* (
  of: Feed & { readonly businessDate: Date.Date },
  pin?: Pin.Resolved
) {
  const records = yield* Records
  const slot = yield* records.find(statementsOfDates, dateKeyOf(of), pin)
  if (Option.isNone(slot)) return Option.none<Stored<ExternalStatement>>()
  return yield* records.find(externalStatements, slot.value.externalStatementId, pin)
})

/** Finds the statement in force of the newest business date; none: no statement has come. */
export const latestOf = Effect.fnUntraced(function* (of: Feed, pin?: Pin.Resolved) {
  const records = yield* Records
  const [newest] = yield* records.list(externalStatements, {
    where: { inForce: [feedKeyOf(of)] },
    direction: "desc",
    limit: 1,
    ...(pin === undefined ? {} : { pin })
  })
  return Option.fromUndefinedOr(newest?.record)
})

/** Streams the statements in force of a source and an instrument, oldest business date first. */
export const inForce = (of: Feed, pin?: Pin.Resolved) =>
  Stream.unwrap(
    Effect.map(Records, (records) =>
      records
        .stream(externalStatements, {
          where: { inForce: [feedKeyOf(of)] },
          ...(pin === undefined ? {} : { pin })
        })
        .pipe(Stream.map(({ record }) => record))
    )
  )
