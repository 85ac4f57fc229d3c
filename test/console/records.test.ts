/** Pages of records, computed without a browser: acts by state against the machines, columns, facts. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { machines } from "#core/catalogue.ts"
import { Vocabulary } from "@bursar/engine-core"
import * as StandingApproval from "#core/distributions/standing-approval/StandingApproval.ts"
import { gates } from "#core/kernel/Refusal.ts"
import * as Line from "../../packages/http-host/console/src/chart/Line.ts"
import * as Cycle from "../../packages/http-host/console/src/cycles/Cycle.ts"
import * as Holder from "../../packages/http-host/console/src/holders/Holder.ts"
import * as Instrument from "../../packages/http-host/console/src/instruments/Instrument.ts"
import { enteredOf, fieldsOf } from "../../packages/http-host/console/src/kit/Schema.ts"
import * as Order from "../../packages/http-host/console/src/orders/Order.ts"
import * as Columns from "../../packages/http-host/console/src/record/Columns.ts"
import * as Cures from "../../packages/http-host/console/src/record/Cures.ts"
import * as Fact from "../../packages/http-host/console/src/record/Fact.ts"
import * as Open from "../../packages/http-host/console/src/record/Open.ts"
import * as StateActs from "../../packages/http-host/console/src/record/StateActs.ts"
import * as Tabs from "../../packages/http-host/console/src/record/Tabs.ts"
import * as Resources from "../../packages/http-host/console/src/words/Resources.ts"
import * as Restraint from "../../packages/http-host/console/src/restraints/Restraint.ts"
import * as Decimals from "../../packages/http-host/console/src/words/Decimals.ts"
import { membersOf, schemas, table } from "./interface.ts"

describe("acts by state", () => {
  const machineOf: Readonly<Record<Exclude<StateActs.ActedKind, "standing-approval">, string>> = {
    subscription: "SubscriptionState",
    redemption: "RedemptionState",
    "dealing-cycle": "DealingCycleState",
    "standing-settlement": "StandingSettlementState",
    hold: "HoldState",
    restriction: "RestrictionState",
    amendment: "AmendmentState",
    "lock-agreement": "LockAgreementState",
    reserve: "ReserveState"
  }
  const all = Object.keys(StateActs.actsByState) as ReadonlyArray<StateActs.ActedKind>
  // The state of a standing approval is judged, not moved.
  const kinds = all.filter((kind) => kind !== "standing-approval")

  it.each(kinds)("of a %s are those that its machine's moves have, in every state", (kind) => {
    const machine = machines.find(({ name }) => name === machineOf[kind])
    if (machine === undefined) throw new Error(`no machine of ${kind}`)
    const states = Object.keys(machine.moves)
    expect(Object.keys(StateActs.actsByState[kind]).toSorted()).toEqual(states.toSorted())
    for (const [state, moves] of Object.entries(machine.moves)) {
      const acts = Object.keys(moves as object).flatMap((trigger) =>
        (machine.triggers[trigger]?.by ?? []).filter((by) => by.startsWith(`${kind}.`))
      )
      expect([state, StateActs.actsOf(kind, state).toSorted()]).toEqual([
        state,
        [...new Set(acts)].toSorted()
      ])
    }
  })

  it("of a standing approval end it while it may still be used, and name each of its states", () => {
    const states = Object.keys(StandingApproval.StandingApprovalState.states) as ReadonlyArray<
      StandingApproval.StandingApproval["state"]
    >
    expect(Object.keys(StateActs.actsByState["standing-approval"]).toSorted()).toEqual(
      states.toSorted()
    )
    for (const state of states) {
      const isOpen = StandingApproval.isOpen({ state })
      expect([state, StateActs.actsOf("standing-approval", state)]).toEqual([
        state,
        isOpen ? ["standing-approval.revoke"] : []
      ])
    }
  })

  it("against a reserve begin an order only in a state in which the gates let one begin", () => {
    const states = Object.keys(machines.find(({ name }) => name === "ReserveState")?.moves ?? {})
    expect(Object.keys(StateActs.ordersByReserve).toSorted()).toEqual(states.toSorted())
    for (const state of states) {
      const orders = StateActs.reserveOrdersOf(state)
      expect([state, orders.includes("mint.start")]).toEqual([state, state === "active"])
      expect([state, orders.includes("reserve-redemption.start")]).toEqual([
        state,
        state === "active" || state === "closing"
      ])
    }
    expect(StateActs.reserveOrdersOf("parked")).toEqual(["mint.start", "reserve-redemption.start"])
  })

  it("of a state that this build does not know are all of its kind, which the service judges", () => {
    expect(StateActs.actsOf("restriction", "suspended")).toEqual(["restriction.lift"])
    expect(StateActs.actsOf("subscription", "parked").toSorted()).toEqual([
      "subscription.deliver",
      "subscription.release",
      "subscription.settle",
      "subscription.withdraw"
    ])
  })

  it("are writes that there are, and each of an order has its sentence", () => {
    const acts = all.flatMap((kind) => Object.values(StateActs.actsByState[kind]).flat())
    expect(acts.filter((act) => table.writes[act] === undefined)).toEqual([])
    const ofOrders = acts.filter((act) => /^(?:subscription|redemption)\./u.test(act))
    expect(ofOrders.filter((act) => Order.actSays[act] === undefined)).toEqual([])
  })
})

describe("the pages of orders", () => {
  const shown = (kind: Order.OrderKind) => [
    ...Columns.membersOf(Order.orderColumns[kind]),
    ...Order.orderSheets.flatMap(({ rows }) => rows.map(({ member }) => member))
  ]
  it("show members that an order of either kind has", () => {
    const has = new Set([...membersOf("subscriptions.get"), ...membersOf("redemptions.get")])
    for (const kind of ["subscription", "redemption"] as const) {
      expect(shown(kind).filter((member) => !has.has(member))).toEqual([])
      const listed = membersOf(`${kind}s.list`)
      const columns = Columns.membersOf(Order.orderColumns[kind])
      expect(columns.filter((member) => !listed.has(member))).toEqual([])
    }
  })

  const base = { claimedAt: "2026-07-31T12:00:00Z", pricedAt: "2026-07-31T13:00:00Z" }

  it("show what is ahead, and of an order that has ended nothing that never came", () => {
    expect(Order.stepsOf("subscription", base).map(({ at, name }) => [name, at !== null])).toEqual([
      ["claimed", true],
      ["priced", true],
      ["delivered", false],
      ["closed", false]
    ])
    const released = { ...base, endedAs: "released", endedAt: "2026-07-31T14:00:00Z" }
    for (const kind of ["subscription", "redemption"] as const) {
      const steps = Order.stepsOf(kind, released)
      expect(steps.map(({ name }) => name)).toEqual(["claimed", "priced", "released"])
      expect(Order.presentStep(steps)).toBe(2)
    }
  })

  it("reckon what is still due to the last place, and of an order without a price nothing", () => {
    const cash = (expected: string | null) =>
      Order.cashOf({ cash: { expected, matched: "0.0000000001", lines: [] } })
    expect(cash("9007199254740993.0000000002")?.due).toBe("9007199254740993.0000000001")
    expect(cash(null)?.due).toBe(null)
    expect(Order.cashOf({})).toBe(null)
  })

  it("have no fact for what a record does not have", () => {
    const facts = Fact.groupsOf({ amount: "1", currency: "USD", fee: null }, Order.orderSheets)
    expect(facts).toEqual([
      {
        title: "Figures",
        facts: [{ member: "amount", name: null, value: "1", unit: "USD" }]
      }
    ])
    expect(Order.contractFacts({ lot: null, allocation: null })).toEqual([])
  })
})

describe("what cures a refusal", () => {
  const judged = { instrumentId: "../x?y", holderId: "h 1" }
  it("is a page whose read there is, and an id in its address is one segment", () => {
    for (const gate of gates) {
      const cure = Cures.cureOf({ gate, check: "not-held" }, judged)
      if (cure === null) continue
      expect(table.reads[cure.read]).toBeDefined()
      expect(cure.path).not.toMatch(/\.\.\/|x\?y| /u)
    }
  })

  it("is nothing where the state of the record refuses, or nothing names the record", () => {
    expect(Cures.cureOf({ gate: "policy", check: "SubscriptionState" }, judged)).toBe(null)
    const none = { instrumentId: null, holderId: null }
    expect(Cures.cureOf({ gate: "hold", check: "not-held" }, none)).toBe(null)
    expect(Cures.cureOf({ gate: "a-gate-to-come", check: "not-held" }, judged)).toBe(null)
  })
})

describe("the pages of instruments and holders", () => {
  const columns = [
    ["instruments.list", Instrument.instrumentColumns],
    ["instruments.prices", Instrument.priceColumns],
    ["instruments.movements", Instrument.movementColumns],
    ["holders.list", Holder.holderColumns],
    ["holders.portfolio", Holder.portfolioColumns(true)],
    ["holders.admissions", Holder.admissionColumns],
    ["holders.movements", Holder.holderMovementColumns],
    ["distribution-calendar.list", Instrument.calendarColumns],
    ["distributions.list", Holder.holderDistributionColumns],
    ["holders.get", Holder.attributeColumns],
    ["holders.get", Holder.holderFacts],
    ["instruments.get", Instrument.overviewSheets.flatMap(({ rows }) => rows)]
  ] as const
  it.each(columns)("show members that %s answers", (read, rows) => {
    const answered = membersOf(read)
    expect(Columns.membersOf(rows).filter((member) => !answered.has(member))).toEqual([])
  })

  it("have tabs whose reads there are, and of each role those that it may read", () => {
    const tabs = [...Instrument.instrumentTabs, ...Holder.holderTabs]
    const reads = tabs.flatMap((tab) => tab.reads)
    expect(reads.filter((read) => table.reads[read] === undefined)).toEqual([])
    const offered = (role: string, rows: ReadonlyArray<Tabs.TabRow>) =>
      Tabs.tabsOf(rows, (read) => table.reads[read]?.roles.includes(role) === true).map(
        ({ name }) => name
      )
    expect(offered("registrar", Instrument.instrumentTabs)).not.toContain("reconciliation")
    expect(offered("app", Holder.holderTabs)).not.toContain("restrictions")
    expect(offered("compliance", Holder.holderTabs)).toContain("restrictions")
  })

  it("filter the lists of their tabs by what these have", () => {
    const wrong = [
      ...[
        "open-orders.list",
        "holds.list",
        "distributions.list",
        "findings.list",
        "reserves.list"
      ].map((read) => [read, "instrumentId"] as const),
      ...["proposals.list", "distribution-calendar.list", "reconciliation-verdict.list"].map(
        (read) => [read, "instrumentId"] as const
      ),
      ...[
        "open-orders.list",
        "distributions.list",
        "restrictions.list",
        "external-accounts.list"
      ].map((read) => [read, "holderId"] as const)
    ].filter(
      ([read, filter]) => table.reads[read]?.filters.every(({ name }) => name !== filter) !== false
    )
    expect(wrong).toEqual([])
  })

  it("say whether units are restricted to roles alone that read restrictions", () => {
    const members = (may: boolean) => Columns.membersOf(Holder.portfolioColumns(may))
    expect(members(false)).toEqual(members(true).filter((member) => member !== "restricted"))
  })

  it("offer on a holder writes that there are, none of one that has ended", () => {
    expect(Holder.holderActs.filter(({ kind }) => table.writes[kind] === undefined)).toEqual([])
    const machine = machines.find(({ name }) => name === "HolderState")
    for (const [state, moves] of Object.entries(machine?.moves ?? {})) {
      const acts = Holder.holderActsOf(state).map(({ kind }) => kind)
      const ended = Object.keys(moves as object).length === 0
      expect([state, acts.length === 0]).toEqual([state, ended])
      expect([state, acts.includes("holder.close")]).toEqual([
        state,
        Object.hasOwn(moves as object, "close")
      ])
    }
    expect(Holder.holderActsOf("a-state-to-come")).toEqual(Holder.holderActs)
  })

  it("open a tax statement of a year alone", () => {
    expect([null, "", "26", "2026x", "9999"].map(Holder.yearOf)).toEqual([
      null,
      null,
      null,
      null,
      null
    ])
    expect(Holder.yearOf("2026")).toBe("2026")
  })
})

describe("policies beside each other", () => {
  const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null))
  const body = fc.dictionary(
    fc.constantFrom("fees", "limits", "a/b", "c~d", "currency", "later"),
    fc.oneof(scalar, fc.dictionary(fc.constantFrom("x", "y"), scalar), fc.array(scalar))
  )

  it("differ in nothing where they are the same, and each difference is one of both sides", () => {
    fc.assert(
      fc.property(body, body, (a, b) => {
        expect(Instrument.differences(a, a)).toEqual([])
        const there = Instrument.differences(a, b)
        const back = Instrument.differences(b, a)
        expect(back.map(({ path }) => path).toSorted()).toEqual(
          there.map(({ path }) => path).toSorted()
        )
        for (const { from, to } of there) expect(JSON.stringify(from)).not.toBe(JSON.stringify(to))
      })
    )
  })

  it("show each term once, whether it is set or not, and one that this build does not know", () => {
    fc.assert(
      fc.property(body, (terms) => {
        const groups = Instrument.policyGroups(terms)
        const shown = groups.flatMap(({ facts, unset }) => [
          ...facts.map(({ member }) => member),
          ...unset
        ])
        expect(new Set(shown).size).toBe(shown.length)
        for (const member of Object.keys(terms)) {
          const pointer = `/${member.replaceAll("~", "~0").replaceAll("/", "~1")}`
          expect(shown.some((path) => path === pointer || path.startsWith(`${pointer}/`))).toBe(
            true
          )
        }
      })
    )
  })

  it("have a direction only where one follows the other", () => {
    const second = {
      policyVersion: 2,
      changes: [{ path: "/fees/subscription", from: "0", to: "0.1", direction: "tighten" }]
    }
    const path = "/fees/subscription"
    expect(Instrument.directionsOf({ policyVersion: 1 }, second).get(path)).toBe("tighten")
    expect(Instrument.directionsOf({ policyVersion: 0 }, second).size).toBe(0)
    expect(Instrument.directionsOf(second, { policyVersion: 1 }).size).toBe(0)
  })
})

describe("a register", () => {
  const line = (units: string) => ({
    holderId: null,
    party: "p::1220",
    units,
    locked: "0",
    pendingIn: "0",
    pendingOut: "0",
    share: "0",
    admissionState: null,
    since: "2026-07-31"
  })
  const head = (totalUnits: string, difference: string) => ({
    totalUnits,
    difference,
    supplyOnLedger: totalUnits,
    holders: 2
  })

  it("adds up or does not, to the last place of any size", () => {
    const lines = [line("9007199254740993.0000000001"), line("0.0000000001")]
    const sums = (total: string) => Instrument.addsUp({ head: head(total, "0"), lines })
    expect(sums("9007199254740993.0000000002")).toBe(true)
    expect(sums("9007199254740993.0000000003")).toBe(false)
    expect(Instrument.addsUp({ head: head("0.00", "0"), lines: [] })).toBe(true)
  })

  it("differs from the ledger by anything but zero, however it is written", () => {
    expect(Instrument.isWhole({ head: head("1", "0.0000000000"), lines: [] })).toBe(true)
    expect(Instrument.isWhole({ head: head("1", "-0.0000000001"), lines: [] })).toBe(false)
  })
})

describe("a line over time", () => {
  it("breaks where there is no figure, and names the least and the greatest as they came", () => {
    const points = ["1.50", null, "0.25", "9007199254740993.1"].map((value, at) => ({
      at: `2026-07-0${at + 1}T00:00:00Z`,
      value
    }))
    const { least, most, paths } = Line.drawnOf(points)
    expect([least, most, paths.length]).toEqual(["0.25", "9007199254740993.1", 2])
    expect(Line.drawnOf([]).paths).toEqual([])
    expect(paths.join("")).not.toContain("NaN")
  })
})

describe("the pages of restrictions, holds, cycles and standing settlements", () => {
  const columns = [
    ["restrictions.list", Restraint.restrictionColumns],
    ["restrictions.get", Restraint.restrictionFacts],
    ["holds.list", Restraint.holdColumns],
    ["holds.get", Restraint.holdFacts],
    ["findings.list", Restraint.findingColumns],
    ["dealing-cycles.list", Cycle.cycleColumns],
    ["dealing-cycles.get", Cycle.cycleFacts],
    ["standing-settlements.list", Cycle.standingColumns],
    ["standing-settlements.get", Cycle.standingFacts]
  ] as const
  it.each(columns)("show members that %s answers", (read, rows) => {
    const answered = membersOf(read)
    expect(Columns.membersOf(rows).filter((member) => !answered.has(member))).toEqual([])
  })

  it("have a sentence for each mode, and show one that this build does not know by its word", () => {
    expect([...Restraint.listedModes].toSorted()).toEqual(
      [...Vocabulary.RestrictionMode.members].toSorted()
    )
    for (const mode of Restraint.listedModes) expect(Restraint.passesAgain(mode)).toMatch(/holder/u)
    expect(Restraint.modeText("look-only")).toBe("look only")
    expect(Restraint.passesAgain("look-only")).toMatch(/passes again/u)
  })

  it("name the findings in the way of a release: blocking and open, no other", () => {
    const finding = (findingId: string, severity: string, state: string) => ({
      findingId,
      severity,
      state
    })
    expect(
      Restraint.inTheWay([
        finding("f1", "blocking", "open"),
        finding("f2", "warning", "open"),
        finding("f3", "blocking", "cleared"),
        finding("f4", "blocking", "accepted")
      ])
    ).toEqual(["f1"])
  })

  it("have a sentence for each act of a cycle and of a standing settlement", () => {
    for (const kind of ["dealing-cycle", "standing-settlement"] as const) {
      const acts = Object.values(StateActs.actsByState[kind]).flat()
      expect(acts.filter((act) => Cycle.cycleSays[act] === undefined)).toEqual([])
    }
  })
})

describe("a tax statement", () => {
  const opened = { holderId: "h-1", year: "2026", zone: "UTC", nth: 1 }

  it("is shown of the holder and in the zone that it was opened for, and else not read", () => {
    expect(Holder.openedIn(opened, { holderId: "h-1", zone: "UTC" })).toBe(opened)
    expect(Holder.openedIn(opened, { holderId: "h-1", zone: "Europe/Berlin" })).toBe(null)
    expect(Holder.openedIn(opened, { holderId: "h-2", zone: "UTC" })).toBe(null)
    expect(Holder.openedIn(null, { holderId: "h-1", zone: "UTC" })).toBe(null)
  })
})

describe("the version that a new policy replaces", () => {
  it("is the highest that was not withdrawn, one that is scheduled too", () => {
    const version = (policyVersion: number, state: string) => ({ policyVersion, state })
    const versions = [
      version(11, "withdrawn"),
      version(10, "scheduled"),
      version(9, "current"),
      version(1, "superseded")
    ]
    expect(Instrument.lastSet(versions)).toBe("10")
    expect(Instrument.lastSet(versions.toReversed())).toBe("10")
    expect(Instrument.lastSet([])).toBe(null)
    expect(Instrument.lastSet([version(1, "withdrawn")])).toBe(null)
  })
})

describe("rows of many restrictions", () => {
  const members = fieldsOf(
    schemas.requests["holder.restrict-batch"]?.body ?? {},
    schemas.components
  )

  it("are entries of the request, in which only what was written stands", () => {
    const { faults, rows } = Restraint.pastedRows(
      "holderId,instrumentId,mode,reason\nh-1;elf;freeze;court-order;Court;X 1;" +
        `${"0a".repeat(32)};2027-01-01T00:00:00Z\r\n\nh-2,,receive-only,lost-key`
    )
    expect(faults).toEqual([])
    expect(rows).toEqual([
      {
        line: 2,
        entry: {
          holderId: "h-1",
          instrumentId: "elf",
          mode: "freeze",
          reason: "court-order",
          order: { authority: "Court", reference: "X 1", documentHash: "0a".repeat(32) },
          autoReleaseAt: "2027-01-01T00:00:00Z"
        }
      },
      { line: 4, entry: { holderId: "h-2", mode: "receive-only", reason: "lost-key" } }
    ])
    const entered = enteredOf(members, { entries: rows.map(({ entry }) => entry) })
    expect([...entered.faults]).toEqual([])
    expect(entered.input).toEqual({ entries: rows.map(({ entry }) => entry) })
  })

  it.each([
    ["no holder", ",,freeze,other", "the holder's id"],
    ["an id that leads elsewhere", "../x,,freeze,other", "the holder's id"],
    ["no mode", "h-1,,,other", "the mode is missing"],
    ["no reason", "h-1,,freeze", "the reason is missing"],
    ["half an order", "h-1,,freeze,other,Court", "an order has"],
    ["a hash that is none", "h-1,,freeze,other,Court,X,beef", "no SHA-256"],
    ["an end of another form", "h-1,,freeze,other,,,,tomorrow", "no instant"],
    ["a cell too many", "h-1,,freeze,other,,,,,more", "more than 8 cells"]
  ])("with %s have a fault at their line", (_, row, words) => {
    const { faults } = Restraint.pastedRows(`h-0,,freeze,other\n${row}`)
    expect(faults.map(({ line }) => line)).toEqual([2])
    expect(faults[0]?.detail).toContain(words)
  })

  it("that restrict one holder twice in the same place are found", () => {
    const { faults } = Restraint.pastedRows(
      "h-1,elf,freeze,other\nh-1,glf,freeze,other\nh-1,elf,freeze,other"
    )
    expect(faults).toEqual([{ line: 3, detail: "line 1 restricts the same holder there" }])
  })
})

describe("a dealing cycle", () => {
  const party = fc.constantFrom("fund::1220", "a::1220", "b::1220")
  const leg = fc.record({
    from: party,
    to: party,
    asset: fc.constantFrom({ admin: "r::1220", id: "USD" }, { admin: "r::1220", id: "ELF" }),
    amount: fc
      .tuple(fc.bigInt({ min: 0n, max: 10n ** 24n }), fc.stringMatching(/^[0-9]{1,10}$/u))
      .map(([whole, rest]) => `${whole}.${rest}`)
  })

  it("has legs whose nets by party add up to nothing of any asset, and one changed amount shows", () => {
    fc.assert(
      fc.property(fc.array(leg, { minLength: 1 }), (legs) => {
        const nets = Cycle.netsOf(Cycle.legsOf({ legs }))
        expect(Cycle.isBalanced(nets)).toBe(true)
        const [first, ...rest] = nets
        if (first === undefined) return
        const off = { ...first, net: Decimals.sum([first.net, "0.0000000001"]) }
        expect(Cycle.isBalanced([off, ...rest])).toBe(false)
      })
    )
  })

  it("shows each figure of today and of a supposition once, and marks those that differ", () => {
    const today = { currency: "USD", price: "1.0437", gross: { subscribed: "5", minted: "2" } }
    const other = {
      currency: "USD",
      price: "1.0437",
      gross: { subscribed: "6", minted: "2" },
      gate: { factor: "0.5" }
    }
    const rows = Cycle.besides(Cycle.cycleFigures(today), Cycle.cycleFigures(other))
    expect(rows.map(({ differs, name }) => [name, differs])).toEqual([
      ["Price of a unit", false],
      ["Subscribed", true],
      ["Minted", false],
      ["Gate factor", true]
    ])
    expect(Cycle.besides([], [])).toEqual([])
  })

  it("supposes what an address says in the form of a figure, and nothing else", () => {
    const { supposed, supposedText } = Cycle
    const named = (query: string) => supposed(new URLSearchParams(query)).named
    const faulty = (query: string) => Object.keys(supposed(new URLSearchParams(query)).faults)
    expect(named("price=1.05&policyVersion=2")).toEqual({ price: "1.05", policyVersion: "2" })
    expect(named("price=-1&policyVersion=x")).toBe(null)
    expect(named("price=1e9")).toBe(null)
    expect(faulty("price=1.05&policyVersion=2")).toEqual([])
    expect(faulty("")).toEqual([])
    // A version beside a price that is none would be shown as if both were supposed.
    expect(named("price=101,5&policyVersion=2")).toBe(null)
    expect(faulty("price=101,5&policyVersion=2")).toEqual(["price"])
    expect(faulty("price=-1&policyVersion=x")).toEqual(["price", "policyVersion"])
    expect(supposedText({ price: "1.05" })).toBe("Supposed: a price of 1.05; nothing is written")
    expect(supposedText({ price: "1.05", policyVersion: "2" })).toBe(
      "Supposed: a price of 1.05 and policy version 2; nothing is written"
    )
    expect(named("")).toBe(null)
  })

  it("names what a party has committed of what it puts in", () => {
    const asset = { admin: "r::1220", id: "USD" }
    const funding = [
      { party: "a::1220", asset, amount: "5" },
      { party: "b::1220", asset, amount: "7" }
    ]
    const committed = [
      { party: "a::1220", asset, amount: "2.5" },
      { party: "a::1220", asset, amount: "2.50" }
    ]
    expect(Cycle.fundingOf({ funding, committed }).map((row) => row.committed)).toEqual([
      "5.00",
      null
    ])
    expect(Cycle.fundingOf({})).toEqual([])
  })
})

describe("a link to a record", () => {
  it("leads, for each role, to pages that its reads admit, and to no other", () => {
    for (const role of Vocabulary.Role.members) {
      const mayRead = (read: string) => table.reads[read]?.roles.includes(role) === true
      expect([role, Open.mayOpen("instruments/elf?tab=policy", mayRead)]).toEqual([
        role,
        mayRead("instruments.get")
      ])
      expect([role, Open.mayOpen("findings/f-1", mayRead)]).toEqual([role, mayRead("findings.get")])
      expect([role, Open.mayOpen("approvals/a-1", mayRead)]).toEqual([
        role,
        mayRead("approvals.get")
      ])
      expect(Open.mayOpen("a-page-to-come/x", mayRead)).toBe(false)
    }
  })

  it("knows a page for each kind of record that has one", () => {
    const lost = Resources.kindsWithPage.filter((kind) => {
      const path = Resources.pageOfResource(kind, "x")
      return path === null || !Open.mayOpen(path, () => true)
    })
    expect(lost).toEqual([])
  })
})
