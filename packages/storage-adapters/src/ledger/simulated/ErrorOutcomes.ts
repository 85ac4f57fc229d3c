/**
 * Maps an error of the simulated ledger to a failure of the Ledger port, by whether the effect may
 * exist and whether a retry may help.
 */
import { Offset } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import { Duration } from "effect"
import type { LedgerError } from "./LedgerError.ts"

const retryAfter = (error: LedgerError): Duration.Duration =>
  Duration.millis(error.retryAfterMillis ?? 1_000)

const resource = (error: LedgerError, kind: string): string | undefined =>
  error.resources.find(([one]) => one === kind)?.[1]

const answer = (error: LedgerError): Ledger.Answer => {
  const party = resource(error, "PARTY")
  const contractId = resource(error, "CONTRACT_ID")
  const packageName = resource(error, "PACKAGE_NAME")
  return {
    code: error.code,
    cause: error.cause,
    category: error.category,
    grpc: error.grpc,
    context: error.context,
    resources: error.resources,
    ...(party === undefined ? {} : { party }),
    ...(contractId === undefined ? {} : { contractId }),
    ...(packageName === undefined ? {} : { packageName })
  }
}

const offsetIn = (error: LedgerError, name: string): Offset.Offset | undefined => {
  const text = error.context[name]
  return text === undefined ? undefined : Offset.of(Number(text))
}

const unknownCodes: ReadonlySet<string> = new Set([
  "SUBMISSION_ALREADY_IN_FLIGHT",
  "NOT_SEQUENCED_TIMEOUT",
  "LOCAL_VERDICT_TIMEOUT",
  "MEDIATOR_SAYS_TX_TIMED_OUT"
])

const unsupported = (error: LedgerError): Ledger.DedupUnsupported => {
  const earliestOffset = offsetIn(error, "earliest_offset")
  const longest = error.context["longest_duration"]
  return new Ledger.DedupUnsupported({
    ...(earliestOffset === undefined ? {} : { earliestOffset }),
    ...(longest === undefined ? {} : { longest: Duration.seconds(Number.parseFloat(longest)) })
  })
}

/** Outcome of a submission that ended with this error. */
export const submitError = (error: LedgerError, commandId: string): Ledger.SubmitError => {
  const outcomeUnknown = () =>
    new Ledger.OutcomeUnknown({ commandId, why: error.cause, retryAfter: retryAfter(error) })
  if (error.code === "PARTICIPANT_PRUNED_DATA_ACCESSED") return unsupported(error)
  if (error.code === "INVALID_DEDUPLICATION_PERIOD") return unsupported(error)
  switch (error.category) {
    case 1:
    case 3:
    case 4:
      return outcomeUnknown()
    case 2:
      return unknownCodes.has(error.code) || !error.definiteAnswer
        ? outcomeUnknown()
        : new Ledger.Busy({ ...answer(error), retryAfter: retryAfter(error) })
    case 6:
      return new Ledger.NotAuthorized({ http: 401, detail: error.cause })
    case 7:
      return new Ledger.NotAuthorized({ http: 403, detail: error.cause })
    case 14:
      return new Ledger.ProtocolError({ detail: `${error.code}: ${error.cause}` })
    default:
      return new Ledger.Refused(answer(error))
  }
}

/** Outcome of a read that ended with this error. */
export const readError = (error: LedgerError): Ledger.ReadError => {
  const earliest = offsetIn(error, "earliest_offset")
  if (error.code === "PARTICIPANT_PRUNED_DATA_ACCESSED" && earliest !== undefined) {
    return new Ledger.BeforeHorizon({ earliest })
  }
  switch (error.category) {
    case 1:
    case 2:
    case 3:
      return new Ledger.Unreachable({ detail: error.cause, retryAfter: retryAfter(error) })
    case 6:
      return new Ledger.NotAuthorized({ http: 401, detail: error.cause })
    case 7:
      return new Ledger.NotAuthorized({ http: 403, detail: error.cause })
    case 12: {
      const ledgerEnd = offsetIn(error, "ledger_end")
      return new Ledger.AfterEnd(ledgerEnd === undefined ? {} : { ledgerEnd })
    }
    default:
      return new Ledger.ProtocolError({ detail: `${error.code}: ${error.cause}` })
  }
}
