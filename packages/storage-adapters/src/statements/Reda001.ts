/**
 * Form of net asset values, ISO 20022 reda.001: the price report of a fund's administrator
 * (docs/domain/statements.md#reda001).
 */
import { Decimal, Instant, Zone } from "@bursar/engine-core/kernel"
import type { StatementSource } from "@bursar/engine-core/ports"
import { refused } from "./Faults.ts"
import * as Values from "./Values.ts"
import { type Element, element, type Form, record, text, textOr } from "./XmlWalk.ts"

const moment = element({ Dt: text, DtTm: text })
const code = textOr({ Cd: text, Strd: text })

const price = element({
  Tp: code,
  ValInInvstmtCcy: element({ Amt: text }),
  EstmtdPricInd: text
})

const document = element({
  PricRpt: record({
    MsgPgntn: element({ PgNb: text, LastPgInd: text }),
    PricRptId: text,
    Fctn: code,
    PricValtnDtls: record({
      ValtnDtTm: moment,
      NAVDtTm: moment,
      FinInstrmDtls: element({ Id: element({ ISIN: text }) }),
      TtlNAV: text,
      TtlUnitsNb: element({ Unit: text }),
      OffclValtnInd: text,
      SspdInd: text,
      PricDtls: price
    })
  })
})

/** Code of an element, which a version has as its text and another as an element in it. */
const codeOf = (self: Element): string =>
  Values.textAt(self, "Cd") ?? Values.textAt(self, "Strd") ?? Values.trimmed(self)

/** The one element that is there; null where there is none; refuses two. */
const single = (found: ReadonlyArray<Element>, subject: string): Element | null => {
  const [first, second] = found
  if (second !== undefined) {
    throw refused("statement-nav", `The statement has ${subject} twice.`, second)
  }
  return first ?? null
}

interface Price {
  readonly amount: Element
  readonly type: "NAVL" | "ENAV"
  readonly isEstimated: boolean
}

/** Net asset values in the currency; prices of other types and currencies are passed over. */
const pricesIn = (self: Element, currency: string): ReadonlyArray<Price> =>
  Values.all(self, "PricDtls").flatMap((details) => {
    const typed = Values.optional(details, "Tp")
    const type = typed === null ? "" : codeOf(typed)
    if (type !== "NAVL" && type !== "ENAV") return []
    const isEstimated = Values.flag(Values.only(details, "EstmtdPricInd"))
    const amounts = Values.all(details, "ValInInvstmtCcy").map((value) => Values.only(value, "Amt"))
    const amount = single(
      amounts.filter((value) => Values.currencyOf(value) === currency),
      "a price in one currency"
    )
    return amount === null ? [] : [{ amount, type, isEstimated }]
  })

const isinOf = (self: Element): string | null => {
  const isins = Values.all(Values.only(self, "FinInstrmDtls"), "Id").flatMap((id) => {
    const isin = Values.textAt(id, "ISIN")
    return isin === null ? [] : [isin]
  })
  if (new Set(isins).size > 1) {
    throw refused("statement-account", "A valuation has two ISINs.", self)
  }
  return isins[0] ?? null
}

const valuation = (
  self: Element,
  { currency, validFor, zone: name }: StatementSource.Reading
): Omit<StatementSource.Header, "reference"> => {
  if (validFor === null) throw new Error("a source of net asset values says how long they live")
  const zone = Zone.of(name)
  const day = Values.moment(Values.only(self, "NAVDtTm"), zone)
  const valued = Values.optional(self, "ValtnDtTm")
  const asOf = valued === null ? day.at : Values.moment(valued, zone).at
  const isOfficial = Values.flag(Values.only(self, "OffclValtnInd"))
  const isSuspended = Values.flag(Values.only(self, "SspdInd"))
  const prices = pricesIn(self, currency)
  const official = single(
    prices
      .filter(({ type, isEstimated }) => isOfficial && type === "NAVL" && !isEstimated)
      .map(({ amount }) => amount),
    "an official net asset value"
  )
  if (official === null && !isSuspended) {
    const detail = `The statement has no official net asset value in ${currency}.`
    throw refused("statement-nav", detail, self)
  }
  const indicative = single(
    prices
      .filter(({ type, isEstimated }) => type === "ENAV" || isEstimated)
      .map(({ amount }) => amount),
    "an indicative net asset value"
  )
  const total = single(
    Values.all(self, "TtlNAV").filter((amount) => Values.currencyOf(amount) === currency),
    "TtlNAV in one currency"
  )
  const units = Values.optional(self, "TtlUnitsNb", "Unit")
  return {
    businessDate: day.date,
    asOf,
    period: null,
    currency,
    totalQuantity: units === null ? null : Values.magnitude(units),
    totalAmount: total === null ? null : Values.decimal(total),
    statedLines: null,
    basis: null,
    opening: null,
    closing: null,
    nav: {
      official: official === null ? Decimal.zero : Values.magnitude(official),
      indicative: indicative === null ? null : Values.magnitude(indicative),
      indicativeAsOf: indicative === null ? null : asOf,
      expiresAt: Instant.add(asOf, validFor),
      ripcord: isSuspended
    }
  }
}

/** Refuses a report of a part, and one that replaces another where the sender names none. */
const checkFunction = (self: Element, corrects: boolean): void => {
  const functionElement = Values.only(self, "Fctn")
  const name = codeOf(functionElement)
  if (name === "NEWP" || (name === "REPL" && corrects)) return
  const detail =
    name === "REPL"
      ? "The report replaces another; name the statement that it corrects."
      : "The report is neither new, NEWP, nor a replacement, REPL."
  throw refused("statement-function", detail, functionElement)
}

const read: Form["read"] = (reading) => {
  const { isin, corrects } = reading
  let own: Omit<StatementSource.Header, "reference"> | null = null
  let header: StatementSource.Header | null = null

  const readValuation = (self: Element): void => {
    if (isin === null || isinOf(self) !== isin) return
    if (own !== null) {
      const detail = "The file has two valuations of the instrument."
      throw refused("statement-account", detail, self)
    }
    own = valuation(self, reading)
  }

  const readReport = (self: Element): void => {
    Values.wholePageIn(self, "MsgPgntn")
    checkFunction(self, corrects)
    if (own === null) {
      const detail =
        isin === null
          ? "The instrument has no ISIN, by which its valuation is found in the file."
          : "The file has no valuation of the instrument."
      throw refused("statement-account", detail, self)
    }
    if (header !== null) throw refused("statement-field", "PricRpt is repeated.", self)
    header = {
      ...(own as Omit<StatementSource.Header, "reference">),
      reference: Values.textAt(self, "PricRptId")
    }
  }

  return {
    began: () => undefined,
    ended: (self) => (self.name === "PricRpt" ? readReport(self) : readValuation(self)),
    end: () => {
      if (header !== null) return header
      throw refused("statement-account", "The file has no price report.", { line: 1 })
    }
  }
}

/** Net asset value of the instrument's share class; those of other classes are passed over. */
export const form: Form = {
  namespaces: [{ message: "reda.001.001", versions: { from: 3, to: 5 } }],
  document,
  read
}
