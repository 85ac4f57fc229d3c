/** The table of a ledger write: every state of what is known, every answer, and the one move of each. */
import { Instant, Problem } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import { Duration } from "effect"
import { describe, expect, it } from "vitest"
import * as Rules from "#core/writes/LedgerWriteRules.ts"

type Progress = Rules.LedgerWriteProgress
type Move = Rules.Move

const committed: Rules.StepCommit = { updateId: "u", offset: 7 as Rules.StepCommit["offset"] }
/** A commit before the snapshot that the ledger epoch began with. */
const behind: Rules.StepCommit = { ...committed, isBehind: true }
const receiptOr = [undefined, null, committed, behind] as const
/** Abandoned for a reason, and to be planned anew. */
const abandoned = {
  at: Instant.of("2026-01-05T09:00:00Z"),
  failure: { problem: Problem.internal("r") }
}
const replanned = { at: abandoned.at }
const isDivided = (move: Move): boolean => move.move === "plan" && move.refusal !== undefined
const step = { step: 1, replan: 0, last: true, dedupOffset: 5 as Rules.PlannedStep["dedupOffset"] }
/** A step of many items, and one that lost so many of them that it loses no more. */
const ofMany = { ...step, items: ["a", "b"] }
const lastOfMany = {
  ...step,
  items: ["a"],
  leftOut: Rules.leftOutMax,
  divided: 1,
  replan: Rules.replansMax + 1
}

const at = (positions: { readonly end: number; readonly head: number; readonly horizon: number }) =>
  positions as NonNullable<Progress["positions"]>

const markerAt = 9 as NonNullable<Progress["spentAt"]>
/** A step that was refused as stale while the ledger's end was 8. */
const stale = { ...step, staleEnd: 8 as NonNullable<Rules.PlannedStep["staleEnd"]> }

/** Every value that a member may have, as far as the rules can tell one from another. */
const domain = {
  state: ["queued", "running", "succeeded", "failed"],
  step: [
    null,
    step,
    { ...step, last: false },
    { ...step, replan: Rules.replansMax },
    { ...step, step: 2 },
    { ...step, abandoned },
    { ...step, last: false, abandoned: replanned },
    { ...step, abandoned: replanned },
    ofMany,
    { ...ofMany, replan: Rules.replansMax },
    stale,
    lastOfMany
  ],
  isSpent: [undefined, true],
  isProjected: [undefined, false, true],
  committed: receiptOr,
  isPreviousAnswered: [false, true],
  attempt: [1, 9],
  age: [0, 60_000, 60_001],
  inDoubtFor: [null, 0, Rules.certainAfter - 1, Rules.certainAfter],
  positions: [
    undefined,
    at({ end: 9, head: 9, horizon: 5 }),
    at({ end: 9, head: 8, horizon: 5 }),
    at({ end: 9, head: 9, horizon: 6 })
  ],
  dedup: ["since-planned", "since-projected"],
  giveUpAfter: [60_000]
} as const

const product = (
  members: ReadonlyArray<readonly [string, ReadonlyArray<unknown>]>
): Array<object> =>
  members.reduce<Array<object>>(
    (rows, [name, values]) =>
      rows.flatMap((row) =>
        values.map((value) => (value === undefined ? row : { ...row, [name]: value }))
      ),
    [{}]
  )

const all = (product(Object.entries(domain)) as ReadonlyArray<Progress>).flatMap((progress) =>
  // The ledger shows the marker, or the projection has read it.
  progress.isSpent === true ? [progress, { ...progress, spentAt: markerAt }] : [progress]
)
const sent = all.filter(
  (progress): progress is Rules.SentProgress =>
    progress.step !== null && progress.state === "running"
)

const refusal = (code: string) =>
  new Ledger.Refused({ code, cause: "no", category: 9, context: {}, resources: [] })
const retryAfter = Duration.seconds(2)
const answers = {
  receipt: Rules.receipt,
  busy: new Ledger.Busy({ ...refusal("BUSY"), retryAfter }),
  unreachable: new Ledger.Unreachable({ detail: "away", retryAfter }),
  unknown: new Ledger.OutcomeUnknown({ commandId: "c", why: "cut", retryAfter }),
  protocol: new Ledger.ProtocolError({ detail: "no receipt" }),
  refused: refusal("DAML_FAILURE"),
  stale: refusal("CONTRACT_NOT_FOUND"),
  unsupported: new Ledger.DedupUnsupported({}),
  signedOut: new Ledger.NotAuthorized({ http: 401, detail: "token" }),
  forbidden: new Ledger.NotAuthorized({ http: 403, detail: "right" })
} as const
type Answer = keyof typeof answers
const answerNames = Object.keys(answers) as ReadonlyArray<Answer>

/** The move after an answer: to the step, or to the marker of a step that is abandoned. */
const moveAfter = (answer: Answer, progress: Rules.SentProgress): Move =>
  progress.step.abandoned === undefined
    ? Rules.afterAnswer(answers[answer], progress)
    : Rules.afterSpending(answers[answer], progress)

interface Row {
  readonly progress: Progress
  /** Answer to the latest submission; null: this lease has sent none. */
  readonly answer: Answer | null
  readonly move: Move
}

const rows: ReadonlyArray<Row> = [
  ...all.map((progress) => ({ progress, answer: null, move: Rules.next(progress) })),
  ...answerNames.flatMap((answer) =>
    sent.map((progress) => ({
      progress,
      answer,
      move: moveAfter(answer, progress)
    }))
  )
]

/** The first rows that break a law, so that a red test shows them. */
const breaking = (isBroken: (row: Row) => boolean) => rows.filter(isBroken).slice(0, 3)

const isEnded = ({ state }: Progress) => state === "succeeded" || state === "failed"
/** The projection has read as far as the ledger was at the first stale answer. */
const isStaleRead = ({ positions, step }: Progress) =>
  positions !== undefined && positions.head >= (step?.staleEnd ?? positions.end)
/** The projection has read the marker, which came after the stale answer. */
const isMarkerRead = ({ positions, spentAt }: Progress) =>
  spentAt === undefined || (positions !== undefined && positions.head >= spentAt)
/** By what is on record and looked up: nothing of the step has committed, nor will. */
const isAbsent = ({ committed, inDoubtFor }: Progress) =>
  inDoubtFor === null || (inDoubtFor >= Rules.certainAfter && committed === null)
const isKnownCommitted = ({ committed, isProjected }: Progress) =>
  isProjected === true || (committed !== null && committed !== undefined)

describe("a ledger write, whatever is known and answered", () => {
  it("has a row for every state of what is known and every answer", () => {
    expect(rows.length).toBe(all.length + answerNames.length * sent.length)
    expect(new Set(rows.map(({ move }) => move.move))).toEqual(
      new Set([
        ...["finish", "plan", "send", "wait", "doubt", "note", "conclude", "refuse", "look-up"],
        ...["abandon", "spend", "end", "await-stale"]
      ])
    )
  })

  it("leaves the queue exactly when the operation has ended", () => {
    expect(
      breaking(({ answer, move, progress }) =>
        answer === null ? (move.move === "finish") !== isEnded(progress) : move.move === "finish"
      )
    ).toEqual([])
  })

  it("keeps its command id while an earlier command may commit", () => {
    expect(
      breaking(
        ({ answer, move, progress }) =>
          move.move === "plan" &&
          progress.step !== null &&
          // The next step is planned once the projection has read the commit of the one before, or
          // will never read it.
          !(answer === null && progress.isProjected === true && !progress.step.last) &&
          !(answer === null && progress.committed?.isBehind === true && !progress.step.last) &&
          !(
            (answer === "stale" || isDivided(move)) &&
            progress.inDoubtFor === null &&
            progress.committed === null
          ) &&
          progress.isSpent !== true
      )
    ).toEqual([])
  })

  it("is divided by a refusal alone that is certain, and of a step that has items", () => {
    expect(rows.some(({ move }) => isDivided(move))).toBe(true)
    expect(
      breaking(
        ({ answer, move, progress }) =>
          isDivided(move) &&
          !(
            (answer === "refused" || answer === "stale") &&
            progress.inDoubtFor === null &&
            progress.committed === null &&
            (progress.step?.items ?? []).length > 0
          )
      )
    ).toEqual([])
  })

  it("is planned anew for a contract that was used up only once the projection has read who used it", () => {
    expect(
      breaking(({ answer, move, progress }) => {
        if (move.move !== "plan" || progress.step === null) return false
        const isAfterSpent = answer === null || progress.step.abandoned !== undefined
        if (isAfterSpent) return progress.isSpent === true && !isMarkerRead(progress)
        return answer === "stale" && !isStaleRead(progress)
      })
    ).toEqual([])
  })

  it("waits for the projection as far as the ledger was at the first stale answer, and no further", () => {
    const isAwaited = ({ move }: Row) =>
      move.move === "await-stale" || (move.move === "wait" && move.millis === 250)
    expect(
      breaking(
        (row) =>
          isAwaited(row) &&
          row.answer === "stale" &&
          (row.progress.positions?.head ?? 0) >= (row.progress.step?.staleEnd ?? 9)
      )
    ).toEqual([])
    // The end is recorded by the first answer, and never moved by a later one.
    expect(
      breaking(
        ({ move, progress: { positions, step } }) =>
          move.move === "await-stale" &&
          (step?.staleEnd !== undefined || move.staleEnd !== positions?.end)
      )
    ).toEqual([])
  })

  it("never is sent again where its commit is known", () => {
    expect(
      breaking(
        ({ answer, move, progress }) =>
          answer === null && move.move === "send" && isKnownCommitted(progress)
      )
    ).toEqual([])
  })

  it("succeeds by a commit that the projection never reads where that was its last step, and by no other", () => {
    expect(
      breaking(
        ({ answer, move, progress }) =>
          (move.move === "conclude") !==
          (answer === null &&
            !isEnded(progress) &&
            progress.isProjected === false &&
            progress.isSpent !== true &&
            progress.committed?.isBehind === true &&
            progress.step?.last === true)
      )
    ).toEqual([])
  })

  it("does not fail while a submission of it may still commit", () => {
    expect(
      breaking(
        ({ move, progress }) =>
          (move.move === "refuse" && progress.inDoubtFor !== null) ||
          (move.move === "end" && progress.isSpent !== true)
      )
    ).toEqual([])
  })

  it("is abandoned only where a submission of it may still commit, and the ledger shows none", () => {
    expect(
      breaking(
        ({ move, progress }) =>
          move.move === "abandon" && (progress.inDoubtFor === null || !isAbsent(progress))
      )
    ).toEqual([])
  })

  it("never is sent again once it is abandoned, and its command id is spent only then", () => {
    expect(
      breaking(
        ({ move, progress }) =>
          (move.move === "send" && progress.step?.abandoned !== undefined) ||
          (move.move === "spend" &&
            (progress.step?.abandoned === undefined || progress.isSpent === true))
      )
    ).toEqual([])
  })

  it("is known to have committed, or stays running, whatever the ledger answers to its marker", () => {
    expect(
      breaking(
        ({ answer, move, progress }) =>
          answer !== null &&
          progress.step?.abandoned !== undefined &&
          progress.isSpent !== true &&
          !["wait", "note", "look-up", "spend"].includes(move.move)
      )
    ).toEqual([])
  })

  it("fails by the ledger's refusal, a missing right or a ledger that did not take it in time", () => {
    expect(
      breaking(({ answer, move, progress }) => {
        if (move.move !== "refuse" && move.move !== "abandon") return false
        if (answer === "refused" || answer === "stale" || answer === "forbidden") return false
        const isLate = progress.age > progress.giveUpAfter
        return !(
          isLate &&
          (answer === "busy" || answer === "unreachable" || answer === "signedOut")
        )
      })
    ).toEqual([])
  })

  it("is planned anew at most three times because its contract was used up", () => {
    expect(
      breaking(
        ({ move, progress }) =>
          move.move === "plan" &&
          move.replan - (progress.step?.divided ?? 0) > Rules.replansMax &&
          progress.isSpent !== true &&
          !isDivided(move)
      )
    ).toEqual([])
  })

  it("is in doubt after every answer that leaves it open, and after no other", () => {
    expect(
      breaking(
        ({ answer, move, progress }) =>
          answer !== null &&
          progress.step?.abandoned === undefined &&
          (move.move === "doubt") !== (answer === "unknown" || answer === "protocol")
      )
    ).toEqual([])
  })

  it("is in doubt before it is sent again after a lease without an answer", () => {
    expect(
      breaking(
        ({ answer, move, progress }) =>
          answer === null && move.move === "send" && !progress.isPreviousAnswered
      )
    ).toEqual([])
  })

  it("is judged again before it is sent, unless it may have committed", () => {
    expect(
      breaking(
        ({ answer, move, progress }) =>
          answer === null && move.move === "send" && move.isJudged !== isAbsent(progress)
      )
    ).toEqual([])
  })

  it("looks up only what is not known yet, so that a move follows after three look-ups at most", () => {
    expect(
      breaking(({ move, progress }) => move.move === "look-up" && progress[move.what] !== undefined)
    ).toEqual([])
  })

  it("pauses before the same is tried again", () => {
    expect(breaking(({ move }) => move.move === "wait" && move.millis < 50)).toEqual([])
  })

  it("may be given up after a fault at once exactly where nothing of it may commit", () => {
    const wrong = all.filter((progress) => {
      const may = Rules.mayGiveUp(progress)
      if (typeof may !== "string") return progress[may.what] !== undefined
      const { inDoubtFor, isProjected, isSpent, step } = progress
      const isDecided = step === null || isSpent === true
      const isSafe = isDecided || (isProjected === true ? !step.last : inDoubtFor === null)
      return (may === "at-once") !== isSafe
    })
    expect(wrong.slice(0, 3)).toEqual([])
  })

  it("is given up once its command id is spent where it may commit and the ledger shows none", () => {
    const wrong = all.filter((progress) => {
      const { committed, isProjected, step } = progress
      return (
        Rules.mayGiveUp(progress) === "once-spent" &&
        (step?.abandoned !== undefined || isProjected === true || committed !== null)
      )
    })
    expect(wrong.slice(0, 3)).toEqual([])
  })
})

// ---- the table ----------------------------------------------------------------------------------

const fresh: Progress = {
  state: "running",
  step,
  isPreviousAnswered: true,
  attempt: 2,
  age: 0,
  inDoubtFor: null,
  dedup: "since-planned",
  giveUpAfter: 60_000
}

/** A move in one word, with what tells it from others of its kind. */
const textOfMove = (move: Move): string => {
  switch (move.move) {
    case "look-up":
      return `look up ${move.what}`
    case "plan":
      return `plan ${move.step}.${move.replan}${isDivided(move) ? ", divided" : ""}`
    case "send":
      return `send ${move.dedup}${move.isJudged ? ", judged" : ""}`
    case "wait":
      return `wait ${move.millis}${move.alarm === undefined ? "" : ", alarm"}`
    case "conclude":
      return `conclude at ${move.committed.offset}`
    case "doubt":
      return `doubt, ${textOfMove(move.then)}`
    case "note":
      return `note, ${textOfMove(move.then)}`
    case "await-stale":
      return `stale at ${move.staleEnd}, ${textOfMove(move.then)}`
    case "refuse":
      return `refuse ${move.cause.slug}${move.alarm === undefined ? "" : ", alarm"}`
    case "abandon":
      return `abandon ${move.cause?.slug ?? "to plan anew"}${move.alarm === undefined ? "" : ", alarm"}`
    case "spend":
      return `spend ${move.dedup}`
    case "end":
      return "end"
    case "finish":
      return "finish"
  }
}

const toFail = { step: { ...step, abandoned } }
const toPlan = { step: { ...step, abandoned: replanned } }
/** The ledger shows the marker at an offset. */
const spent = { isSpent: true, spentAt: 8 as NonNullable<Progress["spentAt"]> }
const unsent = { isProjected: false, committed: null } as const
const caughtUp = at({ end: 9, head: 9, horizon: 5 })

describe("the moves of a ledger write", () => {
  it.each<[what: string, change: Partial<Progress>, move: string]>([
    ["that has ended", { state: "failed" }, "finish"],
    ["without a step", { state: "queued", step: null }, "plan 1.0"],
    ["with a step", {}, "look up isProjected"],
    ["whose last step is projected", { isProjected: true }, "wait 500"],
    [
      "whose first step is projected",
      { step: { ...step, last: false }, isProjected: true },
      "plan 2.0"
    ],
    ["that is not projected", { isProjected: false }, "look up committed"],
    ["that the ledger shows", { isProjected: false, committed }, "note, wait 500"],
    ["that the ledger does not show", unsent, "send since-planned, judged"],
    ["in doubt", { ...unsent, inDoubtFor: 1 }, "send since-planned"],
    ["in doubt no longer", { ...unsent, inDoubtFor: 120_000 }, "send since-planned, judged"],
    ["whose worker died", { ...unsent, isPreviousAnswered: false }, "doubt, send since-planned"],
    ["abandoned", { ...unsent, ...toFail }, "spend since-planned"],
    ["abandoned, its commit shown", { ...unsent, ...toFail, committed }, "note, wait 500"],
    ["abandoned and projected", { ...toFail, isProjected: true }, "wait 500"],
    ["abandoned and spent", { ...unsent, ...toFail, isSpent: true }, "end"],
    ["to plan anew, spent", { ...unsent, ...toPlan, ...spent }, "look up positions"],
    [
      "to plan anew, spent, its marker not read",
      { ...unsent, ...toPlan, ...spent, positions: at({ ...caughtUp, head: 7 }) },
      "wait 250"
    ],
    [
      "to plan anew, spent, its marker read while the ledger goes on",
      { ...unsent, ...toPlan, ...spent, positions: at({ ...caughtUp, head: 8 }) },
      "plan 1.1"
    ],
    [
      "to plan anew, spent as the projection read",
      { isProjected: false, ...toPlan, isSpent: true },
      "plan 1.1"
    ]
  ])("%s", (_, change, move) => {
    expect(textOfMove(Rules.next({ ...fresh, ...change }))).toBe(move)
  })

  const late = { age: 60_001 }
  const doubted = { inDoubtFor: 120_000 }
  it.each<[answer: Answer, change: Partial<Progress>, move: string]>([
    ["receipt", {}, "wait 500"],
    ["busy", {}, "wait 2000"],
    ["busy", late, "refuse ledger-unavailable"],
    ["busy", { ...late, inDoubtFor: 1 }, "wait 2000"],
    ["busy", { ...late, ...doubted }, "look up committed"],
    ["busy", { ...late, ...doubted, committed }, "wait 2000"],
    ["busy", { ...late, ...doubted, committed: null }, "abandon ledger-unavailable"],
    ["unreachable", {}, "wait 2000"],
    ["unreachable", late, "refuse ledger-unavailable"],
    ["unknown", {}, "doubt, wait 2000"],
    ["unknown", { attempt: 9 }, "doubt, wait 30000"],
    ["protocol", {}, "doubt, wait 2000"],
    ["refused", {}, "look up committed"],
    ["refused", { committed }, "note, wait 500"],
    ["refused", { committed: null }, "refuse ledger-rejected"],
    ["refused", { committed: null, inDoubtFor: 1 }, "wait 5000"],
    ["refused", { committed: null, ...doubted }, "abandon ledger-rejected"],
    ["refused", { committed: null, step: ofMany }, "plan 1.1, divided"],
    ["refused", { committed: null, step: ofMany, inDoubtFor: 1 }, "wait 5000"],
    ["refused", { committed: null, step: ofMany, ...doubted }, "abandon to plan anew"],
    [
      "refused",
      { committed: null, step: { ...ofMany, replan: Rules.doubtsMax }, ...doubted },
      "abandon ledger-rejected"
    ],
    ["refused", { committed: null, step: lastOfMany }, "refuse ledger-rejected"],
    ["stale", { committed: null, step: ofMany }, "look up positions"],
    ["stale", { committed: null, step: { ...ofMany, replan: 3 } }, "look up positions"],
    [
      "stale",
      {
        committed: null,
        step: { ...ofMany, replan: 3 },
        positions: at({ ...caughtUp, head: 8 })
      },
      "stale at 9, wait 250"
    ],
    [
      "stale",
      {
        committed: null,
        step: { ...ofMany, replan: 3, staleEnd: stale.staleEnd },
        positions: at({ end: 20, head: 8, horizon: 5 })
      },
      "plan 1.4, divided"
    ],
    [
      "stale",
      { committed: null, step: stale, positions: at({ end: 20, head: 7, horizon: 5 }) },
      "wait 250"
    ],
    [
      "stale",
      { committed: null, step: stale, positions: at({ end: 20, head: 8, horizon: 5 }) },
      "plan 1.1"
    ],
    [
      "stale",
      { committed: null, step: { ...ofMany, replan: 3 }, positions: caughtUp },
      "plan 1.4, divided"
    ],
    ["stale", { committed: null, step: { ...ofMany, replan: 3, divided: 1 } }, "look up positions"],
    ["stale", { committed: null, ...doubted }, "abandon to plan anew"],
    ["stale", { committed: null }, "look up positions"],
    ["stale", { committed: null, positions: caughtUp }, "plan 1.1"],
    ["stale", { committed: null, positions: at({ ...caughtUp, head: 8 }) }, "stale at 9, wait 250"],
    ["stale", { committed: null, step: { ...step, replan: 3 } }, "refuse contract-stale"],
    ["unsupported", {}, "look up positions"],
    ["unsupported", { positions: caughtUp }, "look up isProjected"],
    ["unsupported", { positions: caughtUp, isProjected: true }, "wait 500"],
    ["unsupported", { positions: caughtUp, isProjected: false }, "send since-projected"],
    ["unsupported", { positions: at({ ...caughtUp, head: 8 }) }, "look up isProjected"],
    ["unsupported", { positions: at({ ...caughtUp, horizon: 6 }) }, "wait 30000, alarm"],
    ["unsupported", { positions: caughtUp, dedup: "since-projected" }, "wait 30000"],
    ["signedOut", {}, "wait 1000"],
    ["signedOut", late, "refuse ledger-unavailable"],
    ["forbidden", {}, "refuse ledger-rejected, alarm"],
    ["forbidden", { inDoubtFor: 1 }, "wait 5000, alarm"],
    ["forbidden", { ...doubted }, "look up committed"],
    ["forbidden", { ...doubted, committed: null }, "abandon ledger-rejected, alarm"]
  ])("answered %s where %j", (answer, change, move) => {
    const progress = { ...fresh, ...change, step: change.step ?? step }
    expect(textOfMove(Rules.afterAnswer(answers[answer], progress))).toBe(move)
  })
})

describe("the marker of an abandoned ledger write", () => {
  const late = { age: 60_001 }
  it.each<[answer: Answer, change: Partial<Progress>, move: string]>([
    ["receipt", {}, "look up committed"],
    ["receipt", { committed }, "note, wait 500"],
    ["receipt", { committed: null }, "wait 500"],
    ["receipt", { committed: null, isSpent: true }, "end"],
    ["busy", {}, "wait 2000"],
    ["busy", late, "wait 2000, alarm"],
    ["unreachable", late, "wait 2000, alarm"],
    ["unknown", {}, "wait 2000"],
    ["unknown", late, "wait 2000, alarm"],
    ["protocol", {}, "wait 2000"],
    ["refused", {}, "wait 30000, alarm"],
    ["signedOut", late, "wait 1000, alarm"],
    ["forbidden", {}, "wait 30000, alarm"],
    ["unsupported", { positions: caughtUp, isProjected: false }, "spend since-projected"],
    ["unsupported", { positions: at({ ...caughtUp, horizon: 6 }) }, "wait 30000, alarm"]
  ])("answered %s where %j", (answer, change, move) => {
    const progress = { ...fresh, inDoubtFor: 120_000, ...change, ...toFail }
    expect(textOfMove(Rules.afterSpending(answers[answer], progress))).toBe(move)
  })
})

describe("a ledger write under a ledger that comes back", () => {
  /**
   * The write against a model of the ledger: `faults` are its answers until it commits. Returns the
   * moves made until the operation has ended or is left to people.
   */
  const walk = (faults: ReadonlyArray<Answer>, commitsAt: number) => {
    let state: Progress["state"] = "running"
    let planned: Rules.PlannedStep | null = null
    let now = 0
    let plannedAt = 0
    let doubtedAt: number | null = null
    let submissions = 0
    let commits = 0
    let isPreviousAnswered = true
    let isSpent = false
    let dedup: Rules.Dedup = "since-planned"
    const moves: Array<string> = []
    for (let lease = 1; lease < 500; lease++) {
      let answer: Answer | undefined
      let looked: Partial<Progress> = {}
      let queued: Move | undefined
      let isOver = false
      while (!isOver) {
        const progress: Progress = {
          state,
          step: planned,
          isPreviousAnswered,
          attempt: lease,
          age: now - plannedAt,
          inDoubtFor: doubtedAt === null ? null : now - doubtedAt,
          dedup,
          giveUpAfter: 900_000,
          ...looked
        }
        const move: Move =
          queued ??
          (answer === undefined || planned === null
            ? Rules.next(progress)
            : moveAfter(answer, { ...progress, step: planned }))
        queued = undefined
        moves.push(textOfMove(move))
        switch (move.move) {
          case "look-up":
            looked = {
              ...looked,
              ...{
                isProjected: { isProjected: commits > 0 && lease % 3 === 0, isSpent },
                committed: { committed: commits > 0 ? committed : null, isSpent },
                // A busy ledger: its projection never reads its end.
                positions: { positions: at({ end: 10 + lease, head: 9 + lease, horizon: 5 }) }
              }[move.what]
            }
            break
          case "plan":
            planned = { ...step, step: move.step, replan: move.replan }
            isSpent = false
            plannedAt = now
            doubtedAt = null
            queued = Rules.firstSend
            break
          case "doubt":
            doubtedAt = now
            queued = move.then
            break
          case "note":
            queued = move.then
            break
          case "await-stale":
            planned = { ...(planned ?? step), staleEnd: move.staleEnd }
            queued = move.then
            break
          case "send": {
            submissions += 1
            dedup = move.dedup
            answer = faults[submissions - 1] ?? "receipt"
            if (submissions === commitsAt || answer === "receipt") commits = 1
            looked = {}
            break
          }
          case "abandon": {
            const reason: Rules.PlannedStep["abandoned"] =
              move.cause === null ? replanned : abandoned
            planned = { ...(planned ?? step), abandoned: reason }
            queued = Rules.firstSpend
            break
          }
          case "spend":
            dedup = move.dedup
            answer = "receipt"
            isSpent = commits === 0
            looked = {}
            break
          case "wait":
            now += move.millis
            isPreviousAnswered = answer !== "receipt"
            // The projection ends the operation with the update.
            if (commits > 0 && lease % 3 === 0) state = "succeeded"
            isOver = true
            break
          case "refuse":
          case "end":
            state = "failed"
            isOver = true
            break
          case "finish":
            return { state, commits, moves }
        }
      }
    }
    return { state, commits, moves }
  }

  const open: ReadonlyArray<Answer> = ["unknown", "protocol"]
  it("ends, and has failed only where nothing committed", () => {
    let walks = 0
    for (const first of answerNames) {
      for (const second of answerNames) {
        for (const third of answerNames) {
          const faults = [first, second, third]
          // Only a submission that was taken or left open can have committed.
          const mayCommit = [
            0,
            ...[1, 2, 3].filter((at) => open.includes(faults[at - 1] ?? "receipt"))
          ]
          for (const commitsAt of mayCommit) {
            const { commits, moves, state } = walk(faults, commitsAt)
            const outcome = { faults, commitsAt, moves }
            expect(["succeeded", "failed"], JSON.stringify(outcome)).toContain(state)
            expect(state === "succeeded", JSON.stringify(outcome)).toBe(commits > 0)
            walks += 1
          }
        }
      }
    }
    expect(walks).toBe(1_000 + 3 * 200)
  })
})
