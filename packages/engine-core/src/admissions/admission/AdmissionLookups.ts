/** Loads the admissions that end when their holder is closed. */
import { Effect } from "effect"
import { Records } from "../../records/Records.ts"
import { admissions, placed } from "./Admission.ts"
import { ending } from "./AdmissionOperations.ts"

/** Commands that end the offers and credentials of a holder; no more than the limit. */
export const endingsOf = Effect.fnUntraced(function* (holderId: string, limit: number) {
  const records = yield* Records
  const found = yield* records.list(admissions, {
    where: { holderId: [holderId], state: placed },
    limit
  })
  return found.map(({ record }) => ending(record))
})
