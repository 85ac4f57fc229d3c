/**
 * Form of holdings and custody statements, ISO 20022 semt.002 and semt.003: positions of accounts and
 * of their sub-accounts (docs/domain/statements.md#semt).
 */
import { Zone } from "@bursar/engine-core/kernel"
import { StatementSource } from "@bursar/engine-core/ports"
import { refused } from "./Faults.ts"
import * as Values from "./Values.ts"
import { type Element, element, type Form, record, type Shape, text } from "./XmlWalk.ts"

const unitNames = ["Unit", "FaceAmt", "AmtsdVal", "DgtlTknUnit"] as const
const units = { Unit: text, FaceAmt: text, AmtsdVal: text, DgtlTknUnit: text }

/** Quantities lie one to three elements `Qty` deep, by the balance and the version. */
const quantity = element({
  Qty: element({ ...units, Qty: element({ ...units, Qty: element(units) }) })
})
const aggregate = element({ ShrtLngInd: text, Qty: quantity.within.get("Qty") as Shape })

const coded = element({ Cd: text })

const placeNames = {
  Id: element({ SfkpgPlcTp: text, Id: text }),
  Ctry: text,
  TpAndId: element({ SfkpgPlcTp: text, Id: text }),
  Prtry: element({ Id: text, Tp: element({ Id: text, Issr: text }) })
}
/** The names of a place lie in an element of their own in newer versions. */
const place = element({ ...placeNames, SfkpgPlcFrmt: element(placeNames), LEI: text })

const position = record({
  FinInstrmId: element({ ISIN: text, OthrId: element({ Id: text }), Desc: text }),
  AggtBal: aggregate,
  NotAvlblBal: quantity,
  SfkpgPlc: place
})

const account = { SfkpgAcct: element({ Id: text }), BlckChainAdrOrWllt: element({ Id: text }) }

const report = element({
  Pgntn: record({ PgNb: text, LastPgInd: text }),
  StmtGnlDtls: record({
    StmtId: text,
    StmtDtTm: element({ Dt: text, DtTm: text }),
    UpdTp: coded,
    StmtBsis: coded,
    ActvtyInd: text
  }),
  SfkpgAcct: record({ Id: text }),
  BlckChainAdrOrWllt: record({ Id: text }),
  BalForAcct: position,
  SubAcctDtls: record({ ...account, ActvtyInd: text, BalForSubAcct: position })
})

// Positions

/** Units of an asset in one account, over the places where they are kept. */
interface Position {
  quantity: bigint
  locked: bigint | null
  readonly places: Set<string>
  readonly element: Element
}

/** An account of the file, with its positions by asset in file order. */
interface Account {
  /** Number of the account; null: not read yet, or not given. */
  readonly number: () => string | null
  readonly positions: Map<string, Position>
  /** Number of its positions in any asset. */
  count: number
  /** Number of its positions that are summed. */
  keptCount: number
}

const unitsWithin = (self: Element): Element => {
  const inner = Values.optional(self, "Qty")
  return inner === null ? Values.oneOf(self, unitNames) : unitsWithin(inner)
}

/** Asset of a position: its ISIN, else the first other identifier. */
const assetOf = (self: Element): string => {
  const id = Values.only(self, "FinInstrmId")
  const isin = Values.textAt(id, "ISIN")
  if (isin !== null) return isin
  const [other] = Values.all(id, "OthrId")
  return Values.requiredText(other ?? id, "Id")
}

/** Texts that identify a safekeeping place; empty where the file has none. */
const placeOf = (self: Element): string => {
  const texts = (within: Element): ReadonlyArray<string> =>
    within.children.length === 0
      ? [`${within.name} ${Values.trimmed(within)}`]
      : within.children.flatMap(texts)
  return Values.all(self, "SfkpgPlc").flatMap(texts).join("\n")
}

/** Adds a position to its account; refuses an asset that is twice at one place. */
const add = ({ positions }: Account, self: Element): void => {
  const asset = assetOf(self)
  const balance = Values.only(self, "AggtBal")
  const isShort = Values.code(Values.only(balance, "ShrtLngInd"), ["LONG", "SHOR"]) === "SHOR"
  const held = Values.magnitude(unitsWithin(Values.only(balance, "Qty")))
  const unavailable = Values.optional(self, "NotAvlblBal")
  const locked = unavailable === null ? null : Values.magnitude(unitsWithin(unavailable))
  const assetPosition = positions.get(asset) ?? {
    quantity: 0n,
    locked: null,
    places: new Set(),
    element: self
  }
  const place = placeOf(self)
  if (assetPosition.places.has(place)) {
    throw refused("statement-assets", "An asset is twice at one safekeeping place.", self)
  }
  assetPosition.places.add(place)
  assetPosition.quantity += isShort ? -held : held
  if (locked !== null) assetPosition.locked = (assetPosition.locked ?? 0n) + locked
  positions.set(asset, assetPosition)
}

const lineOf = (
  {
    account: number,
    asset,
    kind
  }: {
    readonly account: string
    readonly asset: string
    readonly kind: "holdings" | "custody"
  },
  { element: self, quantity: heldQuantity, locked }: Position
): StatementSource.Line => {
  const total = Values.bounded(self, heldQuantity)
  return kind === "holdings"
    ? {
        kind,
        account: number,
        quantity: total,
        locked: locked === null ? null : Values.bounded(self, locked)
      }
    : { kind, asset, account: number, quantity: total }
}

// Statement

const bases = { TRAD: "trade", CONT: "contractual", SETT: "settled" } as const

const numberIn = (self: Element): string | null =>
  Values.textAt(self, "SfkpgAcct", "Id") ?? Values.textAt(self, "BlckChainAdrOrWllt", "Id")

const headerOf = (
  self: Element,
  { basis, currency, zone }: StatementSource.Reading
): StatementSource.Header => {
  const updated = Values.only(self, "UpdTp")
  if (Values.textAt(updated, "Cd") !== "COMP") {
    throw refused("statement-complete", "The statement is not complete, COMP.", updated)
  }
  const { date: businessDate, at: asOf } = Values.moment(
    Values.only(self, "StmtDtTm"),
    Zone.of(zone)
  )
  const counted = Values.optional(self, "StmtBsis", "Cd")
  return {
    businessDate,
    asOf,
    period: null,
    reference: Values.textAt(self, "StmtId"),
    currency,
    totalQuantity: null,
    totalAmount: null,
    statedLines: null,
    basis:
      counted === null
        ? (basis ?? "settled")
        : bases[Values.code(counted, ["TRAD", "CONT", "SETT"])],
    opening: null,
    closing: null,
    nav: null
  }
}

/** Instruments and kinds that a reading may be of: a kind without positions is a defect. */
const kindOf = ({ kind, isin }: StatementSource.Reading): "holdings" | "custody" => {
  if (kind !== "holdings" && kind !== "custody") {
    throw new Error(`positions are no statement of kind ${kind}`)
  }
  if (kind === "holdings" && isin === null) {
    const detail = "The instrument has no ISIN, by which its positions are found in the file."
    throw refused("statement-account", detail, { line: 1 })
  }
  return kind
}

const read: Form["read"] = (reading, emit) => {
  const { isin, linesMax } = reading
  const kind = kindOf(reading)
  let header: StatementSource.Header | null = null
  let isActive = false
  let hasPages = false
  let positions = 0
  let ownPositions = 0
  const numbers = new Map<string, string | null>()
  const main: Account = {
    number: () => numbers.get("SfkpgAcct") ?? numbers.get("BlckChainAdrOrWllt") ?? null,
    positions: new Map(),
    count: 0,
    keptCount: 0
  }
  let sub: Account | null = null
  let hasSubAccounts = false

  const keep = (to: Account, self: Element): void => {
    positions++
    to.count++
    if (kind === "holdings" && assetOf(self) !== isin) return
    ownPositions++
    if (to.number() === null) {
      throw refused("statement-account", "The position has no account before it.", self)
    }
    add(to, self)
    to.keptCount++
    if (to.keptCount > linesMax) throw new StatementSource.StatementTooLong({ linesMax })
  }

  const flush = ({ number, positions: accountPositions }: Account): void => {
    for (const [asset, position] of accountPositions) {
      emit(lineOf({ account: number() ?? "", asset, kind }, position), position.element)
    }
    accountPositions.clear()
  }

  const beganSub = (self: Element): void => {
    if (!hasSubAccounts) flush(main)
    hasSubAccounts = true
    sub = { number: () => numberIn(self), positions: new Map(), count: 0, keptCount: 0 }
  }

  const ended: Readonly<Record<string, (self: Element) => void>> = {
    Pgntn: (self) => {
      hasPages = true
      Values.wholePage(self)
    },
    StmtGnlDtls: (self) => {
      if (header !== null) throw refused("statement-field", "The header is repeated.", self)
      header = headerOf(self, reading)
      isActive = Values.flag(Values.only(self, "ActvtyInd"))
    },
    SfkpgAcct: (self) => numbers.set(self.name, Values.textAt(self, "Id")),
    BlckChainAdrOrWllt: (self) => numbers.set(self.name, Values.textAt(self, "Id")),
    BalForAcct: (self) => {
      if (hasSubAccounts) {
        const detail = "A position of the account comes after those of its sub-accounts."
        throw refused("statement-field", detail, self)
      }
      keep(main, self)
    },
    BalForSubAcct: (self) => keep(sub as Account, self),
    SubAcctDtls: (self) => {
      const account = sub as Account
      checkActivity(self, account.count)
      flush(account)
    }
  }

  return {
    began: (self) => {
      if (self.name === "SubAcctDtls") beganSub(self)
    },
    ended: (self) => ended[self.name]?.(self),
    end: () => {
      const file = { line: 1 }
      if (!hasPages) throw refused("statement-complete", "The file has no Pgntn.", file)
      if (header === null) throw refused("statement-field", "The file has no header.", file)
      if (isActive !== positions > 0) throw refused("statement-field", activity, file)
      if (isActive && ownPositions === 0) {
        const detail = "The file has positions, and none of the instrument."
        throw refused("statement-account", detail, file)
      }
      flush(main)
      return header
    }
  }
}

const activity = "ActvtyInd says that there are positions where there are none, or the other way."

const checkActivity = (self: Element, count: number): void => {
  const isActive = Values.flag(Values.only(self, "ActvtyInd"))
  if (isActive !== count > 0) throw refused("statement-field", activity, self)
}

const formOf = (is: {
  readonly message: string
  readonly root: string
  readonly from: number
}): Form => ({
  namespaces: [{ message: is.message, versions: { from: is.from, to: 12 } }],
  document: element({ [is.root]: report }),
  read
})

/** Custody report: positions of the instrument, or of every asset for a custodian's statement. */
export const semt002 = formOf({ message: "semt.002.001", root: "SctiesBalCtdyRpt", from: 5 })
/** Accounting report, with the same positions. */
export const semt003 = formOf({ message: "semt.003.001", root: "SctiesBalAcctgRpt", from: 4 })
