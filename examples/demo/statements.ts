/**
 * Statements of the bank, the administrator and the custodian, handed in over HTTP as a feed does it:
 * each file is made here, and the API answers a receipt.
 */
import { Decimal } from "@bursar/engine-core/kernel"
import * as files from "../statements.ts"
import { people } from "#demo/People.ts"
import { agreed, type Walk } from "./steps.ts"

export interface Stated {
  /** Entries that the bank has booked, by the day. */
  readonly booked: Map<string, ReadonlyArray<files.Entry>>
  /** Statement in force of a feed and a date. */
  readonly inForce: Map<string, string>
}

export const nothingStated = (): Stated => ({ booked: new Map(), inForce: new Map() })

/** Maps the account: from then on lines of the bank's statements may pay orders. */
export const mapped = async (walk: Walk): Promise<void> => {
  await agreed(walk, "external-account.map", files.account(walk.instrument.instrumentId))
  walk.tell("the fund's account at its bank is mapped: lines of its statements may pay orders")
}

/** Hands a file in, as a correction where its feed has stated the same date before. */
export const handedIn = async (
  { desks, instrument, stated }: Walk,
  { feed, date, mediaType, text }: files.File
): Promise<string> => {
  const key = `${feed} ${date}`
  const corrects = stated.inForce.get(key)
  const source = files.sourceId(feed, instrument.instrumentId)
  const { externalStatementId: statementId } = await desks.feed.receive(
    source,
    { mediaType, bytes: text },
    corrects === undefined ? {} : { corrects }
  )
  stated.inForce.set(key, statementId)
  return statementId
}

const signed = ({ amount, direction }: files.Entry): Decimal.Decimal =>
  direction === "credit" ? Decimal.of(amount) : Decimal.negate(Decimal.of(amount))

/** States the bank's day with more entries, and returns the line of the last of them. */
export const booked = async (
  walk: Walk,
  statement: { readonly date?: string; readonly entries: ReadonlyArray<files.Entry> }
): Promise<{ readonly statementId: string; readonly line: number }> => {
  const { stated, tell } = walk
  const at = statement.date === undefined ? new Date().toISOString() : `${statement.date}T22:00:00Z`
  const date = at.slice(0, 10)
  const earlier = stated.booked.get(date) ?? []
  const entries = [...earlier, ...statement.entries]
  stated.booked.set(date, entries)
  const before = [...stated.booked].filter(([other]) => other < date)
  const opening = Decimal.sum(before.flatMap(([, day]) => day.map(signed)))
  const statementId = await handedIn(walk, files.bank({ at, entries, opening }))
  const again = earlier.length === 0 ? "" : ", again with what came since"
  tell(`${people.feed.name} hands in the bank's camt.053 of ${date}${again}`)
  return { statementId, line: entries.length }
}
