/** Consequence of a taking of a bank line for the index of lines that have something left. */
import { Effect, Stream } from "effect"
import type { Act } from "../../records/Act.ts"
import * as Consequence from "../../records/Consequence.ts"
import { Records, type Stored } from "../../records/Records.ts"
import {
  externalStatements,
  isInForce
} from "../../statements/external-statement/ExternalStatement.ts"
import * as Part from "./CashLinePart.ts"
import { cashLines, type TakenLine } from "./CashTaking.ts"
import { nameOf } from "./CashLine.ts"

const markOf = (self: TakenLine): Part.Mark => ({ line: self.line, match: Part.matchOf(self) })

/** Loads the amounts that were taken of statements before their parts were kept, by part. */
const marksBefore = Effect.fnUntraced(function* (statementIds: ReadonlyArray<string>) {
  if (statementIds.length === 0) return new Map<string, ReadonlyArray<Part.Mark>>()
  const records = yield* Records
  const taken = yield* records.stream(cashLines, { where: { takenOf: statementIds } }).pipe(
    Stream.map(({ record }) => record),
    Stream.runCollect
  )
  const byPart = Map.groupBy(taken, (line) => Part.idOf({ ...line, part: Part.partOf(line) }))
  return new Map([...byPart].map(([id, lines]) => [id, lines.map(markOf)]))
})

/** Marks lines of statements in force in their parts; the first taking of a part opens it. */
const mark = Effect.fnUntraced(function* (takenLines: ReadonlyArray<TakenLine>, act: Act) {
  const records = yield* Records
  const statementIds = [...new Set(takenLines.map(({ statementId }) => statementId as string))]
  const statements = yield* records.many(externalStatements, statementIds)
  const inForce = new Set<string>(
    statements.filter(isInForce).map(({ externalStatementId }) => externalStatementId)
  )
  const byPart = Map.groupBy(
    takenLines.filter(({ statementId }) => inForce.has(statementId)),
    (line) => Part.idOf({ ...line, part: Part.partOf(line) })
  )
  const parts = new Map<string, Stored<Part.CashLinePart>>(
    (yield* records.many(Part.cashLineParts, [...byPart.keys()])).map((part) => [
      Part.idOf(part),
      part
    ])
  )
  const fresh = [...byPart].flatMap(([id, [line]]) =>
    parts.has(id) || line === undefined ? [] : [line.statementId]
  )
  const before = yield* marksBefore([...new Set<string>(fresh)])
  for (const [id, lines] of byPart) {
    const [line] = lines
    if (line === undefined) continue
    const part = parts.get(id)
    const marks = lines.map(markOf)
    if (part !== undefined) {
      yield* records.append(Part.cashLineParts, part, { on: "mark", marks }, act)
      continue
    }
    const empty = Part.untaken({ statementId: line.statementId, part: Part.partOf(line) })
    const opened = Part.marked(empty, [...(before.get(id) ?? []), ...marks])
    yield* Effect.orDie(records.open(Part.cashLineParts, opened, act))
  }
})

export const consequence = Consequence.define({
  doc: "A line of a bank statement that orders take of, or give back to, is marked in the index of lines with something left.",
  collection: cashLines,
  concerns: ({ before, after }) =>
    (before === undefined ? "unmatched" : Part.matchOf(before)) === Part.matchOf(after)
      ? null
      : { key: nameOf(after), subject: after },
  follow: mark
})
