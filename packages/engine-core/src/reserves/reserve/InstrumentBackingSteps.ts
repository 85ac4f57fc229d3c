/**
 * Steps that record on an instrument the reserve that backs it, when the reserve is proposed and
 * when it ends.
 */
import { Effect, Option, Schema } from "effect"
import { InstrumentId, instruments } from "../../instruments/instrument/Instrument.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node } from "../../projection/FromLedger.ts"
import { Records } from "../../records/Records.ts"
import type * as Field from "../../templates/Field.ts"
import { reserves } from "./Reserve.ts"

/** Members of a reserve's contracts that name the two. */
interface Backing {
  readonly reserveId: string
  readonly instrument: Field.Asset
}

const decodeId = Schema.decodeOption(InstrumentId)

/**
 * Records the reserve on its instrument; opens an instrument that a snapshot has not shown yet. An
 * instrument of another registrar with the same id is another one, and the first of two reserves is
 * kept.
 */
export const begun = Effect.fnUntraced(function* ({ reserveId, instrument }: Backing, node: Node) {
  const records = yield* Records
  const instrumentId = Option.getOrNull(decodeId(instrument.id))
  if (instrumentId === null) return
  const found = Option.getOrNull(yield* records.find(instruments, instrumentId))
  if (found === null) {
    const nothing = { manifest: null, policyVersion: null, termsSince: null, next: null } as const
    yield* LedgerRecord.open(
      instruments,
      {
        instrumentId,
        registrar: instrument.admin,
        configurations: [],
        ...nothing,
        backedBy: reserveId
      },
      node
    )
    return
  }
  if (found.registrar !== instrument.admin || found.backedBy !== null) return
  yield* records.append(instruments, found, { on: "back", reserveId }, node.act)
})

/** Records the end of the reserve on its instrument, and another reserve that backs it by then. */
export const ended = Effect.fnUntraced(function* ({ reserveId, instrument }: Backing, node: Node) {
  const records = yield* Records
  const found = Option.getOrNull(yield* records.find(instruments, instrument.id))
  if (found?.backedBy !== reserveId) return
  const backing = yield* records.list(reserves, {
    where: { backing: [found.instrumentId], registrar: [found.registrar] },
    limit: 2
  })
  const other = backing.find(({ record }) => record.reserveId !== reserveId)?.record.reserveId
  yield* records.append(instruments, found, { on: "back", reserveId: other ?? null }, node.act)
})
