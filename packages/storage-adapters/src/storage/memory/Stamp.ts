/** Stamps of writing transactions: strictly increasing instants. */
import { Instant } from "@bursar/engine-core/kernel"
import { Result } from "effect"

/** Returns the later of now and one microsecond after the previous stamp. */
export const stamp = (last: string, now: string): string => {
  if (last === "") return now
  const next = Instant.fromNanos(instantOf(last) + 1_000n)
  const nowInstant = instantOf(now)
  return Instant.sortable(nowInstant > next ? nowInstant : next)
}

const instantOf = (sortable: string): Instant.Instant =>
  Result.getOrThrowWith(Instant.parse(sortable), (fault) => new Error(`${sortable}: ${fault}`))
