/** The arithmetic of the faults program, on rows that are written down. */
import { describe, expect, it } from "vitest"
import { type Entry, lineOf, type Observed, outcomeOf, sumOf } from "./faults.ts"

const entry = (job: string, worker: string, at: number): Entry => ({ job, worker, at })

/** The victim stops at 1,000 in the middle of b and c, having ended a; another worker ends d. */
const observed: Observed = {
  orders: ["a", "b", "c", "d"],
  begun: [
    entry("a", "victim", 100),
    entry("b", "victim", 900),
    entry("c", "victim", 950),
    entry("d", "survivor", 960),
    entry("b", "survivor", 4_000),
    entry("c", "survivor", 6_000)
  ],
  steps: [
    entry("a", "victim", 400),
    entry("d", "survivor", 1_260),
    entry("b", "survivor", 4_300),
    entry("c", "survivor", 6_300)
  ],
  victim: "victim",
  stoppedAt: 1_000,
  resumedAt: null
}

describe("the outcome of a fault", () => {
  it("takes the jobs that a killed worker began and never ended as interrupted", () => {
    expect(outcomeOf(observed)).toEqual({
      jobs: 4,
      interrupted: 2,
      lost: 0,
      begunTwice: 2,
      writtenTwice: 0,
      lateFinishes: 0,
      lateAccepted: 0,
      takeovers: [3, 5]
    })
  })

  it("counts a job without a step as lost, taken over or not", () => {
    const begun = observed.begun.filter(({ at }) => at < 6_000)
    const steps = observed.steps.filter(({ job }) => job !== "c")
    const outcome = outcomeOf({ ...observed, begun, steps })
    expect(outcome).toMatchObject({ interrupted: 2, lost: 1, takeovers: [3] })
  })

  it("takes a step of the paused worker as a late finish once another worker has begun the job", () => {
    const resumed = {
      ...observed,
      resumedAt: 5_000,
      steps: [...observed.steps, entry("b", "victim", 5_001), entry("c", "victim", 5_002)]
    }
    // Job c was not taken over before the paused worker was resumed, so its finish is not late.
    expect(outcomeOf(resumed)).toMatchObject({
      interrupted: 2,
      writtenTwice: 2,
      lateFinishes: 1,
      lateAccepted: 1
    })
    expect(outcomeOf({ ...resumed, steps: observed.steps })).toMatchObject({
      lateFinishes: 1,
      lateAccepted: 0
    })
  })

  it("adds runs, and prints the median of all takeovers between their extremes", () => {
    const outcome = sumOf([outcomeOf(observed), outcomeOf({ ...observed, resumedAt: 7_000 })])
    expect(lineOf("lease queue", "paused", outcome)).toBe(
      "| lease queue | paused | 8 | 4 | 0 | 4 | 0 | 0 of 2 | 4.0 (3.0–5.0) |"
    )
  })
})
