/** Facts that the checks of statements share: which statement speaks, of which source and moment. */
import type { Moment } from "../../findings/Finding.ts"

/** A statement in force that is compared with what the engine held at the statement's own moment. */
export interface OfStatement {
  readonly instrumentId: string
  readonly externalSourceId: string
  readonly statementId: string
  readonly businessDate: string
  /** Place among the statements of the date that follow one another, from 1. */
  readonly placeInDay: number
  readonly comparedAt: Moment
}

/** Id of the source of a statement with its business date, and from the second of a day on its place. */
export const sourceDateOf = ({
  businessDate,
  externalSourceId,
  placeInDay
}: Pick<OfStatement, "businessDate" | "externalSourceId" | "placeInDay">): string =>
  `${externalSourceId}:${businessDate}${placeInDay === 1 ? "" : `:${placeInDay}`}`

/** Members of a difference whose subject is the source of the statement, with its business date. */
export const aboutSource = (statement: OfStatement) =>
  ({
    instrumentId: statement.instrumentId,
    subject: { resourceKind: "external-source", id: sourceDateOf(statement) },
    holderId: null,
    comparedAt: statement.comparedAt,
    statementId: statement.statementId
  }) as const
