/** What the console's pages of money against records show, computed without a browser. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Vocabulary } from "@bursar/engine-core"
import * as Reconciliation from "../../packages/http-host/console/src/reconciliation/Reconciliation.ts"
import * as Pages from "../../packages/http-host/console/src/pages/Pages.ts"
import { areaPages } from "../../packages/http-host/console/src/shell/Areas.ts"
import * as Navigation from "../../packages/http-host/console/src/shell/Navigation.ts"
import * as Decimals from "../../packages/http-host/console/src/words/Decimals.ts"
import * as Resources from "../../packages/http-host/console/src/words/Resources.ts"
import { type Document, tableOf } from "../../packages/http-host/scripts/console-interface.ts"
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
