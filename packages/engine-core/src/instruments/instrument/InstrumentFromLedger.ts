/** Facts from the ledger about instruments: configured, reconfigured, retired in a registry. */
import { Effect, Option, Result, Schema } from "effect"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node, FromLedger } from "../../projection/FromLedger.ts"
import * as TypedFromLedger from "../../projection/TypedFromLedger.ts"
import * as Unexpected from "../../projection/Unexpected.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { InstrumentConfiguration } from "../../templates/Registry.ts"
import { decodePayload, type Payload } from "../../templates/Template.ts"
import { configurations } from "./Configuration.ts"
import {
  configurationsMax,
  type Fact,
  InstrumentId,
  type Instrument,
  instruments
} from "./Instrument.ts"

type ConfigurationPayload = Payload<typeof InstrumentConfiguration>

const decodeId = Schema.decodeOption(InstrumentId)

const typed = TypedFromLedger.of(InstrumentConfiguration, {
  created: Effect.fn("InstrumentConfiguration.created")(function* (payload, node) {
    if (payload.provider !== node.venue) return
    const records = yield* Records
    const instrumentId = decodeId(payload.instrument.id)
    if (Option.isNone(instrumentId)) {
      return yield* keepBreach(payload, node, "The id cannot name a record.")
    }
    const { contractId } = node
    const { registrar } = payload
    yield* LedgerRecord.open(
      configurations,
      { contractId, instrumentId: instrumentId.value, registrar, isLive: true },
      node
    )
    const instrument = yield* records.find(instruments, instrumentId.value)
    if (Option.isSome(instrument)) return yield* configured(instrument.value, payload, node)
    yield* LedgerRecord.open(
      instruments,
      {
        instrumentId: instrumentId.value,
        registrar,
        configurations: [contractId],
        manifest: null,
        policyVersion: null,
        termsSince: null,
        next: null,
        backedBy: null
      },
      node
    )
  }),
  exercised: {
    // The new configuration replaces the old one in the same fact, so the instrument stays
    // configured.
    Update: ({ payload, result }, node) =>
      ended(payload, node, { on: "reconfigure", from: node.contractId, to: result.contractId }),
    Retire: ({ payload }, node) => retired(payload, node)
  }
})

/** A registrar signs its configuration alone, so it can also end it by archiving the contract. */
const configuration: FromLedger = {
  ...typed,
  // Proposals of a snapshot name the instruments that configurations open.
  inSnapshot: "second",
  exercised: (choice, payload, node, event) => {
    const decoded = decodePayload(InstrumentConfiguration, payload)
    return choice === "Archive" && Result.isSuccess(decoded)
      ? retired(decoded.success, node)
      : (typed.exercised?.(choice, payload, node, event) ?? Effect.void)
  }
}

export const fromLedger = [configuration] as const

const configured = Effect.fnUntraced(function* (
  instrument: Stored<Instrument>,
  payload: ConfigurationPayload,
  node: Node
) {
  const { contractId } = node
  // Another party's registry is ignored: it does not concern this registrar's instrument.
  if (payload.registrar !== instrument.registrar || instrument.configurations.includes(contractId))
    return
  if (instrument.configurations.length === configurationsMax) {
    return yield* keepBreach(payload, node, "The registrar configures this id too often.")
  }
  const records = yield* Records
  yield* records.append(instruments, instrument, { on: "configure", contractId }, node.act)
})

const retired = (payload: ConfigurationPayload, node: Node) =>
  ended(payload, node, { on: "retire", contractId: node.contractId })

const ended = Effect.fnUntraced(function* (payload: ConfigurationPayload, node: Node, fact: Fact) {
  const records = yield* Records
  const { contractId } = node
  const stored = yield* records.find(configurations, contractId)
  // A configuration that was not recorded was kept as unexpected when it was created.
  if (Option.isNone(stored)) return
  yield* records.append(configurations, stored.value, { on: "end" }, node.act)
  const instrument = yield* records.find(instruments, payload.instrument.id)
  if (Option.isSome(instrument) && instrument.value.configurations.includes(contractId)) {
    yield* records.append(instruments, instrument.value, fact, node.act)
  }
})

const keepBreach = (payload: ConfigurationPayload, node: Node, detail: string) =>
  Unexpected.keep(node, {
    resourceKind: "instrument",
    resourceId: payload.instrument.id,
    on: "configure",
    detail
  })
