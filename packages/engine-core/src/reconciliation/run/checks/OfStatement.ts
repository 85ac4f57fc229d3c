/** Facts that the checks of statements share: which statement speaks, of which source and moment. */
import type { Moment } from "../../../findings/Finding.ts"

/** A statement in force that is compared with what the engine held at the statement's own moment. */
export interface OfStatement {
  readonly instrumentId: string
  readonly externalSourceId: string
  readonly statementId: string
  readonly businessDate: string
  readonly comparedAt: Moment
}

/** Members of a difference whose subject is the source of the statement, with its business date. */
export const aboutSource = (of: OfStatement) =>
  ({
    instrumentId: of.instrumentId,
    subject: { resourceKind: "external-source", id: `${of.externalSourceId}:${of.businessDate}` },
    holderId: null,
    comparedAt: of.comparedAt,
    statementId: of.statementId
  }) as const
