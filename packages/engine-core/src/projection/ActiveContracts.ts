/** Sources of active contracts by template: a snapshot of the ledger, or the contracts projected so far. */
import { Effect, Option, Result, Stream } from "effect"
import type * as Instant from "../kernel/Instant.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { Created, Event, LfRecord } from "../ports/Ledger.ts"
import { Records } from "../records/Records.ts"
import { decodePayload, key, type Payload, type Template } from "../templates/Template.ts"
import { contracts } from "./Contract.ts"

/** An active contract, as a snapshot or the projection has it. */
export interface ActiveContract {
  readonly contractId: string
  readonly payload: LfRecord
  readonly createdAt: Instant.Instant
}

/** Finds the active contracts of a template. */
export type ActiveOf = (
  template: Pick<Template, "typeRef">
) => Stream.Stream<ActiveContract, Unavailable, Records>

/** Active contracts of a snapshot, sorted by template once for all that is opened from it. */
export const shownBy = (events: ReadonlyArray<Event>): ActiveOf => {
  const byTemplate = Map.groupBy(
    events.filter((event) => event._tag === "Created"),
    ({ template }) => key(template)
  )
  return ({ typeRef }) => Stream.fromIterable(byTemplate.get(key(typeRef)) ?? [])
}

/** Active contracts that the projection has recorded; it reads committed records only. */
export const projected: ActiveOf = (template) =>
  Stream.unwrap(
    Effect.map(Records, (records) =>
      records
        .stream(contracts, { where: { template: [key(template.typeRef)], active: ["true"] } })
        .pipe(
          Stream.map(({ record: { contractId, contractCreatedAt: createdAt, payload } }) => ({
            contractId,
            payload: payload as LfRecord,
            createdAt
          }))
        )
    )
  )

/** Returns the creation of an active contract as a reading takes it; who saw it is not kept. */
export const createdOf = (
  { contractId, createdAt, payload }: ActiveContract,
  { typeRef: template }: Pick<Template, "typeRef">
): Created => ({
  _tag: "Created",
  nodeId: 0,
  contractId,
  template,
  packageId: "",
  payload,
  views: [],
  signatories: [],
  observers: [],
  witnesses: [],
  createdAt,
  blob: Option.none(),
  inAcs: true
})

/** An active contract, decoded. */
export interface TypedContract<T extends Template> extends ActiveContract {
  readonly typed: Payload<T>
}

/** Decodes these contracts; one that does not decode was kept as a breach when it was read. */
export const typedOf = <T extends Template>(
  template: T,
  activeOf: ActiveOf
): Stream.Stream<TypedContract<T>, Unavailable, Records> =>
  Stream.flatMap(activeOf(template), (active) =>
    Result.match(decodePayload(template, active.payload), {
      onFailure: () => Stream.empty,
      onSuccess: (typed) => Stream.make({ ...active, typed })
    })
  )
