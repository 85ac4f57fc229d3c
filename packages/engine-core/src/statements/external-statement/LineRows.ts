/** Codec of statement lines: bulk rows, matched by account, summed by direction and currency or by asset. */
import { Result, Schema } from "effect"
import * as CompiledCodec from "../../kernel/CompiledCodec.ts"
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as PlainJson from "../../kernel/PlainJson.ts"
import type { BulkRow } from "../../ports/storage/Bulk.ts"
import * as sets from "../../vocabulary/sets.ts"
import type { CashEntry, StatementLine } from "./StatementLine.ts"

const { Literal, NullOr, optionalKey, String: Text, Struct, Union } = Schema

const Holdings = Struct({
  kind: Literal("holdings"),
  line: Integer.schema,
  account: Text,
  quantity: Decimal.plain,
  locked: NullOr(Decimal.plain)
})

const Cash = Struct({
  kind: Literal("cash"),
  line: Integer.schema,
  bookingDate: Date.schema,
  valueDate: NullOr(Date.schema),
  amount: Decimal.plain,
  currency: Text,
  direction: sets.CashDirection.schema,
  bankReference: NullOr(Text),
  reference: NullOr(Text),
  counterparty: NullOr(Union([Text, Integer.schema])),
  reversal: optionalKey(Literal(true)),
  counterparties: optionalKey(Text)
})

const Custody = Struct({
  kind: Literal("custody"),
  line: Integer.schema,
  account: Text,
  asset: Text,
  quantity: Decimal.plain
})

const Line = Union([Holdings, Cash, Custody])
const decode = CompiledCodec.decoder(Line)

/** Digits of a line's key: as many as the longest statement needs, so that keys sort by number. */
const keyDigits = 9

/** Key of the row of a line, by its number. */
export const keyOf = (line: number): string => String(line).padStart(keyDigits, "0")

/** Group of the rows of entries that are summed together; reversals are found by theirs. */
export const cashGroupOf = ({
  direction,
  currency,
  reversal
}: Pick<CashEntry, "direction" | "currency" | "reversal">): string =>
  `${direction}${reversal === true ? "-reversal" : ""}/${currency}`

/** Direction and currency of a group of entries. */
export const ofCashGroup = (group: string): Pick<CashEntry, "direction" | "currency"> => {
  const end = group.indexOf("/")
  const direction = group.startsWith("credit") ? "credit" : "debit"
  return { direction, currency: group.slice(end + 1) }
}

/** Text of the amount of an entry, as its row has it. */
export const amountOf = ({ amount }: Pick<CashEntry, "amount">): string =>
  Decimal.formatPlain(amount)

/** Text that the row of an entry is matched by: the bank's reference; empty where it has none. */
export const matchOf = ({ bankReference }: Pick<CashEntry, "bankReference">): string =>
  bankReference ?? ""

/**
 * Encodes a line as a bulk row: units of an account are matched by the account, entries by the
 * bank's reference. The first amount is the quantity, or the amount of an entry without a sign.
 */
export const rowOf = (line: StatementLine): BulkRow => {
  const key = keyOf(line.line)
  switch (line.kind) {
    case "holdings": {
      const quantity = Decimal.formatPlain(line.quantity)
      const body = bodyOf(line, [
        ["account", textOf(line.account)],
        ["quantity", quantity],
        ["locked", line.locked === null ? "null" : Decimal.formatPlain(line.locked)]
      ])
      return { key, match: line.account, group: "", amounts: [quantity], body }
    }
    case "cash": {
      const amount = amountOf(line)
      const body = bodyOf(line, [
        ["bookingDate", textOf(line.bookingDate)],
        ["valueDate", textOf(line.valueDate)],
        ["amount", amount],
        ["currency", textOf(line.currency)],
        ["direction", textOf(line.direction)],
        ["bankReference", textOf(line.bankReference)],
        ["reference", textOf(line.reference)],
        ["counterparty", PlainJson.stringify(line.counterparty)],
        ...(line.reversal === true ? [["reversal", "true"] as const] : []),
        ...(line.counterparties === undefined
          ? []
          : [["counterparties", textOf(line.counterparties)] as const])
      ])
      return { key, match: matchOf(line), group: cashGroupOf(line), amounts: [amount], body }
    }
    case "custody": {
      const quantity = Decimal.formatPlain(line.quantity)
      const body = bodyOf(line, [
        ["account", textOf(line.account)],
        ["asset", textOf(line.asset)],
        ["quantity", quantity]
      ])
      return { key, match: line.account, group: line.asset, amounts: [quantity], body }
    }
  }
}

/**
 * Prints a line as JSON that `Line` decodes, in a third of the time that its schema would take: a
 * file may have millions of lines.
 */
const bodyOf = (
  { kind, line }: Pick<StatementLine, "kind" | "line">,
  members: ReadonlyArray<readonly [name: string, json: string]>
): string => {
  let body = `{"kind":"${kind}","line":${line}`
  for (const [name, json] of members) body += `,"${name}":${json}`
  return `${body}}`
}

const textOf = (text: string | null): string => PlainJson.stringify(text)

/** Decodes a row; a row that does not decode is a defect. */
export const lineOf = (row: Pick<BulkRow, "body">): StatementLine =>
  decode(Result.getOrThrow(PlainJson.parse(row.body)))
