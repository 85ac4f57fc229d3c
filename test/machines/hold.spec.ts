/**
 * Holds and the findings behind them: the moves of each fact in each state, and the parties that
 * each state waits for.
 */
import { Decimal, Instant, Offset } from "@bursar/engine-core/kernel"
import { describe, expect, it } from "vitest"
import { type Hold, holds, decide, evolve, type Fact } from "#core/restraints/hold/Hold.ts"
import * as Invariant from "#core/kernel/Invariant.ts"
import {
  evolve as evolveFinding,
  type Fact as FindingFact,
  type Finding,
  findings,
  first,
  type Sighting
} from "#core/findings/Finding.ts"
import { id, party } from "./subscriptions.ts"

const at = (hour: number) => Instant.of(`2026-07-30T${String(hour).padStart(2, "0")}:00:00Z`)

const manual: Hold = {
  holdId: id("hold-1"),
  instrumentId: id("fund-a"),
  registrar: party("registrar"),
  source: "manual",
  blocks: ["all"],
  reason: "a wrong price is out",
  findings: [],
  runId: null,
  cover: null,
  state: "open",
  openedAt: at(1),
  by: "olga",
  until: at(2),
  releasedAt: null,
  releasedBy: [],
  override: null
}
const ofRun: Hold = {
  ...manual,
  source: "reconciliation",
  blocks: ["distribution"],
  findings: ["f1", "f2"],
  runId: "run-1",
  by: null,
  until: null
}
const cover = { reserveId: "res-1", ratio: Decimal.of("0.9"), minCover: Decimal.of("1.02") }
const ofCover: Hold = { ...ofRun, source: "cover", blocks: ["mint", "distribution"], cover }

const join: Fact = { on: "join", runId: "run-2", findings: ["f2", "f3"] }
const release: Extract<Fact, { on: "release" }> = {
  on: "release",
  at: at(3),
  by: ["anna", "ben"],
  override: null,
  operationId: "op-1"
}

describe("a hold", () => {
  it("takes more findings in while it is open, each once, and is released once", () => {
    expect(evolve(ofRun, join)).toEqual({ ...ofRun, findings: ["f1", "f2", "f3"] })
    expect(evolve(manual, release)).toEqual({
      ...manual,
      state: "released",
      releasedAt: at(3),
      releasedBy: ["anna", "ben"]
    })
    expect(() => evolve(evolve(manual, release), release)).toThrow(/corrupt history/u)
    expect(decide(manual, "release")).toMatchObject({ _tag: "Success" })
    expect(decide(evolve(manual, release), "release")).toMatchObject({
      _tag: "Failure",
      failure: { slug: "state-conflict" }
    })
  })

  it("never ends by the clock, or waits for nobody while it is open", () => {
    expect(holds.due(manual)).toBeUndefined()
    expect(holds.waitingOn(manual)).toEqual([
      { role: "operator", action: "hold.release", by: null },
      { role: "risk", action: "hold.release", by: null }
    ])
    expect(holds.waitingOn(evolve(manual, release))).toEqual([])
  })

  it("never is told of as what it is not", () => {
    const announcedBy = (self: Hold, fact?: Fact) =>
      holds
        .announce(self, fact)
        .map(({ type, resourceKind, resourceId, instrumentId, payload }) => [
          type,
          resourceKind,
          resourceId,
          instrumentId,
          payload
        ])
    expect(announcedBy(manual)).toMatchObject([
      ["instrument.paused", "instrument", "fund-a", "fund-a", { holdId: "hold-1", blocks: ["all"] }]
    ])
    expect(announcedBy(ofRun)).toMatchObject([
      ["reconciliation.hold", "hold", "hold-1", "fund-a", { runId: "run-1" }]
    ])
    expect(announcedBy(ofCover)).toMatchObject([
      ["reserve.cover-low", "reserve", "res-1", "fund-a", { holdId: "hold-1", runId: "run-1" }]
    ])
    expect(announcedBy(evolve(ofRun, join), join)).toEqual([])
    const override = { findings: ["f1"], reason: "known" }
    const released = { ...release, override }
    expect(announcedBy(evolve(ofRun, released), released)).toMatchObject([
      ["hold.released", "hold", "hold-1", "fund-a", { source: "reconciliation" }]
    ])
  })

  it.each<[broken: string, self: Hold]>([
    ["released at no time", { ...manual, state: "released" }],
    ["overridden while it is open", { ...ofRun, override: { findings: ["f1"], reason: "r" } }],
    [
      "released over a finding that is none of its own",
      { ...evolve(ofRun, release), override: { findings: ["f9"], reason: "r" } }
    ],
    ["manual, and nobody's", { ...manual, by: null }],
    ["a run's, and somebody's", { ...ofRun, by: "olga" }],
    ["low of a cover it does not name", { ...ofCover, cover: null }],
    ["twice on one finding", { ...ofRun, findings: ["f1", "f1"] }]
  ])("is %s", (_, self) => {
    expect(Invariant.breaches(holds.invariants, self).length).toBeGreaterThan(0)
  })

  it.each([manual, ofRun, ofCover, evolve(ofRun, release)])(
    "of its kind is refused: %o",
    (self) => {
      expect(Invariant.breaches(holds.invariants, self)).toEqual([])
    }
  )
})

const sighting: Sighting = {
  runId: "run-1",
  severity: "blocking",
  expected: Decimal.of("100"),
  actual: Decimal.of("90"),
  difference: Decimal.of("-10"),
  unit: "units",
  tolerance: Decimal.zero,
  explained: { amount: Decimal.zero, by: [] },
  unexplained: Decimal.of("-10"),
  asOf: { offset: Offset.zero, instant: at(1) },
  comparedAt: null,
  statementId: null,
  missingDates: [],
  entry: null
}
const opened = first(
  {
    findingId: id("f1"),
    check: "register-supply",
    instrumentId: "fund-a",
    subject: { resourceKind: "instrument", id: "fund-a" },
    holderId: null
  },
  sighting
)
const accept: FindingFact = {
  on: "accept",
  accepted: {
    unexplained: Decimal.of("-10"),
    reason: "known",
    holdId: "hold-1",
    operationId: "op-1",
    at: at(2)
  }
}
const clear: FindingFact = { on: "clear", runId: "run-2" }
const stop: FindingFact = { on: "stop", holdId: "hold-1" }
const laterSighting: Sighting = {
  ...sighting,
  runId: "run-9",
  asOf: { ...sighting.asOf, instant: at(23) }
}
const see: FindingFact = { on: "see", seen: laterSighting }
const reopen: FindingFact = { on: "reopen", seen: laterSighting }

const inState: Readonly<Record<Finding["state"], Finding>> = {
  open: opened,
  cleared: evolveFinding(opened, clear),
  accepted: evolveFinding(opened, accept)
}

describe("a finding", () => {
  it.each<[from: Finding["state"], fact: FindingFact, to: Finding["state"]]>([
    ["open", see, "open"],
    ["open", clear, "cleared"],
    ["open", accept, "accepted"],
    ["open", stop, "open"],
    ["cleared", reopen, "open"],
    ["accepted", see, "accepted"],
    ["accepted", clear, "cleared"],
    ["accepted", reopen, "open"]
  ])("%s: %o leads nowhere else", (from, fact, to) => {
    const after = evolveFinding(inState[from], fact)
    expect(after.state).toBe(to)
    expect(after.findingId).toBe(opened.findingId)
    expect(after.firstSeenRunId).toBe("run-1")
    expect(Invariant.breaches(findings.invariants, after)).toEqual([])
  })

  it.each<[from: Finding["state"], fact: FindingFact]>([
    ["open", reopen],
    ["cleared", see],
    ["cleared", clear],
    ["cleared", accept],
    ["cleared", stop],
    ["accepted", accept],
    ["accepted", stop]
  ])("%s: %o is a corrupt history", (from, fact) => {
    expect(() => evolveFinding(inState[from], fact)).toThrow(/corrupt history/u)
  })

  it("never counts its runs and its days from another one than the first", () => {
    expect(opened).toMatchObject({ seenRuns: 1, ageDays: 0 })
    const days = (instant: Instant.Instant) => {
      const again = { ...laterSighting, asOf: { ...laterSighting.asOf, instant } }
      return evolveFinding(inState.cleared, { on: "reopen", seen: again })
    }
    expect(days(Instant.of("2026-07-31T00:59:59Z"))).toMatchObject({ seenRuns: 2, ageDays: 0 })
    expect(days(Instant.of("2026-07-31T01:00:00Z"))).toMatchObject({ seenRuns: 2, ageDays: 1 })
    expect(days(Instant.of("2026-09-01T00:00:00Z"))).toMatchObject({ ageDays: 32 })
  })

  it("that stops its instrument waits for the hold's release, and no other does", () => {
    const stopping = evolveFinding(opened, stop)
    expect(findings.waitingOn(stopping)).toMatchObject([{ role: "operator" }, { role: "risk" }])
    expect(findings.waitingOn(opened)).toEqual([])
    expect(findings.waitingOn({ ...stopping, severity: "warning" })).toEqual([])
    expect(findings.waitingOn(evolveFinding(stopping, accept))).toEqual([])
  })

  it.each<[broken: string, self: Finding]>([
    ["accepted by nobody", { ...opened, state: "accepted" }],
    ["accepted and open", { ...inState.accepted, state: "open" }],
    ["off by another difference", { ...opened, difference: Decimal.of("10") }],
    ["off by none that is said", { ...opened, difference: null }],
    [
      "explained by less than it says",
      { ...opened, explained: { amount: Decimal.of("-4"), by: [] }, unexplained: Decimal.of("-6") }
    ],
    ["unexplained by more than is left", { ...opened, unexplained: Decimal.of("-11") }],
    ["seen by no run", { ...opened, seenRuns: 0 }]
  ])("is %s", (_, self) => {
    expect(Invariant.breaches(findings.invariants, self).length).toBeGreaterThan(0)
  })
})
