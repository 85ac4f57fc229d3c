/** Endpoints that read a single value: an update, a contract, the ledger's end and horizon. */
import { Effect } from "effect"
import * as LedgerError from "../LedgerError.ts"
import type { Reading } from "../Participant.ts"
import type * as Users from "../Users.ts"
import * as Answers from "./Answers.ts"
import { type EndpointContext, from, type Handler } from "./EndpointContext.ts"
import * as Formats from "./Formats.ts"
import type { JsonObject } from "./Json.ts"
import * as Requests from "./Requests.ts"

export const updateByOffset: Handler = (context, { user, body }) =>
  Effect.gen(function* () {
    const { offset, updateFormat } = yield* from(Requests.decode(Requests.UpdateByOffset, body))
    const reading = yield* from(Formats.ofUpdates(context.names, updateFormat))
    return Answers.update(
      context,
      yield* context.participant.update(user, { by: { offset }, reading })
    )
  })

export const updateById: Handler = (context, { user, body }) =>
  Effect.gen(function* () {
    const { updateId, updateFormat } = yield* from(Requests.decode(Requests.UpdateById, body))
    const reading = yield* from(Formats.ofUpdates(context.names, updateFormat))
    return Answers.update(
      context,
      yield* context.participant.update(user, { by: { updateId }, reading })
    )
  })

type MissingCode = "CONTRACT_EVENTS_NOT_FOUND" | "CONTRACT_PAYLOAD_NOT_FOUND"

const contract = (
  context: EndpointContext,
  user: Users.User,
  ask: { readonly contractId: string; readonly reading: Reading; readonly missing: MissingCode }
) =>
  Effect.mapError(context.participant.contractById(user, ask), (error) =>
    error.category === 11 && error.code.startsWith("CONTRACT_")
      ? LedgerError.make(ask.missing, `Contract ${ask.contractId} was not found`, {
          resources: [["CONTRACT_ID", ask.contractId]]
        })
      : error
  )

/**
 * The archival of a contract; its position in its transaction is not available once that is pruned.
 */
const archived = (
  context: EndpointContext,
  user: Users.User,
  {
    contractFound,
    reading
  }: {
    readonly contractFound: Effect.Success<ReturnType<typeof contract>>
    readonly reading: Reading
  }
): Effect.Effect<JsonObject, LedgerError.LedgerError> =>
  Effect.gen(function* () {
    const { created, archivedOffset } = contractFound
    if (archivedOffset === null) return {}
    const { events } = yield* context.participant.update(user, {
      by: { offset: archivedOffset },
      reading
    })
    const event = events.find(
      (event) => event._tag === "Archived" && event.contractId === created.contractId
    )
    if (event?._tag !== "Archived") return {}
    return {
      archived: {
        archivedEvent: Answers.archivedEvent(event, archivedOffset),
        synchronizerId: context.synchronizerId
      }
    }
  })

export const eventsByContractId: Handler = (context, { user, body }) =>
  Effect.gen(function* () {
    const read = yield* from(Requests.decode(Requests.EventsByContractId, body))
    const reading = yield* from(Formats.ofEvents(context.names, read.eventFormat))
    const { contractId } = read
    const contractFound = yield* contract(context, user, {
      contractId,
      reading,
      missing: "CONTRACT_EVENTS_NOT_FOUND"
    })
    return {
      created: {
        createdEvent: Answers.createdEvent(
          context,
          contractFound.created,
          contractFound.createdOffset
        ),
        synchronizerId: context.synchronizerId
      },
      ...(yield* archived(context, user, { contractFound, reading }))
    }
  })

export const contractById: Handler = (context, { user, body }) =>
  Effect.gen(function* () {
    const { contractId, queryingParties } = yield* from(
      Requests.decode(Requests.ContractById, body)
    )
    const namedParties = yield* from(Formats.parties(queryingParties ?? []))
    const readableParties = user.rights
      .filter(({ kind }) => kind !== "CanExecuteAs")
      .map(({ party }) => party)
    const byParty = Formats.wildcards(namedParties.length === 0 ? readableParties : namedParties)
    const { created, createdOffset } = yield* contract(context, user, {
      contractId,
      reading: { shape: "ACS_DELTA", byParty },
      missing: "CONTRACT_PAYLOAD_NOT_FOUND"
    })
    return { createdEvent: Answers.createdEvent(context, created, createdOffset) }
  })

export const ledgerEnd: Handler = ({ participant }) =>
  Effect.map(participant.ledgerEnd, (offset) => (offset === 0 ? {} : { offset }))

export const latestPrunedOffsets: Handler = ({ participant }) =>
  Effect.map(participant.horizon, (offset) =>
    offset === 0
      ? {}
      : {
          participantPrunedUpToInclusive: offset,
          allDivulgedContractsPrunedUpToInclusive: offset
        }
  )
