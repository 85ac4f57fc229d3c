/** Files of the town's bank: a camt.053 with one statement or several, the JSON form, and a table. */
import type { Date } from "@bursar/engine-core/kernel"
import { plain } from "./figures.ts"
import type { Line } from "./bank-books.ts"

/** A statement as a file has it. */
export interface Content {
  readonly date: Date.Date
  /** Moment of its figures. */
  readonly asOf: string
  readonly sequence: number
  readonly opening: bigint
  readonly closing: bigint
  readonly lines: ReadonlyArray<Line>
}

const money = (cents: bigint): string => plain(cents < 0n ? -cents : cents, 2)
const signedText = (cents: bigint): string => `${cents < 0n ? "-" : ""}${money(cents)}`
/** An amount, which may be 0, and its direction. */
const amount = (cents: bigint, direction: "credit" | "debit"): string =>
  `<Amt Ccy="USD">${money(cents)}</Amt><CdtDbtInd>${direction === "debit" ? "DBIT" : "CRDT"}</CdtDbtInd>`

const balance = (code: string, cents: bigint, moment: string): string =>
  `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp>${amount(cents, cents < 0n ? "debit" : "credit")}<Dt>${moment}</Dt></Bal>`

const entryText = ({ cents, entry }: Line): string => {
  const { date, direction, payer, reference, takesBack } = entry
  const refs = payer === null ? "" : `<Refs><EndToEndId>${payer}</EndToEndId></Refs>`
  return [
    `<Ntry>${amount(cents, direction)}`,
    takesBack === null ? "" : "<RvslInd>true</RvslInd>",
    `<Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>${date}</Dt></BookgDt><ValDt><Dt>${date}</Dt></ValDt>`,
    reference === null ? "" : `<AcctSvcrRef>${reference}</AcctSvcrRef>`,
    refs === "" ? "" : `<NtryDtls><TxDtls>${refs}</TxDtls></NtryDtls>`,
    "</Ntry>"
  ].join("")
}

/** A camt.053; `name` makes its bytes another's. */
export const camt = (
  contents: ReadonlyArray<Content>,
  given: { readonly account: string; readonly name: string }
): string => {
  const statements = contents.map((content) =>
    [
      `<Stmt><Id>S${content.sequence}</Id><ElctrncSeqNb>${content.sequence}</ElctrncSeqNb>`,
      `<Acct><Id><Othr><Id>${given.account}</Id></Othr></Id><Ccy>USD</Ccy></Acct>`,
      balance("OPBD", content.opening, `<Dt>${content.date}</Dt>`),
      balance("CLBD", content.closing, `<DtTm>${content.asOf}</DtTm>`),
      ...content.lines.map(entryText),
      "</Stmt>"
    ].join("")
  )
  const namespace = "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"
  return `<Document xmlns="${namespace}"><BkToCstmrStmt><GrpHdr><MsgId>${given.name}</MsgId></GrpHdr>${statements.join("")}</BkToCstmrStmt></Document>`
}

/** The JSON form; `name` makes its bytes another's. */
export const json = (
  { asOf, closing, date, lines, opening }: Content,
  given: { readonly name: string }
): string =>
  JSON.stringify({
    ...{ kind: "cash", businessDate: date, asOf, reference: given.name },
    ...{ opening: signedText(opening), closing: signedText(closing) },
    lines: lines.map(({ cents, entry }) => ({
      ...{ bookingDate: entry.date, valueDate: entry.date, amount: money(cents) },
      direction: entry.direction,
      ...(entry.reference === null ? {} : { bankReference: entry.reference }),
      ...(entry.payer === null ? {} : { reference: entry.payer }),
      ...(entry.takesBack === null ? {} : { reversal: true })
    }))
  })

/** Columns of the table, as its source is configured with them. */
export const columns = {
  ...{ bookingDate: "Booked", valueDate: "Valued", amount: "Amount", direction: "Side" },
  ...{ bankReference: "Reference", reference: "Payer", reversal: "Back" }
} as const

export const table = (lines: ReadonlyArray<Line>): string =>
  [
    Object.values(columns).join(","),
    ...lines.map(({ cents, entry: { date, direction, payer, reference, takesBack } }) =>
      [
        ...[date, date, money(cents), direction, reference ?? "", payer ?? ""],
        takesBack === null ? "" : "true"
      ].join(",")
    )
  ].join("\n")
