/**
 * Faults of a ledger, switched by a test: its end cannot be read, or it lacks updates that were
 * projected.
 */
import { Duration, Effect, Stream } from "effect"
import { Ledger } from "@bursar/engine-core/ports"

type Service = Ledger.Ledger["Service"]

/** Makes a ledger whose end is unreachable while `isUp` returns false. */
export const reachableWhile =
  (isUp: () => boolean) =>
  (ledger: Service): Service => ({
    ...ledger,
    ledgerEnd: Effect.suspend(() =>
      isUp()
        ? ledger.ledgerEnd
        : Effect.fail(
            new Ledger.Unreachable({ detail: "no route", retryAfter: Duration.seconds(1) })
          )
    )
  })

/** Makes a ledger whose active contracts lack the first holding while `isHiding` returns true. */
export const hidingWhile =
  (isHiding: () => boolean) =>
  (ledger: Service): Service => ({
    ...ledger,
    acs: (query) =>
      Stream.suspend(() => {
        let isLeft = isHiding()
        return ledger.acs(query).pipe(
          Stream.filter(({ template }) => {
            const isHidden = isLeft && template.entity === "Holding"
            if (isHidden) isLeft = false
            return !isHidden
          })
        )
      })
  })
