/** Figures of a four-eyes write, which its approvers sign beside the request. */
import { Result, Schema } from "effect"
import * as Decimal from "../kernel/Decimal.ts"
import { failed } from "../kernel/Gates.ts"
import * as Instant from "../kernel/Instant.ts"
import * as PlainJson from "../kernel/PlainJson.ts"
import type { RefusalDetails } from "../kernel/Refusal.ts"
import type { LedgerEnd } from "../kernel/LedgerEnd.ts"

/**
 * One figure: a number, which may move within the tolerance, or a text, which may not move at all.
 */
export type Figure = Decimal.Decimal | string

/**
 * Derived figures of a write: units, cash, counts, rates and the price point, each under the name
 * that approvers read. A value that is too long to show, such as the list of a cycle's orders, is a
 * text too: its hash.
 */
export interface DerivedFigures {
  readonly figures: Readonly<Record<string, Figure>>
  /**
   * Largest relative change of a number that does not count as a move: tolerance key `figures` of
   * the policy in force, 0 where the policy does not set it (docs/contract/four-eyes.md#figures).
   */
  readonly tolerance: Decimal.Decimal
  /**
   * End of the ledger that the judgement asked for and the projection had reached. The action keeps
   * the first one; it is no figure, and nobody signs it.
   */
  readonly ledgerEnd?: LedgerEnd
}

/**
 * Encoded figures, as they are stored, shown and hashed: decimals as strings without trailing
 * zeros.
 */
export const Figures = Schema.Record(Schema.String, Schema.String).annotate({
  identifier: "Figures",
  description: "The figures of a write, by name: decimals as strings in least plain form."
})
export type Figures = typeof Figures.Type

/** Figures that an action had before they moved, and the instant at which that was found. */
export const MovedFigures = Schema.Struct({
  at: Instant.schema,
  figures: Figures,
  figuresHash: Schema.String
})

/** Encodes derived figures. */
export const shown = ({ figures }: DerivedFigures): Figures =>
  Object.fromEntries(
    Object.entries(figures).map(([name, figure]) => [
      name,
      typeof figure === "bigint" ? Decimal.formatPlain(figure) : figure
    ])
  )

/** Canonical text whose SHA-256 is the hash of figures (docs/contract/four-eyes.md#figures). */
export const hashText = (figures: Figures): string =>
  `bursar-figures-v1\n${PlainJson.canonical(figures)}`

/** Computes the hash of encoded figures, in lower-case hex. */
export const hashOf = (
  figures: Figures,
  crypto: { readonly sha256: (text: string) => string }
): string => crypto.sha256(hashText(figures))

/**
 * Finds the figures that have moved since they were stored, sorted by name; a figure that was added
 * or is missing has moved. The change of a number is measured exactly, from the signed value, so
 * that small steps do not add up; a change equal to the tolerance is within it. From 0, any change
 * is a move.
 */
export const moved = (
  keptFigures: Figures,
  { figures, tolerance }: DerivedFigures
): ReadonlyArray<string> =>
  [...new Set([...Object.keys(keptFigures), ...Object.keys(figures)])]
    .filter((name) => hasMoved(keptFigures[name], figures[name], tolerance))
    .toSorted()

const hasMoved = (
  before: string | undefined,
  after: Figure | undefined,
  tolerance: Decimal.Decimal
): boolean => {
  if (before === undefined || after === undefined) return true
  if (typeof after === "string") return before !== after
  const signed = Decimal.parse(before)
  // A text that has become a number is another figure.
  if (Result.isFailure(signed)) return true
  const from = Decimal.atoms(signed.success)
  const move = Decimal.atoms(after) - from
  const within = Decimal.atoms(tolerance) * magnitude(from)
  return magnitude(move) * Decimal.atoms(Decimal.one) > within
}

const magnitude = (count: bigint): bigint => (count < 0n ? -count : count)

/** Refusal of a signature, or of a run, because its figures have moved. */
export const movedDetails = (names: ReadonlyArray<string>, actionKey: string): RefusalDetails =>
  failed("figures-moved", {
    detail:
      names.length === 0
        ? "The figures that were seen are not those of the action."
        : `These figures have moved since they were signed: ${names.join(", ")}.`,
    recovery: `Read GET /v1/approvals/${actionKey} and approve the figures it shows now: with their figuresHash in If-Match, or under a new Idempotency-Key.`
  })
