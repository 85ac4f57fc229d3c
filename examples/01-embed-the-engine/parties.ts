/**
 * The outside parties, each with a token of its own: they act on the ledger, and the engine cannot
 * act for them.
 */
import type { Party } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Data, Effect, Option, Result, Stream } from "effect"

export interface Found<T extends Templates.Template> {
  readonly contractId: string
  readonly payload: Templates.Payload<T>
}

/**
 * A registrar's configuration of an instrument on the ledger, without which no holder can be
 * admitted.
 */
export const configuration = (parties: {
  readonly instrumentId: string
  readonly registrar: Party.Party
  readonly venue: Party.Party
  readonly fund: Party.Party
}): Templates.Payload<typeof Templates.InstrumentConfiguration> => ({
  registrar: parties.registrar,
  provider: parties.venue,
  issuer: parties.fund,
  instrument: { admin: parties.registrar, id: parties.instrumentId },
  defaultIdentifier: { source: "venue", id: parties.instrumentId, scheme: "id" },
  additionalIdentifiers: [],
  holderRequirements: [],
  issuerRequirements: []
})

export class NotFound extends Data.TaggedError("NotFound")<{ readonly message: string }> {}

/** Opens a wallet: a new party, with a token that acts for this party only. */
export const wallet = Effect.fnUntraced(function* (hint: string) {
  const ledger = yield* SimulatedLedger.Participant
  const { party, token } = yield* ledger.admin.addParty({ hint, kind: "local" })
  const user = yield* ledger.authenticate(token)
  let commands = 0

  const submit = (command: Ledger.Command) =>
    ledger.submit(user, {
      commandId: `${hint}-${++commands}`,
      submissionId: `${hint}-${commands}`,
      actAs: [party],
      readAs: [],
      commands: [command],
      dedup: null,
      workflowId: null,
      disclosed: [],
      minLedgerTime: null,
      traceparent: null
    })

  /** Returns the first active contract of a template that this party sees. */
  const find = Effect.fnUntraced(function* <T extends Templates.Template>(template: T) {
    const at = yield* ledger.ledgerEnd
    const byParty = new Map<Party.Party, SimulatedLedger.PartyFilter>([
      [party, { wildcard: false, templates: [template.typeRef], interfaces: [], blobs: [] }]
    ])
    const active = yield* ledger
      .acs(user, { at, reading: { shape: "ACS_DELTA", byParty } })
      .pipe(Stream.runHead)
    if (Option.isNone(active)) {
      return yield* new NotFound({ message: `${hint} sees no ${template.typeRef.entity}` })
    }
    const { contractId, payload } = active.value
    const found: Found<T> = {
      contractId,
      payload: Result.getOrThrow(Templates.decodePayload(template, payload))
    }
    return found
  })

  return {
    party,
    find,
    create: <T extends Templates.Template>(template: T, payload: Templates.Payload<T>) =>
      submit(Templates.create(template, payload)),
    /** Exercises a choice on the first contract of a template. */
    answer: <T extends Templates.Template, K extends Templates.ChoiceName<T>>(
      template: T,
      choice: K,
      argument: Templates.Argument<T, K>
    ) =>
      Effect.flatMap(find(template), ({ contractId }) =>
        submit(Templates.exercise(template, contractId, choice, argument))
      )
  }
})
