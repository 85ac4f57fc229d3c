/**
 * Form of bank statements, ISO 20022 camt.053: the booked entries of one account, and its balances, in
 * one statement or several (docs/domain/statements.md#camt053).
 */
import { Decimal, Zone } from "@bursar/engine-core/kernel"
import { StatementSource } from "@bursar/engine-core/ports"
import * as AccountNumber from "./AccountNumber.ts"
import { refused } from "./Faults.ts"
import * as Values from "./Values.ts"
import { type Element, element, type Form, record, text, textOr } from "./XmlWalk.ts"

const page = element({ PgNb: text, LastPgInd: text })
const moment = element({ Dt: text, DtTm: text })
const account = { Id: element({ IBAN: text, Othr: element({ Id: text }) }) }
const party = element({ Nm: text, Pty: element({ Nm: text }) })

const details = record({
  Refs: element({ AcctSvcrRef: text, EndToEndId: text }),
  Amt: text,
  CdtDbtInd: text,
  AmtDtls: element({ TxAmt: element({ Amt: text }) }),
  RltdPties: element({
    Dbtr: party,
    DbtrAcct: element(account),
    Cdtr: party,
    CdtrAcct: element(account)
  }),
  RmtInf: element({
    Ustrd: text,
    Strd: element({ CdtrRefInf: element({ Ref: text }) })
  })
})

const entry = record({
  NtryRef: text,
  Amt: text,
  CdtDbtInd: text,
  RvslInd: text,
  Sts: textOr({ Cd: text }),
  BookgDt: moment,
  ValDt: moment,
  AcctSvcrRef: text,
  NtryDtls: record({ TxDtls: details })
})

const balance = record({
  Tp: element({ CdOrPrtry: element({ Cd: text }) }),
  Amt: text,
  CdtDbtInd: text,
  Dt: moment
})

const document = element({
  BkToCstmrStmt: element({
    GrpHdr: record({ MsgPgntn: page }),
    Stmt: record({
      Id: text,
      StmtPgntn: page,
      ElctrncSeqNb: text,
      LglSeqNb: text,
      FrToDt: element({ FrDtTm: text, ToDtTm: text }),
      Acct: record({ ...account, Ccy: text }),
      Bal: balance,
      Ntry: entry
    })
  })
})

// Values

const direction = (self: Element): StatementSource.CashEntry["direction"] =>
  Values.code(Values.only(self, "CdtDbtInd"), ["CRDT", "DBIT"]) === "CRDT" ? "credit" : "debit"

const signed = (amount: bigint, direction: StatementSource.CashEntry["direction"]): bigint =>
  direction === "credit" ? amount : -amount

/** Reference at a path; banks write NOTPROVIDED and NONREF where there is none. */
const referenceAt = (self: Element, ...path: ReadonlyArray<string>): string | null => {
  const found = Values.textAt(self, ...path)
  return found === "NOTPROVIDED" || found === "NONREF" ? null : found
}

const numberOf = (self: Element): string | null =>
  Values.textAt(self, "Id", "IBAN") ?? Values.textAt(self, "Id", "Othr", "Id")

const isNumber = (self: Element, number: string): boolean => {
  const chosen = Values.oneOf(Values.only(self, "Id"), ["IBAN", "Othr"])
  const found = numberOf(self) ?? ""
  if (AccountNumber.isSame(found, number)) return true
  if (chosen.name === "IBAN") AccountNumber.demandChecked(found, chosen)
  return false
}

/** Several texts of one transaction, as one. */
const joined = (texts: ReadonlyArray<string | null>): string | null => {
  const present = texts.filter((part) => part !== null && part !== "")
  return present.length === 0 ? null : present.join(" ")
}

/** Reference that the payer gave: of the payment, else structured, else as text. */
const remittance = (self: Element): string | null => {
  const endToEnd = referenceAt(self, "Refs", "EndToEndId")
  const parts = Values.optional(self, "RmtInf")
  if (endToEnd !== null || parts === null) return endToEnd
  return (
    joined(Values.all(parts, "Strd").map((part) => Values.textAt(part, "CdtrRefInf", "Ref"))) ??
    joined(Values.all(parts, "Ustrd").map(Values.trimmed))
  )
}

/** The other side of a transaction: who paid a credit, and who was paid by a debit. */
const counterpartyOf = (
  self: Element,
  direction: StatementSource.CashEntry["direction"]
): StatementSource.CashEntry["counterparty"] => {
  const role = direction === "credit" ? "Dbtr" : "Cdtr"
  const parties = Values.optional(self, "RltdPties")
  if (parties === null) return null
  const name = Values.textAt(parties, role, "Nm") ?? Values.textAt(parties, role, "Pty", "Nm")
  const holder = Values.optional(parties, `${role}Acct`)
  const number = holder === null ? null : numberOf(holder)
  return name === null && number === null ? null : { name, account: number }
}

// Entries

/** A transaction of an entry, as it is kept until the entry ends. */
interface Transaction {
  readonly amounts: ReadonlyArray<Values.Money>
  /** Null: that of the entry. */
  readonly direction: StatementSource.CashEntry["direction"] | null
  readonly bankReference: string | null
  readonly reference: string | null
  readonly debtor: StatementSource.CashEntry["counterparty"]
  readonly creditor: StatementSource.CashEntry["counterparty"]
}

const transaction = (self: Element): Transaction => ({
  amounts: [Values.optional(self, "Amt"), Values.optional(self, "AmtDtls", "TxAmt", "Amt")]
    .filter((amount) => amount !== null)
    .map(Values.money),
  direction: Values.optional(self, "CdtDbtInd") === null ? null : direction(self),
  bankReference: referenceAt(self, "Refs", "AcctSvcrRef"),
  reference: remittance(self),
  debtor: counterpartyOf(self, "credit"),
  creditor: counterpartyOf(self, "debit")
})

/**
 * The other side of a line. A reversal names the parties of what it takes back: its debit is of a
 * payment whose debtor is the other side, unless the bank has exchanged them, so that the debtor is the
 * owner of the account.
 */
const otherOf = (
  { debtor, creditor }: Pick<Transaction, "debtor" | "creditor">,
  {
    way,
    isReversal,
    own
  }: {
    readonly way: StatementSource.CashEntry["direction"]
    readonly isReversal: boolean
    readonly own: string
  }
): StatementSource.CashEntry["counterparty"] => {
  const isPaidBy = (way === "credit") !== isReversal
  const [named, other] = isPaidBy ? [debtor, creditor] : [creditor, debtor]
  if (!isReversal) return named
  return AccountNumber.isSame(named?.account ?? "", own) ? other : (named ?? null)
}

/** Checks whether an entry is booked; one that is pending, for information or of the future is not. */
const isBooked = (self: Element): boolean => {
  const status = Values.only(self, "Sts")
  const inner = Values.optional(status, "Cd")
  if (inner !== null && Values.trimmed(status) !== "") {
    throw refused("statement-field", "Sts has a text beside its code.", status)
  }
  const coded = inner ?? status
  return Values.code(coded, ["BOOK", "PDNG", "INFO", "FUTR"]) === "BOOK"
}

/**
 * Lines of a booked entry: one for each transaction if each has an amount in the entry's currency and
 * they sum up to the entry, else one for the entry.
 */
const linesOf = (
  self: Element,
  { transactions, own }: { readonly transactions: ReadonlyArray<Transaction>; readonly own: string }
): ReadonlyArray<StatementSource.CashEntry> => {
  const { amount, currency } = Values.money(Values.only(self, "Amt"))
  const ownDirection = direction(self)
  const valueDate = Values.optional(self, "ValDt")
  const mark = Values.optional(self, "RvslInd")
  const isReversal = mark !== null && Values.flag(mark)
  const whole = {
    kind: "cash" as const,
    bookingDate: dateOf(Values.only(self, "BookgDt")),
    valueDate: valueDate === null ? null : dateOf(valueDate),
    amount,
    currency,
    direction: ownDirection,
    bankReference: referenceAt(self, "AcctSvcrRef") ?? referenceAt(self, "NtryRef"),
    reference: null,
    counterparty: null,
    ...(isReversal ? { reversal: true as const } : {})
  }
  const lineOf = (part: Transaction, amount: Values.Money["amount"], way: typeof ownDirection) => ({
    ...whole,
    amount,
    direction: way,
    bankReference: part.bankReference ?? whole.bankReference,
    reference: part.reference,
    counterparty: otherOf(part, { way, isReversal, own })
  })
  const parts = transactions.map((part) => ({
    part,
    amount: part.amounts.find((money) => money.currency === currency)?.amount,
    way: part.direction ?? ownDirection
  }))
  const sum = parts.reduce((total, { amount, way }) => total + signed(amount ?? 0n, way), 0n)
  const hasAll = parts.length > 0 && parts.every(({ amount }) => amount !== undefined)
  if (hasAll && sum === signed(amount, ownDirection)) {
    return parts.map(({ part, amount, way }) => lineOf(part, amount ?? Decimal.zero, way))
  }
  const [single] = transactions
  return transactions.length === 1 && single !== undefined
    ? [lineOf(single, amount, ownDirection)]
    : [whole]
}

const dateOf = (self: Element) => Values.date(Values.oneOf(self, ["Dt", "DtTm"]))

// Statements

const balanceTypes = ["OPBD", "PRCD", "CLBD"] as const

/** A statement of the file while it is read. */
interface Statement {
  readonly element: Element
  /** Pointer of its element: its place among the file's statements, those of other accounts too. */
  readonly pointer: string
  /** Number of entries that have begun. */
  entries: number
  /** Null: the account has not been read. */
  isOwn: boolean | null
  /** Balances by type and currency. */
  readonly balances: Map<string, Element>
}

const amountOf = (self: Element): Values.Money => Values.money(Values.only(self, "Amt"))

/** Balance of a type in the currency of the account, signed; null where the file has none. */
const balanceOf = (
  { balances }: Statement,
  { type, currency }: { readonly type: string; readonly currency: string }
): Decimal.Decimal | null => {
  const found = balances.get(`${type} ${currency}`)
  if (found === undefined) return null
  const { amount } = amountOf(found)
  return direction(found) === "credit" ? amount : Decimal.negate(amount)
}

/** Keeps a balance; refuses a second of its type in the account's currency. */
const keepBalance = ({ balances }: Statement, self: Element, own: string): void => {
  const coded = Values.textAt(self, "Tp", "CdOrPrtry", "Cd")
  const type = balanceTypes.find((name) => name === coded)
  if (type === undefined) return
  const { currency } = amountOf(self)
  direction(self)
  const key = `${type} ${currency}`
  if (!balances.has(key)) balances.set(key, self)
  else if (currency === own) {
    throw refused("statement-field", `The statement has two balances ${type}.`, self)
  }
}

/** Balance whose date is the business date: the closing one, that of the account's currency first. */
const closingOf = ({ element: self, balances }: Statement, currency: string): Element => {
  const found =
    balances.get(`CLBD ${currency}`) ??
    balances
      .entries()
      .find(([key]) => key.startsWith("CLBD"))
      ?.at(1)
  if (found === undefined || typeof found === "string") {
    throw refused("statement-field", "The statement has no closing balance, CLBD.", self)
  }
  return found
}

/** The bank's number of the statement: the electronic one, else the legal one; null: it has neither. */
const sequenceOf = (self: Element): string | null => {
  const name = ["ElctrncSeqNb", "LglSeqNb"].find((each) => Values.textAt(self, each) !== null)
  if (name === undefined) return null
  const numbered = Values.only(self, name)
  const digits = /^\+?0*([0-9]{1,18})(?:\.0*)?$/u.exec(Values.trimmed(numbered))?.[1]
  if (digits === undefined) {
    throw refused("statement-field", `${name} is no whole number of at most 18 digits.`, numbered)
  }
  return digits
}

const headerOf = (
  statement: Statement,
  { currency, zone }: { readonly currency: string; readonly zone: Zone.Zone }
): StatementSource.Header => {
  const { element: self } = statement
  const closed = Values.moment(Values.only(closingOf(statement, currency), "Dt"), zone)
  const from = Values.optional(self, "FrToDt", "FrDtTm")
  const to = Values.optional(self, "FrToDt", "ToDtTm")
  const sequence = sequenceOf(self)
  return {
    businessDate: closed.date,
    asOf: closed.at,
    period:
      from === null || to === null
        ? null
        : { from: Values.instant(from, zone), to: Values.instant(to, zone) },
    reference: Values.textAt(self, "Id"),
    currency,
    totalQuantity: null,
    totalAmount: null,
    statedLines: null,
    basis: null,
    opening:
      balanceOf(statement, { type: "OPBD", currency }) ??
      balanceOf(statement, { type: "PRCD", currency }),
    closing: balanceOf(statement, { type: "CLBD", currency }),
    nav: null,
    ...(sequence === null ? {} : { sequence })
  }
}

/** Pointer of a record of a statement: its own element, or the one within it that ended. */
const pointerOf = ({ pointer, entries }: Statement, { name }: Element): string =>
  name === "Stmt"
    ? pointer
    : name === "Ntry" || name === "TxDtls"
      ? `${pointer}/Ntry/${entries - 1}`
      : `${pointer}/${name}`

/** Names the statement and the element of a refusal that names no place of its own but a line. */
const pointed = <A>(step: () => A, pointer: string): A => {
  try {
    return step()
  } catch (fault) {
    if (!(fault instanceof StatementSource.StatementRefused)) throw fault
    const { check, detail, line } = fault
    throw new StatementSource.StatementRefused({ check, detail, line, pointer })
  }
}

const read: Form["read"] = ({ account: own, zone, linesMax }, emit, endStatement) => {
  if (own === null) throw new Error("a source of cash statements has an account")
  const { currency } = own
  let statement: Statement | null = null
  let statements = 0
  let hasOwn = false
  let transactions: Array<Transaction> = []

  const within = (): Statement => {
    if (statement === null) throw new Error("a record of a statement lies within it")
    return statement
  }

  /** Checks whether a record is of the source's account; refuses one before the account. */
  const isOwn = (self: Element): boolean => {
    const { isOwn: is } = within()
    if (is === null) {
      throw refused("statement-account", "The statement names no account before it.", self)
    }
    return is
  }

  const readAccount = (self: Element): void => {
    const current = within()
    const named = Values.textAt(self, "Ccy") ?? currency
    const is = isNumber(self, own.number) && named === currency
    if (current.isOwn !== null) {
      const detail = "The statement has two accounts where the source's own is read."
      throw refused("statement-account", detail, self)
    }
    current.isOwn = is
    hasOwn ||= is
  }

  const ended: Readonly<Record<string, (self: Element) => void>> = {
    GrpHdr: (self) => Values.wholePageIn(self, "MsgPgntn"),
    Acct: readAccount,
    Bal: (self) => {
      if (isOwn(self)) keepBalance(within(), self, currency)
    },
    TxDtls: (self) => {
      if (!isOwn(self)) return
      transactions.push(transaction(self))
      if (transactions.length > linesMax) throw new StatementSource.StatementTooLong({ linesMax })
    },
    Ntry: (self) => {
      if (isOwn(self) && isBooked(self)) {
        for (const line of linesOf(self, { transactions, own: own.number })) emit(line, self)
      }
      transactions = []
    },
    Stmt: (self) => {
      if (within().isOwn !== true) return
      Values.wholePageIn(self, "StmtPgntn")
      const { pointer } = within()
      const header = headerOf(within(), { currency, zone: Zone.of(zone) })
      endStatement(header, { line: self.line, pointer })
    }
  }

  return {
    began: (self) => {
      if (self.name === "Ntry") within().entries++
      if (self.name !== "Stmt") return
      const pointer = `/Document/BkToCstmrStmt/Stmt/${statements++}`
      statement = { element: self, pointer, entries: 0, isOwn: null, balances: new Map() }
    },
    ended: (self) => {
      const end = ended[self.name]
      if (end === undefined) return
      if (statement === null || self.name === "GrpHdr") end(self)
      else pointed(() => end(self), pointerOf(statement, self))
    },
    end: () => {
      if (hasOwn) return null
      const detail = "The file has no statement of the source's account."
      throw refused("statement-account", detail, { line: 1 })
    }
  }
}

/** Booked entries of the statements of the source's account; those of others are passed over. */
export const form: Form = {
  namespaces: [{ message: "camt.053.001", versions: { from: 2, to: 14 } }],
  document,
  read
}
