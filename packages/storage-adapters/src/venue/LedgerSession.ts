/**
 * Session of a party in the process of the simulated ledger, by its own token: what `PartySession` is
 * at the ledger's door, without a network.
 */
import type { Party } from "@bursar/engine-core/kernel"
import { Effect, Option, Stream } from "effect"
import { DoorRefused } from "../ledger/wallets/DoorClient.ts"
import type { CommittedChange, PartySession } from "../ledger/wallets/PartySession.ts"
import type { WireContract, Update } from "../ledger/wallets/Wire.ts"
import * as Refusals from "../ledger/simulated/door/Refusals.ts"
import type { LedgerError } from "../ledger/simulated/LedgerError.ts"
import type {
  Participant,
  Reading,
  SeenActive,
  SeenEvent,
  SeenUpdate
} from "../ledger/simulated/Participant.ts"
import { completionOffset } from "../ledger/simulated/VenueLedger.ts"
import * as Views from "../ledger/simulated/Views.ts"

/** Refusal of the ledger as the door would have answered it. */
export const refusal = (error: LedgerError): DoorRefused =>
  new DoorRefused({
    status: Refusals.status(error),
    code: error.code,
    cause: error.cause,
    category: error.category,
    context: error.context
  })

export const open = (
  participant: Participant["Service"],
  { party, token, userId }: { party: Party.Party; token: string; userId: string }
): PartySession => {
  const user = participant.authenticate(token)
  const reading: Reading = {
    shape: "ACS_DELTA",
    byParty: new Map([[party, Views.everything]])
  }
  let submissions = 0
  const submit: PartySession["submit"] = (change) =>
    Effect.gen(function* () {
      const sessionUser = yield* user
      const committed = yield* participant.submit(sessionUser, {
        commandId: change.commandId,
        submissionId: `${userId}-${++submissions}`,
        actAs: [party],
        readAs: [],
        commands: change.commands,
        dedup: null,
        workflowId: null,
        disclosed: [],
        minLedgerTime: change.notBefore ?? null,
        traceparent: null
      })
      const seen = yield* participant.seenTransaction(sessionUser, {
        transaction: committed,
        reading
      })
      const { offset, updateId } = committed
      const changes = Option.match(seen, {
        onNone: () => [],
        onSome: ({ events }) => events.flatMap(changeOf)
      })
      return { offset, updateId, changes, duplicate: false }
    }).pipe(
      Effect.catchIf(
        (error) => error.code === "DUPLICATE_COMMAND",
        (error) => Effect.succeed(already(error))
      ),
      Effect.mapError(refusal)
    )
  return {
    party,
    userId,
    submit,
    updates: (after) =>
      Stream.unwrap(
        Effect.map(user, (reader) =>
          participant.updates(reader, { after, through: Option.none(), reading })
        )
      ).pipe(Stream.map(updateOf), Stream.mapError(refusal)),
    acs: (at) =>
      Effect.flatMap(user, (reader) =>
        Stream.runCollect(participant.acs(reader, { at, reading }))
      ).pipe(
        Effect.map((active) => active.map(contractOf)),
        Effect.mapError(refusal)
      ),
    ledgerEnd: Effect.mapError(participant.ledgerEnd, refusal)
  }
}

/** The ledger has deduplicated the change: it is committed once. */
const already = (error: LedgerError): CommittedChange => ({
  offset: completionOffset(error),
  updateId: null,
  changes: [],
  duplicate: true
})

const contractOf = ({ contractId, createdAt, payload, template }: SeenContract): WireContract => ({
  contractId,
  template,
  payload,
  createdAt
})
type SeenContract = Pick<SeenActive, "contractId" | "createdAt" | "payload" | "template">

const changeOf = (event: SeenEvent): Update["changes"] => {
  switch (event._tag) {
    case "Created":
      return [{ _tag: "Created", contract: contractOf(event) }]
    case "Archived":
      return [{ _tag: "Archived", contractId: event.contractId }]
    case "Exercised":
      return []
  }
}

const updateOf = (update: SeenUpdate): Update =>
  update._tag === "Transaction"
    ? {
        offset: update.offset,
        updateId: update.updateId,
        changes: update.events.flatMap(changeOf)
      }
    : { offset: update.offset, updateId: null, changes: [] }
