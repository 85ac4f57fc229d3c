/** Kit of camt.053 files with one statement of an account or several, made from the days of a bank. */

/** The number of the account; it is no IBAN. */
export const number = "0020155555550"

/** A booked entry; an amount below zero is a debit. */
export interface Booked {
  readonly amount: number
  readonly date: string
  /** The bank's reference; null: none. */
  readonly reference: string | null
}

/** A statement of the bank. */
export interface BankStatement {
  readonly date: string
  /** The bank's number of it; null: none. */
  readonly sequence: number | null
  readonly opening: number
  /** Absent: opening and entries. */
  readonly closing?: number
  readonly booked: ReadonlyArray<Booked>
}

export const closingOf = ({ booked, closing, opening }: BankStatement): number =>
  closing ?? booked.reduce((sum, { amount }) => sum + amount, opening)

const money = (amount: number) => `<Amt Ccy="USD">${Math.abs(amount)}.00</Amt>`
const side = (amount: number) => `<CdtDbtInd>${amount < 0 ? "DBIT" : "CRDT"}</CdtDbtInd>`
const dated = (tag: string, date: string) => `<${tag}><Dt>${date}</Dt></${tag}>`

const balance = (type: string, amount: number, date: string) =>
  `<Bal><Tp><CdOrPrtry><Cd>${type}</Cd></CdOrPrtry></Tp>${money(amount)}${side(amount)}${dated("Dt", date)}</Bal>`

const entryOf = ({ amount, date, reference }: Booked) =>
  `<Ntry>${money(amount)}${side(amount)}<Sts><Cd>BOOK</Cd></Sts>` +
  dated("BookgDt", date) +
  dated("ValDt", date) +
  (reference === null ? "" : `<AcctSvcrRef>${reference}</AcctSvcrRef>`) +
  "<NtryDtls><TxDtls><RltdPties><Dbtr><Nm>A. Payer</Nm></Dbtr></RltdPties></TxDtls></NtryDtls></Ntry>"

const statementOf = (self: BankStatement, account: string) =>
  `<Stmt><Id>S</Id>${self.sequence === null ? "" : `<ElctrncSeqNb>${self.sequence}</ElctrncSeqNb>`}` +
  `<Acct><Id><Othr><Id>${account}</Id></Othr></Id><Ccy>USD</Ccy></Acct>` +
  balance("OPBD", self.opening, self.date) +
  balance("CLBD", closingOf(self), self.date) +
  `${self.booked.map(entryOf).join("")}</Stmt>`

/** Text of a file with the statements, in their order; `name` makes its bytes another's. */
export const camt = (
  statements: ReadonlyArray<BankStatement>,
  { account = number, name = "M" }: { readonly account?: string; readonly name?: string } = {}
): string =>
  `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><GrpHdr><MsgId>${name}</MsgId></GrpHdr>${statements
    .map((each) => statementOf(each, account))
    .join("\n")}</BkToCstmrStmt></Document>`
