/** Queries of lock agreements: those of a reserve, and one of them. */
import { Effect, Schema } from "effect"
import { refused } from "../../kernel/Refusal.ts"
import * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import { ReserveId } from "../reserve/Reserve.ts"
import * as ReserveSight from "../reserve/ReserveSightLookups.ts"
import { LockAgreementId, lockAgreements, LockAgreementMachine } from "./LockAgreement.ts"
import { lockedUnder } from "./LockAgreementLookups.ts"
import * as LockAgreementView from "./LockAgreementView.ts"

const list = Read.list({
  name: "reserves.lock-agreements",
  doc: "Lists the lock agreements of a reserve.",
  route: "GET /v1/reserves/{reserveId}/lock-agreements",
  audience: ReserveSight.audience,
  pinned: true,
  collection: lockAgreements,
  params: Schema.Struct({
    reserveId: ReserveId,
    state: Schema.optionalKey(Schema.Array(LockAgreementMachine.schema))
  }),
  item: LockAgreementView.LockAgreementView,
  direction: "asc",
  order: "in the order of their proposals",
  changes: false,
  parent: ({ reserveId }, asking) => Effect.asVoid(ReserveSight.reserveOf(reserveId, asking)),
  where: ({ reserveId, state }) => ({
    reserveId: [reserveId],
    ...(state === undefined ? {} : { state })
  }),
  view: Effect.fnUntraced(function* (records, { pin, venue }, { reserveId }) {
    const locked = yield* lockedUnder(reserveId, records, pin)
    return records.map((record, index) => {
      const under = locked[index]
      if (under === undefined) throw new Error("an agreement locks something or nothing")
      return LockAgreementView.of(record, { locked: under, venue })
    })
  })
})

export const get = Read.one({
  name: "reserves.lock-agreement",
  doc: "A lock agreement of a reserve, with what is locked under it.",
  route: "GET /v1/reserves/{reserveId}/lock-agreements/{lockAgreementId}",
  audience: ReserveSight.audience,
  pinned: true,
  params: Schema.Struct({ reserveId: ReserveId, lockAgreementId: LockAgreementId }),
  value: LockAgreementView.LockAgreementView,
  refuses: ["not-found"],
  run: Effect.fn("reserves.lock-agreement")(function* ({ lockAgreementId, reserveId }, asking) {
    yield* ReserveSight.reserveOf(reserveId, asking)
    const records = yield* Records
    const record = yield* records.get(lockAgreements, lockAgreementId, asking.pin)
    if (record.reserveId !== reserveId) {
      return yield* Effect.fail(
        refused("not-found", { detail: `There is no such ${lockAgreements.name}.` })
      )
    }
    const [locked] = yield* lockedUnder(reserveId, [record], asking.pin)
    if (locked === undefined) throw new Error("an agreement locks something or nothing")
    return LockAgreementView.of(record, { locked, venue: asking.venue })
  })
})

export const queries = [list, get] as const
