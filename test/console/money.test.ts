/** What the console's pages of money against records show, computed without a browser. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Vocabulary } from "@bursar/engine-core"
import * as Distributions from "../../packages/http-host/console/src/distributions/Distributions.ts"
import * as Reconciliation from "../../packages/http-host/console/src/reconciliation/Reconciliation.ts"
import * as Pages from "../../packages/http-host/console/src/pages/Pages.ts"
import { areaPages } from "../../packages/http-host/console/src/shell/Areas.ts"
import * as Navigation from "../../packages/http-host/console/src/shell/Navigation.ts"
import * as Decimals from "../../packages/http-host/console/src/words/Decimals.ts"
import * as Reserves from "../../packages/http-host/console/src/reserves/Reserves.ts"
import * as Statements from "../../packages/http-host/console/src/statements/Statements.ts"
import * as Resources from "../../packages/http-host/console/src/words/Resources.ts"
import { Temporal } from "../../packages/http-host/console/src/words/Temporal.ts"
import { type Document, tableOf } from "../../packages/http-host/scripts/console-interface.ts"
import * as DueRules from "#core/statements/external-source/DueRules.ts"
import { Date, Duration, Instant } from "@bursar/engine-core/kernel"
import { root } from "../architecture/sources.ts"

const table = tableOf(
  JSON.parse(readFileSync(join(root, "packages/http-host/openapi.json"), "utf8")) as Document
)

describe("the pages of areas", () => {
  it.each(areaPages)("at $path make reads that there are, and at most six", ({ reads }) => {
    expect(reads.filter((read) => table.reads[read] === undefined)).toEqual([])
    expect(reads.length).toBeLessThanOrEqual(6)
  })

  it("are in the module of their area", () => {
    const lost = areaPages.filter(({ area, page }) => {
      const text = readFileSync(
        join(root, `packages/http-host/console/src/${area}/Area.tsx`),
        "utf8"
      )
      return !new RegExp(`\\b${page}\\b`, "u").test(text)
    })
    expect(lost).toEqual([])
  })

  it("have each address once, and each row of the navigation has a page", () => {
    const paths = [
      ...areaPages.map(({ path }) => path),
      ...Pages.lists.map(({ path }) => path),
      ...Pages.records.map(({ path }) => `${path}/:id`)
    ]
    expect(paths.filter((path, at) => paths.indexOf(path) !== at)).toEqual([])
    const own = ["work", "approvals", "open-orders", "events"]
    const rows = Navigation.groups.flatMap((group) => group.rows)
    expect(
      rows
        .filter(({ path }) => !paths.includes(path) && !own.includes(path))
        .map(({ path }) => path)
    ).toEqual([])
    // A page offers itself to whom the navigation offers it.
    for (const { path, reads } of rows) {
      const page = areaPages.find((row) => row.path === path)
      if (page !== undefined) expect([path, page.reads[0]]).toEqual([path, reads[0]])
    }
  })
})

describe("exact arithmetic", () => {
  const places = 12
  const scaled = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n })
  const textOf = (value: bigint, cut: number): string => {
    const digits = (value < 0n ? -value : value).toString().padStart(cut + 1, "0")
    const at = digits.length - cut
    return (value < 0n ? "-" : "") + digits.slice(0, at) + (cut === 0 ? "" : `.${digits.slice(at)}`)
  }

  it("loses no digit of a sum, whatever places its terms have", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(scaled, fc.nat(places)), { minLength: 1 }), (terms) => {
        const most = Math.max(...terms.map(([, cut]) => cut))
        const whole = terms.reduce(
          (all, [value, cut]) => all + value * 10n ** BigInt(most - cut),
          0n
        )
        const all = Decimals.sum(terms.map(([value, cut]) => textOf(value, cut)))
        expect(Decimals.same(all, textOf(whole, most))).toBe(true)
        expect(all).toBe(textOf(whole, most))
      })
    )
  })

  it("orders by value and not by text", () => {
    fc.assert(
      fc.property(scaled, scaled, fc.nat(places), (left, right, cut) => {
        const expected = left < right ? -1 : left > right ? 1 : 0
        expect(Decimals.compare(textOf(left, cut), textOf(right, cut))).toBe(expected)
        expect(Decimals.compare(textOf(left, cut), `${textOf(left * 10n, cut + 1)}`)).toBe(0)
      })
    )
    expect(() => Decimals.sum(["1e3"])).toThrow("no decimal")
    expect(Decimals.figureOf(1.5)).toBeNull()
  })
})

describe("reconciliation", () => {
  it("has words for each check, and for each reason that the checks give", () => {
    expect([...Reconciliation.listedChecks].toSorted()).toEqual(
      [...Vocabulary.ReconciliationCheck.members].toSorted()
    )
    const page = readFileSync(join(root, "packages/engine-core/docs/checks.md"), "utf8")
    const [, needs = ""] = page.split("## What each can compare")
    const named = [...needs.matchAll(/`([a-z-]+)`:/gu)].map(([, reason = ""]) => reason)
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter((reason) => !Reconciliation.listedReasons.includes(reason))).toEqual([])
    expect(Reconciliation.reasonOf("a-reason-to-come")).toContain("a reason to come")
    expect(Reconciliation.checkSentence("a-check-to-come")).toContain("a check to come")
    expect(Reconciliation.reasonOf("toString")).toContain("toString")
  })

  it("shows checks that did not run first, then those that found something, each group as it came", () => {
    const row = fc.record({
      check: fc.uuid(),
      ran: fc.boolean(),
      why: fc.constant(null),
      findings: fc.nat(2)
    })
    fc.assert(
      fc.property(fc.array(row), (rows) => {
        const shown = Reconciliation.checksInOrder(rows)
        expect(shown.toSorted((a, b) => (a.check < b.check ? -1 : 1))).toEqual(
          rows.toSorted((a, b) => (a.check < b.check ? -1 : 1))
        )
        const places = shown.map(({ findings, ran }) => (!ran ? 0 : findings === 0 ? 2 : 1))
        expect(places).toEqual(places.toSorted((a, b) => a - b))
      })
    )
  })

  it("says of a check that it ran and had nothing to compare, or did not run, and never the other", () => {
    const outcome = (ran: boolean, why: string | null) =>
      Reconciliation.outcomeOf({ check: "register-line", ran, why, findings: 0 })
    expect(outcome(true, null)).toBe("ran")
    expect(outcome(true, "nothing-to-compare")).toBe("ran: it had nothing to compare")
    expect(outcome(false, "balances-none")).toBe("did not run: the source states no balances")
  })

  const finding = {
    expected: "10.5",
    actual: "7",
    difference: "-3.5",
    explained: { amount: "-3.0", by: [{ amount: "-1" }, { amount: "-2.00" }] },
    unexplained: "-0.5"
  }
  it("recomputes a finding, and sees each figure that differs", () => {
    expect(Reconciliation.recomputed(finding)).toEqual({
      isDifferenceSame: true,
      isExplainedSame: true,
      isUnexplainedSame: true
    })
    expect(
      Reconciliation.recomputed({ ...finding, difference: "-3.4999999999" }).isDifferenceSame
    ).toBe(false)
    expect(Reconciliation.recomputed({ ...finding, unexplained: "0.5" }).isUnexplainedSame).toBe(
      false
    )
    expect(
      Reconciliation.recomputed({ ...finding, explained: { amount: "-3", by: [] } }).isExplainedSame
    ).toBe(false)
    expect(Reconciliation.recomputed({ ...finding, expected: null }).isDifferenceSame).toBeNull()
  })

  it("offers acceptance of what has a hold alone, and nothing of what is over", () => {
    const next = (more: object) =>
      Reconciliation.nextOf({ check: "register-line", state: "open", ...more }).join(" ")
    expect(next({ holdId: "hold-1", severity: "blocking" })).toContain("release its hold")
    expect(next({ holdId: null, severity: "warning" })).toContain("It blocks nothing")
    expect(next({ holdId: "hold-1", state: "cleared" })).not.toContain("release its hold")
    expect(next({ holdId: "hold-1", state: "accepted" })).not.toContain("release its hold")
  })

  it("counts open findings by severity, the gravest first, without zeros", () => {
    expect(Reconciliation.openOf({ info: 3, warning: 0, blocking: 1 })).toEqual([
      ["blocking", "1"],
      ["info", "3"]
    ])
  })
})

describe("links to records", () => {
  it("lead to pages that there are", () => {
    const pages = new Set([
      ...areaPages.map(({ path }) => path),
      ...Pages.records.map(({ path }) => `${path}/:id`),
      "subscriptions/:id",
      "redemptions/:id"
    ])
    const lost = Resources.kindsWithPage.filter((kind) => {
      const page = Resources.pageOfResource(kind, "x")?.replace(/\/x$/u, "/:id") ?? ""
      return !pages.has(page)
    })
    expect(lost).toEqual([])
    expect(Resources.pageOfResource("constructor", "x")).toBeNull()
    expect(Resources.pageOfResource("holder", "a/../b")).toBe("holders/a%2F..%2Fb")
  })
})

describe("statements", () => {
  const calendar = ["monday", "tuesday", "wednesday", "thursday", "friday"] as const
  const source = {
    calendar,
    dueBy: { time: "09:00", zone: "UTC", daysAfter: 1n },
    grace: "PT2H",
    instruments: ["fund-a", "fund-b"]
  }
  const start = Date.of("2024-01-01")

  it("are late from the instant that the engine finds, also where the clock of the zone jumps", () => {
    fc.assert(
      fc.property(
        fc.nat(1_200),
        fc.constantFrom("00:30", "02:30", "01:30", "23:59"),
        fc.constantFrom("UTC", "Europe/Zurich", "America/New_York", "America/Havana"),
        fc.nat(3),
        fc.constantFrom("PT0S", "PT36H", "P2DT30M"),
        (day, time, zone, daysAfter, grace) => {
          const date = Date.addDays(start, day)
          const dueBy = { time, zone, daysAfter }
          const due = DueRules.dueAt({ dueBy } as never, date)
          expect(Statements.lateFrom({ ...source, dueBy, grace }, date)).toBe(
            Temporal.Instant.from(Instant.format(Instant.add(due, Duration.of(grace)))).toString()
          )
        }
      )
    )
  })

  const received = (more: object) => ({
    externalStatementId: "est-1",
    instrumentId: "fund-a",
    businessDate: "2026-11-27",
    receivedAt: "2026-11-28T08:00:00Z",
    corrects: null,
    supersededBy: null,
    ...more
  })
  const both = (more: object = {}) => [
    received(more),
    received({ instrumentId: "fund-b", externalStatementId: "est-2" })
  ]
  const before = "2026-11-28T11:00:00Z"
  const after = "2026-11-28T11:00:01Z"
  const late = { receivedAt: "2026-11-28T12:00:00Z" }
  it.each([
    ["none came before it is late", [], before, "awaited"],
    ["none came and it is late", [], after, "missing"],
    ["one of two instruments has none", [received({})], after, "missing"],
    ["both came in time", both(), after, "received"],
    ["one came too late", both(late), after, "late"],
    ["one corrects another", both({ corrects: "est-0" }), after, "corrected"],
    ["the only one was corrected away", [received({ supersededBy: "est-9" })], after, "missing"],
    [
      "a correction came late, and its original in time",
      [
        ...both({ ...late, corrects: "est-0" }),
        received({ externalStatementId: "est-0", supersededBy: "est-1" })
      ],
      after,
      "corrected"
    ]
  ] as const)("have a date where %s as it is", (_, statements, now, state) => {
    const [day] = Statements.calendarOf(source, {
      first: "2026-11-27",
      last: "2026-11-27",
      now,
      statements
    })
    expect(day?.state).toBe(state)
  })

  it("owe nothing on days outside the calendar, and show what came of one all the same", () => {
    const days = (statements: ReadonlyArray<object>) =>
      Statements.calendarOf(source, {
        first: "2026-11-23",
        last: "2026-11-29",
        now: after,
        statements: statements as never
      }).map(({ date }) => date)
    expect(days([])).toEqual(["2026-11-27", "2026-11-26", "2026-11-25", "2026-11-24", "2026-11-23"])
    expect(days([received({ businessDate: "2026-11-28" })])[0]).toBe("2026-11-28")
  })

  it("are late on the dates that the engine finds overdue", () => {
    fc.assert(
      fc.property(fc.nat(400), fc.nat(60), fc.subarray([...calendar]), (day, later, owed) => {
        const newest = Date.addDays(start, day)
        const today = Date.addDays(newest, later)
        const now = `${today}T10:30:00Z`
        const own = { ...source, calendar: owed, lastBusinessDate: newest }
        const expected = DueRules.overdueDates(
          {
            calendar: owed,
            dueBy: { ...source.dueBy, daysAfter: 1 },
            grace: Duration.of("PT2H")
          } as never,
          { newest, firstDay: newest, now: Instant.of(now) }
        )
        expect(Statements.lateDates(own, { now, today, days: "P70D" })).toEqual(expected)
      })
    )
  })

  it("are seen to be in time only where their newest date can tell it", () => {
    const at = { now: "2026-11-28T08:00:00Z", today: "2026-11-28", days: "P35D" }
    const is = (lastBusinessDate: string | null, instruments: ReadonlyArray<string>) =>
      Statements.latenessOf({ ...source, instruments, lastBusinessDate }, at).is
    expect(is(null, ["fund-a"])).toBe("silent")
    expect(is("2026-11-27", ["fund-a"])).toBe("none")
    expect(is("2026-11-27", ["fund-a", "fund-b"])).toBe("open")
    expect(is("2026-11-20", ["fund-a", "fund-b"])).toBe("late")
  })

  it("are read with the last of the dates, whose filter ends before its day", () => {
    expect(Statements.datesWhere("bank", { first: "2026-11-30", last: "2026-11-30" })).toEqual({
      externalSourceId: "bank",
      from: "2026-11-30",
      to: "2026-12-01"
    })
  })

  it("of cash add up, or are seen not to, and are not judged across currencies", () => {
    const statement = { opening: "100.00", closing: "110.10", currency: "USD" }
    const lines = [
      { amount: "20.15", direction: "credit", currency: "USD" },
      { amount: "10.05", direction: "debit", currency: "USD" }
    ]
    expect(Statements.balanceOf(statement, lines)).toEqual({
      opening: "100.00",
      entries: "10.10",
      closing: "110.10",
      isSame: true
    })
    expect(Statements.balanceOf({ ...statement, closing: "110.11" }, lines)?.isSame).toBe(false)
    expect(Statements.balanceOf({ ...statement, opening: null }, lines)).toBeNull()
    expect(Statements.balanceOf(statement, null)).toBeNull()
    expect(
      Statements.balanceOf(statement, [{ amount: "1", direction: "credit", currency: "EUR" }])
    ).toBeNull()
    expect(Statements.leftOf({ amount: "10.00", taken: "2.5" })).toBe("7.50")
  })

  it("are downloaded byte for byte, under a name that no text of the file decides", () => {
    const bytes = [0, 255, 13, 10, 0xef, 0xbb, 0xbf]
    expect([...Statements.bytesOf(Buffer.from(bytes).toString("base64"), "base64")]).toEqual(bytes)
    expect(Buffer.from(Statements.bytesOf("ä\r\n", "utf-8")).toString()).toBe("ä\r\n")
    expect(
      Statements.fileNameOf({ externalStatementId: "est_1", rawFormat: "application/xml" })
    ).toBe("est_1.xml")
  })

  it("that were handed in before are said to be there already", () => {
    expect(Statements.receiptSentence({ statements: [{ recorded: false }] })).toContain("already")
    expect(
      Statements.receiptSentence({ statements: [{ recorded: true }, { recorded: false }] })
    ).toContain("1 of its 2")
  })

  it("come on days that are named shortly", () => {
    expect(Statements.calendarWords([...calendar])).toBe("monday to friday")
    expect(Statements.calendarWords(["friday", "monday"])).toBe("monday, friday")
    expect(Statements.calendarWords([])).toBe("no fixed days")
    expect(Statements.dueWords(source.dueBy)).toBe("09:00 UTC, 1 day after")
  })
})

describe("distributions", () => {
  it("are rolled while a line is delivered, also after the others made them paid", () => {
    const counts = { due: 0, delivered: 0, rolled: 4 }
    expect(Distributions.isToRoll({ state: "paid", counts })).toBe(false)
    expect(Distributions.isToRoll({ state: "payable", counts })).toBe(false)
    expect(Distributions.isToRoll({ state: "paid", counts: { ...counts, delivered: 1 } })).toBe(
      true
    )
    expect(
      Distributions.isToRoll({ state: "payable", counts: { ...counts, delivered: "2" } })
    ).toBe(true)
    expect(Distributions.isToRoll({ state: "payable", counts: null })).toBe(true)
  })

  it("stand in a grid of months and instruments, none lost and none twice", () => {
    const period = fc.record({
      instrumentId: fc.constantFrom("fund-a", "fund-b", "fund-c"),
      month: fc.constantFrom("2026-01", "2026-02", "2025-12")
    })
    const periods = fc.uniqueArray(period, {
      selector: ({ instrumentId, month }) => `${instrumentId}:${month}`
    })
    fc.assert(
      fc.property(periods, (rows) => {
        const { instruments, months } = Distributions.gridOf(rows)
        expect(months).toEqual(months.toSorted())
        const shown = instruments.flatMap(({ instrumentId, periods: row }) =>
          row.flatMap((each, at) => {
            if (each === null) return []
            expect(each).toEqual({ instrumentId, month: months[at] })
            return [each]
          })
        )
        expect(shown.length).toBe(rows.length)
      })
    )
  })

  const totals = { holders: 3n, gross: "100.00", net: "85.00", withheld: "15.00" }
  it("have their sums recomputed, and a difference of a cent seen", () => {
    const paid = (more: object) => Distributions.identitiesOf({ ...totals, ...more })[0]?.isSame
    expect(paid({})).toBe(true)
    expect(paid({ net: "85.01" })).toBe(false)
    expect(paid({ net: null })).toBeNull()
    const counts = { due: 1n, rolled: 2n, void: 0n }
    expect(Distributions.isCounted({ totals, counts })).toBe(true)
    expect(Distributions.isCounted({ totals, counts: { ...counts, void: 1n } })).toBe(false)
    // Roles that see neither are told nothing of them.
    expect(Distributions.isCounted({ totals: null, counts: null })).toBeNull()
  })

  it.each([
    ["executed", null, ["executed"]],
    ["held", "2026-08-03T09:00:00Z", ["executed", "sealed", "held"]],
    ["payable", "2026-08-03T09:00:00Z", ["executed", "sealed", "payable"]],
    ["paid", "2026-08-03T09:00:00Z", ["executed", "sealed", "payable", "paid"]]
  ])("that are %s have reached what they have, and nothing ahead", (state, sealedAt, reached) => {
    const steps = Distributions.stepsOf({ state, sealedAt, executedAt: "2026-08-03T08:00:00Z" })
    expect(steps.filter(({ isReached }) => isReached).map(({ name }) => name)).toEqual(reached)
  })

  it("have a cure for each cause of a line, and a sentence for each basis that is missing", () => {
    expect([...Distributions.listedCauses].toSorted()).toEqual(
      [...Vocabulary.LineReason.members].toSorted()
    )
    expect([...Distributions.listedMissing].toSorted()).toEqual(
      [...Vocabulary.BasisMissing.members].toSorted()
    )
    const line = { holderId: "h 1", instrumentId: "fund-a" }
    expect(Distributions.causeOf({ ...line, reason: null })).toBeNull()
    expect(Distributions.causeOf({ ...line, reason: "admission" })?.page).toBe("holders/h%201")
    expect(Distributions.causeOf({ ...line, reason: "restriction" })?.page).toBe(
      "restrictions?holderId=h%201"
    )
    expect(Distributions.causeOf({ ...line, holderId: null, reason: "admission" })?.page).toBeNull()
    expect(Distributions.causeOf({ ...line, reason: "a-cause-to-come" })?.says).toContain("to-come")
  })

  it("have their waiting lines counted by cause, the most frequent first", () => {
    expect(
      Distributions.causesOf([
        { reason: "screening" },
        { reason: null },
        { reason: "admission" },
        { reason: "screening" }
      ])
    ).toEqual([
      ["screening", "2"],
      ["admission", "1"]
    ])
  })

  it("are found by the id of their month, whatever the instrument is called", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._~:-]{0,20}$/u), (instrumentId) => {
        expect(Distributions.periodOf(`${instrumentId}:2026-08`)).toEqual({
          instrumentId,
          month: "2026-08"
        })
      })
    )
    expect(Distributions.periodOf("fund-a")).toBeNull()
    expect(Distributions.leftOf("92.34", "1000.00")).toBe("907.66")
    expect(Distributions.leftOf("92.34", null)).toBeNull()
  })
})

describe("reserves", () => {
  const assetOf = fc.constantFrom("USD", "BILL", "BOND").map((id) => ({ admin: "bank", id }))
  const some = fc.uniqueArray(assetOf, { selector: ({ id }) => id })

  it("show each asset once, that of the terms and that which is locked, the terms first", () => {
    fc.assert(
      fc.property(some, some, (terms, locked) => {
        const rows = Reserves.assetRows({
          termsInForce: { assets: terms.map((asset) => ({ asset })) },
          assets: locked.map((asset) => ({ asset }))
        })
        const ids = new Set([...terms, ...locked].map(({ id }) => id))
        expect(rows.map(({ asset }) => asset["id"]).toSorted()).toEqual([...ids].toSorted())
        for (const { asset, locked: held, term } of rows) {
          expect(term !== null).toBe(terms.some(({ id }) => id === asset["id"]))
          expect(held !== null).toBe(locked.some(({ id }) => id === asset["id"]))
        }
        expect(rows.slice(0, terms.length).every(({ term }) => term !== null)).toBe(true)
      })
    )
  })

  it("have what is counted added up, and a cent too much seen", () => {
    const assets = [{ counted: "10.10" }, { counted: "0.905" }]
    expect(Reserves.countedOf({ assets, counted: "11.005" })).toEqual({
      counted: "11.005",
      isSame: true
    })
    expect(Reserves.countedOf({ assets, counted: "11.01" })?.isSame).toBe(false)
    expect(Reserves.countedOf({ assets: [], counted: "0" })?.isSame).toBe(true)
    expect(Reserves.countedOf({ assets: [{ counted: null }], counted: "0" })).toBeNull()
  })

  it("say why a ready order waits, and say nothing of one that is not ready", () => {
    const says = (state: string, kind: "mint" | "reserve-redemption", cover: string) =>
      Reserves.waitsBecause({ state }, { kind, cover })
    expect(says("ready", "mint", "low")).toContain("needs the cover")
    expect(says("ready", "mint", "covered")).toContain("by itself")
    // Redemptions go on by their terms, whatever the cover is.
    expect(says("ready", "reserve-redemption", "low")).toContain("by itself")
    expect(says("started", "mint", "low")).toBeNull()
  })

  it("name the cover in words for each of its states, and one that is to come", () => {
    const states = Vocabulary.CoverState.members.map(Reserves.coverSentence)
    expect(new Set(states).size).toBe(states.length)
    expect(states.filter((sentence) => sentence.includes("“"))).toEqual([])
    expect(Reserves.coverSentence("a-state-to-come")).toContain("a-state-to-come")
    expect(Reserves.pendingOf({ pending: null })).toBeNull()
    expect(
      Reserves.pendingOf({ pending: { effectiveAt: "2026-12-01T00:00:00Z", terms: {} } })
    ).toEqual({ effectiveAt: "2026-12-01T00:00:00Z", terms: {} })
  })

  it("have the ledger's figures beside those of the reserve, each figure in its own row", () => {
    const view = {
      outstanding: "1",
      sharePrice: "2",
      required: "3",
      counted: "4",
      cover: { ratio: "5" }
    }
    const reserve = { ...view, counted: "6" }
    expect(
      Reserves.reportRows({ view }, reserve).filter(({ now, reported }) => now !== reported)
    ).toEqual([{ name: "counted", reported: "4", now: "6" }])
  })
})
