/** Terms of a reserve in the form of the ledger, which counts durations in microseconds. */
import * as Duration from "../../kernel/Duration.ts"
import type * as Templates from "../../templates/Reserve.ts"
import type { StoredTerms } from "./ReserveTerms.ts"

const NANOS_PER_MICRO = 1_000n

/** A duration of the ledger, which has whole microseconds. */
export const durationOf = (micros: number): Duration.Duration =>
  Duration.fromNanos(BigInt(micros) * NANOS_PER_MICRO)

/** The duration in the form of the ledger; fractions of a microsecond are dropped. */
export const microsOf = (duration: Duration.Duration): number =>
  Number(Duration.nanos(duration) / NANOS_PER_MICRO)

/** Terms as records store them. */
export const termsFromLedger = ({ assets, minCover }: Templates.ReserveTerms): StoredTerms => ({
  assets: assets.map(({ freshness, ...asset }) => ({
    ...asset,
    freshness: freshness === null ? null : durationOf(freshness)
  })),
  minCover
})

/** Terms as the ledger takes them. */
export const toLedger = ({ assets, minCover }: StoredTerms): Templates.ReserveTerms => ({
  assets: assets.map(({ freshness, ...asset }) => ({
    ...asset,
    freshness: freshness === null ? null : microsOf(freshness)
  })),
  minCover
})
