/** Outside parties of the venue, each with a token of its own on the ledger, apart from the engine. */
import type { Ledger } from "@bursar/engine-core/ports"
import { Participant } from "@bursar/storage-adapters/simulated-ledger"
import { Effect } from "effect"

/** Adds a party; `submit` commits its commands in one transaction, which the engine has not read yet. */
export const outsider = (hint: string) =>
  Effect.gen(function* () {
    const participant = yield* Participant
    const { party, token } = yield* participant.admin.addParty({ hint, kind: "local" })
    let submissions = 0
    const submit = (...commands: ReadonlyArray<Ledger.Command>) =>
      Effect.flatMap(participant.authenticate(token), (user) =>
        participant.submit(user, {
          commandId: `${hint}:${++submissions}`,
          actAs: [party],
          readAs: [],
          commands,
          dedup: null,
          submissionId: `${hint}:${submissions}`,
          workflowId: null,
          disclosed: [],
          minLedgerTime: null,
          traceparent: null
        })
      )
    return { party, token, submit }
  })
export type Outsider = Effect.Success<ReturnType<typeof outsider>>
