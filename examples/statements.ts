/**
 * Statements of outside parties in the examples and the demo: the sources that a deployment
 * configures, and generators of small files of each.
 */
import type { Venue } from "@bursar/engine-core"
import { Decimal, Instant, Zone } from "@bursar/engine-core/kernel"
import { accountId, type Feed } from "#demo/StatementSources.ts"

export { accountId, type Feed, sourceId, sources } from "#demo/StatementSources.ts"

/** Number of the cash account of an instrument at the bank. */
const accountNumber = "DE89370400440532013000"

/** Body of the write that maps the cash account, without which no line of it pays an order. */
export const account = (instrumentId: string) =>
  ({
    externalAccountId: accountId(instrumentId),
    kind: "cash",
    currency: "USD",
    instrumentId,
    number: accountNumber
  }) as const satisfies Venue.WriteBody<"external-account.map">

export interface File {
  readonly feed: Feed
  /** Business date of the statement. */
  readonly date: string
  readonly mediaType: "application/xml" | "application/json"
  readonly text: string
}

/** An entry of the bank's statement: a credit came in, a debit went out. */
export interface Entry {
  readonly amount: string
  readonly direction: "credit" | "debit"
  /** Reference of the bank, by which an entry is known again in a correction. */
  readonly bankReference: string
  /** Reference that the payer gave. */
  readonly reference: string
}

/** An order's cash as the bank books it: a payment that came in, or one that went out. */
export const paidIn = (entry: Pick<Entry, "amount" | "reference">): Entry => ({
  ...entry,
  direction: "credit",
  bankReference: `B-${entry.reference}`
})
export const paidOut = (entry: Pick<Entry, "amount" | "reference">): Entry => ({
  ...paidIn(entry),
  direction: "debit"
})

const signed = ({ amount, direction }: Pick<Entry, "amount" | "direction">) =>
  direction === "credit" ? Decimal.of(amount) : Decimal.negate(Decimal.of(amount))

const side = (isCredit: boolean) => `<CdtDbtInd>${isCredit ? "CRDT" : "DBIT"}</CdtDbtInd>`

const balance = (type: "OPBD" | "CLBD", figure: { amount: Decimal.Decimal; at: string }) =>
  `<Bal><Tp><CdOrPrtry><Cd>${type}</Cd></CdOrPrtry></Tp>` +
  `<Amt Ccy="USD">${Decimal.formatPlaces(Decimal.abs(figure.amount), 2)}</Amt>` +
  `${side(!Decimal.isNegative(figure.amount))}<Dt><DtTm>${figure.at}</DtTm></Dt></Bal>`

const entry = ({ amount, direction, bankReference, reference }: Entry, date: string) =>
  `<Ntry><Amt Ccy="USD">${amount}</Amt>${side(direction === "credit")}<Sts><Cd>BOOK</Cd></Sts>` +
  `<BookgDt><Dt>${date}</Dt></BookgDt><AcctSvcrRef>${bankReference}</AcctSvcrRef>` +
  `<BkTxCd><Prtry><Cd>NTRF</Cd></Prtry></BkTxCd>` +
  `<NtryDtls><TxDtls><Refs><EndToEndId>${reference}</EndToEndId></Refs></TxDtls></NtryDtls></Ntry>`

/**
 * Bank statement in camt.053: the booked entries of a day until an instant, with both balances.
 * The lines of the statement number from 1 in the order of the entries.
 */
export const bank = (statement: {
  readonly at: string
  readonly entries: ReadonlyArray<Entry>
  /** Balance before the entries; 0 where absent. */
  readonly opening?: Decimal.Decimal
}): File => {
  const { at, entries, opening = Decimal.zero } = statement
  const date = at.slice(0, 10)
  const closing = Decimal.sum([opening, ...entries.map(signed)])
  const text = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt>',
    `<GrpHdr><MsgId>M-${date}</MsgId><CreDtTm>${at}</CreDtTm></GrpHdr>`,
    `<Stmt><Id>S-${date}</Id><CreDtTm>${at}</CreDtTm>`,
    `<Acct><Id><IBAN>${accountNumber}</IBAN></Id><Ccy>USD</Ccy></Acct>`,
    balance("OPBD", { amount: opening, at }),
    balance("CLBD", { amount: closing, at }),
    ...entries.map((each) => entry(each, date)),
    "</Stmt></BkToCstmrStmt></Document>"
  ].join("\n")
  return { feed: "bank", date, mediaType: "application/xml", text }
}

const json = (
  feed: Feed,
  statement: { readonly businessDate: string } & Readonly<Record<string, unknown>>
): File => ({
  feed,
  date: statement.businessDate,
  mediaType: "application/json",
  text: JSON.stringify(statement)
})

/** The administrator's register at an instant: the units of each holder. */
export const register = (position: {
  readonly at: string
  readonly units: Readonly<Record<string, string>>
}): File => {
  const lines = Object.entries(position.units).map(([account, quantity]) => ({ account, quantity }))
  const totalQuantity = Decimal.formatPlain(
    Decimal.sum(lines.map(({ quantity }) => Decimal.of(quantity)))
  )
  const stated = { kind: "holdings", totalQuantity, lineCount: lines.length, lines }
  return json("register", { businessDate: position.at.slice(0, 10), asOf: position.at, ...stated })
}

/** The administrator's net asset value of a unit at an instant, of its day in New York. */
export const nav = (price: { readonly at: string; readonly official: string }): File => {
  const businessDate = Zone.dateAt(Zone.of("America/New_York"), Instant.of(price.at))
  const nav = { official: price.official, ripcord: false }
  return json("nav", { businessDate, asOf: price.at, kind: "nav", nav })
}

/** The custodian's positions at an instant. */
export const custodian = (statement: {
  readonly at: string
  readonly assets: Readonly<Record<string, string>>
}): File => {
  const lines = Object.entries(statement.assets).map(([asset, quantity]) => ({
    asset,
    account: "SAFE-0001",
    quantity
  }))
  const stated = { kind: "custody", lineCount: lines.length, lines }
  return json("custodian", {
    businessDate: statement.at.slice(0, 10),
    asOf: statement.at,
    ...stated
  })
}
