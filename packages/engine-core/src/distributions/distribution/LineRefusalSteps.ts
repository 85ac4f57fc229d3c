/**
 * Steps that leave out the lines which the ledger refuses to direct or to roll
 * (docs/domain/distributions.md#lines-that-the-ledger-refuses).
 */
import { Effect, Equal, Option, Stream } from "effect"
import * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import { type Refused, refused } from "../../kernel/Refusal.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import type { RefusedItem } from "../../writes/Operation.ts"
import { type LineDirection, directionOf, distributionLines } from "./DistributionLine.ts"
import type { DistributionId } from "./DistributionTerms.ts"
import * as LineRefusal from "./LineRefusal.ts"

/** The lines of a distribution that a kind of write leaves out. */
interface LineSelection {
  readonly distributionId: DistributionId
  readonly write: LineRefusal.LineWriteKind
}

/**
 * Longest pause in milliseconds until a line is tried again; the first is a minute, and it doubles. The
 * engine rolls once an hour: a pause of more than that leaves lines out of a roll, so that one which
 * gives up after many refusals reaches other lines the next time.
 */
const pauseMax = { instruct: 3_600_000, roll: 86_400_000 } as const

const againAfter = (times: number, { write }: Pick<LineSelection, "write">): number =>
  Math.min(pauseMax[write], 60_000 * 2 ** Math.min(times - 1, 11))

/** Time after a pause from which another refusal of the line counts as the first again. */
const forgottenAfter = Duration.of("P1D")

const refusalsOf = (selection: LineSelection) =>
  Effect.flatMap(Records, (records) =>
    records
      .stream(LineRefusal.lineRefusals, { where: { write: [LineRefusal.writeOf(selection)] } })
      .pipe(
        Stream.map(({ record }) => record),
        Stream.runCollect
      )
  )

/**
 * Selects the refused lines whose pause lasts at an instant. The pause of a line ends as soon as it is to
 * be directed otherwise: the ledger has not refused that.
 */
const pausedOf = Effect.fnUntraced(function* (
  refusals: ReadonlyArray<LineRefusal.LineRefusal>,
  now: Instant.Instant
) {
  const pausing = refusals.filter(({ againAt }) => Instant.isAfter(againAt, now))
  const directed = pausing.filter(({ direction }) => direction !== null)
  const records = yield* Records
  const lines = yield* records.many(
    distributionLines,
    directed.map(({ lineId }) => lineId)
  )
  const directions = new Map<string, LineDirection>(
    lines.map((line) => [line.lineId, directionOf(line)])
  )
  return pausing.filter(
    ({ direction, lineId }) => direction === null || Equal.equals(direction, directions.get(lineId))
  )
})

/** Finds the lines that the engine leaves out at an instant, and when it tries each again. */
export const pausedAt = Effect.fnUntraced(function* (
  selection: LineSelection,
  now: Instant.Instant
) {
  const paused = yield* pausedOf(yield* refusalsOf(selection), now)
  return new Map(paused.map(({ againAt, lineId }) => [lineId as string, againAt]))
})

/** Lines that an operation leaves out. */
interface LeftOut {
  readonly lineIds: ReadonlySet<string>
  /** True where the ledger refused one of them to this operation. */
  readonly isOwn: boolean
}

/**
 * Finds the lines that an operation leaves out: those that the ledger refused to it, and of the engine's
 * own writes those whose pause has not ended. A person's write tries each line once.
 */
export const leftOutOf = Effect.fnUntraced(function* (
  selection: LineSelection,
  { now, operationId, role }: Pick<OperationAct, "now" | "operationId" | "role">
) {
  const found = yield* refusalsOf(selection)
  const own = found.filter((refusal) => refusal.operationId === operationId)
  const paused = role === null ? yield* pausedOf(found, now) : []
  const leftOut: LeftOut = {
    lineIds: new Set([...own, ...paused].map(({ lineId }) => lineId)),
    isOwn: own.length > 0
  }
  return leftOut
})

/** Records that the ledger refused a line to an operation. */
export const leaveOut = Effect.fnUntraced(function* (
  selection: LineSelection,
  { item: lineId, refusal: { details } }: RefusedItem,
  act: OperationAct
) {
  const records = yield* Records
  const { operationId } = act
  const { check = "ledger", detail = "The ledger refused the line.", reason = "refused" } = details
  yield* Effect.logError("the ledger refuses a line, and the others go on", {
    ...{ lineId, write: selection.write, operationId, check, reason }
  })
  const self = { ...selection, lineId }
  const id = LineRefusal.idOf(self)
  const before = Option.getOrNull(yield* records.find(LineRefusal.lineRefusals, id))
  // The instance died before it planned the step anew.
  if (before?.operationId === operationId) return
  const direction = selection.write === "roll" ? null : yield* directionNow(lineId)
  const isInRow =
    before !== null &&
    Instant.isBefore(act.now, Instant.add(before.againAt, forgottenAfter)) &&
    (before.direction === null || Equal.equals(before.direction, direction))
  const times = isInRow ? before.times + 1 : 1
  const againAt = Instant.fromNanos(act.now + BigInt(againAfter(times, self)) * 1_000_000n)
  const refusal = { operationId, times, againAt, direction, check, reason, detail }
  if (before === null) {
    yield* records
      .open(LineRefusal.lineRefusals, { ...self, ...refusal }, act)
      .pipe(Effect.catchTag("Refused", ({ slug }) => Effect.die(new Error(slug))))
  } else {
    yield* records.append(LineRefusal.lineRefusals, before, { on: "refuse", ...refusal }, act)
  }
})

/** The direction of a line as its record says. */
const directionNow = Effect.fnUntraced(function* (lineId: string) {
  const records = yield* Records
  const line = Option.getOrNull(yield* records.find(distributionLines, lineId))
  return line === null ? null : directionOf(line)
})

/** Largest number of lines that a problem names. */
const namesMax = 20

/**
 * The refusal by which an operation ends that left lines out; null: it left out none. Of the other
 * lines it says nothing: a hold may have come before them.
 */
export const refusalOf = (selection: LineSelection, { operationId }: OperationAct) =>
  Effect.map(refusalsOf(selection), (found): Refused<"ledger-rejected"> | null => {
    const own = found.filter((refusal) => refusal.operationId === operationId)
    const [first] = own
    if (first === undefined) return null
    const names = own.slice(0, namesMax).map(({ lineId }) => lineId)
    const others = own.length > namesMax ? ` and ${own.length - namesMax} more` : ""
    const { check, detail, reason } = first
    return refused("ledger-rejected", {
      gate: "ledger",
      check,
      reason,
      detail: `The ledger refused ${names.join(", ")}${others}, left out of the operation. ${detail}`
    })
  })
