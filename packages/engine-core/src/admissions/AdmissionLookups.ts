/** Loads admissions: the latest of a pair, those on the ledger, those of a holder to be closed. */
import { Effect, Option, Result, Stream } from "effect"
import { configurationOf, type Instrument } from "../instruments/instrument/Instrument.ts"
import { contracts } from "../projection/Contract.ts"
import { Records } from "../records/Records.ts"
import { InstrumentConfiguration } from "../templates/Registry.ts"
import { decodePayload, type LfRecord } from "../templates/Template.ts"
import { type Admission, admissions, pairOf } from "./Admission.ts"

/** Loads the latest admission of a holder to an instrument; null: there never was one. */
export const latest = Effect.fnUntraced(function* (
  pair: Pick<Admission, "holderId" | "instrumentId">
) {
  const records = yield* Records
  const [found] = yield* records.list(admissions, {
    where: { pair: [pairOf(pair)] },
    direction: "desc",
    limit: 1
  })
  return found === undefined ? null : found.record
})

/**
 * Loads the admissions of these holders that have a contract on the ledger, expired ones included:
 * the ledger's clock may be behind the engine's, and still accept an expired credential.
 */
export const onLedger = Effect.fnUntraced(function* (holderIds: ReadonlyArray<string>) {
  const records = yield* Records
  const where = { holderId: holderIds, state: ["offered", "admitted", "expired"] }
  const found = yield* Stream.runCollect(records.stream(admissions, { where }))
  return found
    .map(({ record }) => record)
    .filter(({ offerCid, credentialCid }) => offerCid !== null || credentialCid !== null)
})

/** Loads the admissions of a holder to an instrument that have a contract on the ledger, as `onLedger`. */
export const onLedgerOf = ({
  holderId,
  instrumentId
}: Pick<Admission, "holderId" | "instrumentId">) =>
  Effect.map(onLedger([holderId]), (found) =>
    found.filter((admission) => admission.instrumentId === instrumentId)
  )

/** Loads the holder requirements of the registrar's current configuration. */
export const requiredOf = Effect.fnUntraced(function* (instrument: Instrument) {
  const records = yield* Records
  const contractId = configurationOf(instrument)
  if (contractId === null) return []
  const found = yield* records.find(contracts, contractId)
  if (Option.isNone(found)) return []
  const payload = decodePayload(InstrumentConfiguration, found.value.payload as LfRecord)
  if (Result.isFailure(payload)) throw new Error(`configuration ${contractId} cannot be decoded`)
  return payload.success.holderRequirements
})
