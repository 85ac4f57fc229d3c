/** Audience of the reads of reserves and what belongs to them, and the reserve that a path names. */
import { Effect } from "effect"
import * as Sight from "../../holders/holder/Sight.ts"
import type * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import { reserves } from "./Reserve.ts"

/** A registrar reads those of the instruments that it issues. */
export const audience = {
  operator: "all",
  approver: "all",
  risk: "all",
  auditor: "all",
  app: "all",
  registrar: "near"
} as const satisfies Read.Audience

/** Loads a reserve; refuses `not-found` for one that the caller cannot see, as for none. */
export const reserveOf = Effect.fnUntraced(function* (reserveId: string, asking: Read.Asking) {
  const records = yield* Records
  const reserve = yield* records.get(reserves, reserveId, asking.pin)
  yield* Sight.demand(asking, reserves, { registrar: reserve.issuer })
  return reserve
})
