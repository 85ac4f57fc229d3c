/**
 * Computes the lines of a distribution page by page: for the figures of all of them, which keep sums
 * and hashes alone, and for the lines of one ledger step.
 */
import { Effect, Stream } from "effect"
import type * as Offset from "../../kernel/Offset.ts"
import { Crypto } from "../../ports/Crypto.ts"
import * as Rules from "./DistributionRules.ts"
import type { LineSource, LineStep } from "./LineSource.ts"
import * as LinesHash from "./LinesHashRules.ts"
import {
  firstParty,
  type Page,
  pageAfter,
  partyOffsetsOf,
  type LoadedPayee,
  payeeOf,
  type PayeePlace,
  placeAfter,
  start
} from "./PayeeLookups.ts"
import * as Totals from "./TotalsRules.ts"

/** Payee and figures of a line. */
export interface PayeeLine {
  readonly payee: LoadedPayee
  readonly figures: Rules.LineFigures
}

/** Figures of all lines. */
export interface Figures {
  readonly totals: Totals.Totals
  readonly linesHash: string
  /** Number of lines that are carried because an earlier one of their holder is not rolled. */
  readonly unrolled: number
  readonly partyOffsets: ReadonlyArray<Offset.Offset>
  readonly steps: ReadonlyArray<LineStep>
  /** True: there are more lines than the limit, and the rest was not computed. */
  readonly isCut: boolean
}

/** Number of lines that are computed between two turns of the event loop. */
const sliceLines = 50

/** Computes the figures of a page's payees, also of those without a line. */
const figuresOfPage = Effect.fnUntraced(function* ({ terms }: LineSource, { payees }: Page) {
  const lines: Array<PayeeLine> = []
  for (const [index, payee] of payees.entries()) {
    if (index % sliceLines === 0) yield* Effect.yieldNow
    lines.push({ payee, figures: Rules.lineOf(terms, payee.position) })
  }
  return lines
})

const hashed = ({ payee: { holderId, party }, figures }: PayeeLine): LinesHash.HashedLine => ({
  ...figures,
  holderId,
  party
})

/** Collects lines in parts of a fixed size, and keeps the hash of each part and where it begins. */
const partsOf = (size: number, crypto: { readonly sha256: (text: string) => string }) => {
  const parts: Array<LineStep> = []
  let lines: Array<LinesHash.HashedLine> = []
  let after: PayeePlace | null = null
  let last: PayeePlace | null = null
  const close = (): void => {
    if (lines.length === 0) return
    parts.push({ lines: lines.length, after, hash: LinesHash.chunkHashOf(lines, crypto) })
    lines = []
    after = last
  }
  return {
    add: (line: PayeeLine): void => {
      lines.push(hashed(line))
      last = placeAfter(line.payee)
      if (lines.length === size) close()
    },
    /** The parts; the final one may be shorter. */
    end: (): ReadonlyArray<LineStep> => {
      close()
      return parts
    }
  }
}

/**
 * Computes the figures of all lines, in one pass over holders and parties. Memory holds a page, and
 * for each ledger step a hash. The pass ends at the first line above `linesMax`.
 */
export const figuresOf = Effect.fnUntraced(function* (
  lineSource: Omit<LineSource, "partyOffsets">,
  { batchLines, linesMax }: { readonly batchLines: number; readonly linesMax: number }
) {
  const crypto = yield* Crypto
  const steps = partsOf(batchLines, crypto)
  const chunks = partsOf(LinesHash.chunkSize, crypto)
  let source: LineSource = { ...lineSource, partyOffsets: [] }
  let totals = Totals.empty
  let unrolled = 0
  let holding: ReadonlyArray<number> = []
  for (let place: PayeePlace | null = start; place !== null && totals.holders <= linesMax; ) {
    const page: Page = yield* pageAfter(source, place)
    for (const line of yield* figuresOfPage(source, page)) {
      totals = Totals.add(totals, line.figures)
      if (!Rules.hasLine(line.figures)) continue
      if (line.figures.carried === "unrolled") unrolled++
      steps.add(line)
      chunks.add(line)
    }
    holding = page.holding.map((count, index) => count + (holding[index] ?? 0))
    if (page.next === firstParty) {
      source = { ...source, partyOffsets: yield* partyOffsetsOf(source, holding) }
    }
    place = page.next
  }
  return {
    totals,
    unrolled,
    linesHash: LinesHash.linesHashOf(
      chunks.end().map(({ hash }) => hash),
      crypto
    ),
    partyOffsets: source.partyOffsets,
    steps: steps.end(),
    isCut: totals.holders > linesMax
  } satisfies Figures
})

/**
 * Computes the lines of one ledger step again, from the pins of the plan. Lines whose hash differs
 * from the planned and signed one are a defect: no command is sent.
 */
export const linesOf = Effect.fnUntraced(function* (source: LineSource, step: LineStep) {
  const crypto = yield* Crypto
  const lines: Array<PayeeLine> = []
  for (let place: PayeePlace | null = step.after ?? start; place !== null; ) {
    const page: Page = yield* pageAfter(source, place)
    for (const line of yield* figuresOfPage(source, page)) {
      if (Rules.hasLine(line.figures) && lines.length < step.lines) lines.push(line)
    }
    if (lines.length === step.lines) break
    place = page.next
  }
  if (LinesHash.chunkHashOf(lines.map(hashed), crypto) !== step.hash) {
    return yield* Effect.die(new Error("the lines of a step are not those that were planned"))
  }
  return lines
})

/** Streams all lines of a plan, computed again from its pins, a page of payees at a time, in order. */
export const linesAgain = (source: LineSource) =>
  Stream.unfold(start as PayeePlace | null, (place) =>
    Effect.gen(function* () {
      if (place === null) return undefined
      const page: Page = yield* pageAfter(source, place)
      const lines = yield* figuresOfPage(source, page)
      return [lines.filter(({ figures }) => Rules.hasLine(figures)), page.next] as const
    })
  )

/** Computes the line of one payee; null: it has none. */
export const lineOfPayee = Effect.fnUntraced(function* (
  source: LineSource,
  holder: Pick<LoadedPayee, "holderId" | "party">
) {
  const payee = yield* payeeOf(source, holder)
  if (payee === null) return null
  const figures = Rules.lineOf(source.terms, payee.position)
  return Rules.hasLine(figures) ? ({ payee, figures } satisfies PayeeLine) : null
})
