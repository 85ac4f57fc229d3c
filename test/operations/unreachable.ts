/** Fault of a ledger: its end cannot be read while a test says so. */
import { Duration, Effect } from "effect"
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
