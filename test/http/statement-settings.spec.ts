/** Settings of statements: sources whose members fit together, each fault with its place. */
import { settingsDefaults, statementLinesLimit } from "@bursar/engine-core"
import { HostConfig } from "@bursar/http-host"
import { Result, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { CashLine } from "#core/orders/order/CashLine.ts"
import { sources } from "#host/config/Statements.ts"

const cash = {
  externalSourceId: "bank-1",
  kind: "cash",
  instruments: ["fund-a"],
  calendar: ["monday", "tuesday"],
  dueBy: { time: "09:00", zone: "Europe/Zurich", daysAfter: 1 },
  grace: "PT2H",
  adapter: "camt.053",
  zone: "Europe/Zurich",
  account: "acct-1"
}
const { account: _, ...withoutAccount } = cash
const nav = { ...withoutAccount, kind: "nav", adapter: "reda.001", validFor: "P3D" }
const holdings = { ...withoutAccount, kind: "holdings", adapter: "semt.002" }
const csv = {
  encoding: "utf-8",
  delimiter: ";",
  decimal: ",",
  dateFormat: "dd.MM.yyyy",
  columns: { account: "Konto", quantity: "Stand" }
}

const faultsOf = (given: unknown): ReadonlyArray<string> => {
  const read = sources.read(given)
  return Result.isFailure(read) ? read.failure.map(({ pointer }) => pointer) : []
}

describe("a configured source of statements", () => {
  it("has every member that it leaves out as null, and reads reversals as they are marked", () => {
    expect(Result.getOrThrow(sources.read([cash]))).toEqual([
      {
        ...cash,
        dueBy: cash.dueBy,
        grace: expect.anything(),
        accountIs: null,
        basis: null,
        places: null,
        validFor: null,
        reversals: "as-marked",
        balances: "stated",
        assets: null,
        csv: null
      }
    ])
  })

  it("names accounts of the engine in its holdings unless it says otherwise", () => {
    const read = Result.getOrThrow(
      sources.read([holdings, { ...holdings, externalSourceId: "ta-2", accountIs: "party" }])
    )
    expect(read.map(({ accountIs }) => accountIs)).toEqual(["external-account", "party"])
  })

  it.each<readonly [string, ReadonlyArray<unknown>, ReadonlyArray<string>]>([
    ["cash without its account", [withoutAccount], ["/0/account"]],
    ["an account of what is not cash", [{ ...nav, account: "acct-1" }], ["/0/account"]],
    ["NAVs that live for ever", [{ ...nav, validFor: null }], ["/0/validFor"]],
    ["a life of what is no NAV", [{ ...cash, validFor: "P3D" }], ["/0/validFor"]],
    ["accounts of what is not holdings", [{ ...cash, accountIs: "party" }], ["/0/accountIs"]],
    ["assets of what is not custody", [{ ...cash, assets: {} }], ["/0/assets"]],
    ["a form that cannot state the kind", [{ ...holdings, adapter: "camt.053" }], ["/0/adapter"]],
    ["a table without columns", [{ ...holdings, adapter: "csv" }], ["/0/csv"]],
    ["columns of what is no table", [{ ...holdings, csv }], ["/0/csv"]],
    [
      "columns of which one is missing",
      [{ ...holdings, adapter: "csv", csv: { ...csv, columns: { account: "Konto" } } }],
      ["/0/csv"]
    ],
    [
      "dates of two readings",
      [{ ...holdings, adapter: "csv", csv: { ...csv, dateFormat: "dMyyyy" } }],
      ["/0/csv"]
    ],
    ["no instrument", [{ ...cash, instruments: [] }], ["/0/instruments"]],
    ["an instrument twice", [{ ...cash, instruments: ["a", "a"] }], ["/0/instruments"]],
    ["no day", [{ ...cash, calendar: [] }], ["/0/calendar"]],
    ["a day that there is not", [{ ...cash, calendar: ["funday"] }], ["/0/calendar/0"]],
    ["an offset for a zone", [{ ...cash, zone: "+02:00" }], ["/0/zone"]],
    [
      "an hour that there is not",
      [{ ...cash, dueBy: { ...cash.dueBy, time: "24:00" } }],
      ["/0/dueBy/time"]
    ],
    [
      "a negative number of days",
      [{ ...cash, dueBy: { ...cash.dueBy, daysAfter: -1 } }],
      ["/0/dueBy/daysAfter"]
    ],
    ["places beyond those of a decimal", [{ ...holdings, places: 11 }], ["/0/places"]],
    ["a member that nothing reads", [{ ...cash, iban: "planted" }], ["/0/iban"]],
    [
      "one id for two sources",
      [cash, { ...nav, externalSourceId: "bank-1" }],
      ["/1/externalSourceId"]
    ],
    ["a kind that there is not", [{ ...cash, kind: "fees" }], ["/0/kind"]]
  ])("never starts a host with %s", (_, given, pointers) => {
    expect(faultsOf(given)).toEqual(pointers)
  })

  it("names its faults without a value", () => {
    const read = sources.read([{ ...cash, account: "planted secret" }])
    expect(JSON.stringify(read)).not.toContain("planted")
  })

  it("is none where nothing is written", () => {
    expect(Result.getOrThrow(sources.read(""))).toEqual([])
  })
})

describe("the limits of statements", () => {
  const { settings } = HostConfig
  it.each([
    ["statements.maxLines", "10000000", "10000001"],
    ["statements.maxLines", "1", "0"]
  ] as const)("%s takes %s and not %s", (name, taken, refused) => {
    expect(Result.isSuccess(settings[name].read(taken))).toBe(true)
    expect(Result.isSuccess(settings[name].read(refused))).toBe(false)
  })

  it("let an order name the last line of the longest statement, and no line after it", () => {
    const isNumber = Schema.is(CashLine.fields.line)
    expect(isNumber(statementLinesLimit)).toBe(true)
    expect(isNumber(statementLinesLimit + 1)).toBe(false)
  })

  it("are the engine's where nothing is set", () => {
    expect(settings["statements.maxLines"].fallback).toBe(
      String(settingsDefaults.statementLinesMax)
    )
  })
})
