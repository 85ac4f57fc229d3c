/** Harness of the simulated ledger for the conformance suite. */
import type { Party } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import { Effect, Layer, Option, Stream } from "effect"
import * as ErrorOutcomes from "../ledger/simulated/ErrorOutcomes.ts"
import type * as Faults from "../ledger/simulated/Faults.ts"
import { Participant } from "../ledger/simulated/Participant.ts"
import * as VenueLedger from "../ledger/simulated/VenueLedger.ts"
import { LedgerUnderTest, type Mishap, type Session } from "./LedgerUnderTest.ts"

/** Features of the simulated ledger that a suite may rely on. */
export const supports = { pruning: true, mishaps: true, probes: true } as const

const plans: { readonly [tag in Mishap["_tag"]]: Faults.Plan } = {
  DropBeforeCommit: { dropBeforeCommit: [1] },
  DropAfterCommit: { dropAfterCommit: [1] },
  Contention: { contention: [1] },
  Skew: { skew: { minMillis: -20_000, maxMillis: 20_000 } },
  ParticipantChange: { participantChange: "another-participant" },
  None: {}
}

/** Harness over any node; the venue is added as one of its parties. */
export const layer: Layer.Layer<LedgerUnderTest, never, Participant> = Layer.effect(
  LedgerUnderTest,
  Effect.gen(function* () {
    const participant = yield* Participant
    let made = 0
    const fresh = (hint: string) => `${hint}-${++made}`
    const venue = yield* Effect.orDie(
      participant.admin.addParty({ hint: fresh("venue"), kind: "local" })
    )
    const port = yield* Effect.orDie(VenueLedger.make({ token: venue.token }))
    return {
      venue: port,
      party: (hint, further = []) =>
        Effect.map(
          participant.admin.addParty({
            hint: fresh(hint),
            kind: "local",
            rights: further.map((party) => ({ kind: "CanActAs", party }))
          }),
          ({ party, token }) => session(participant, { party, token })
        ).pipe(Effect.orDie),
      prune: (upTo) => Effect.orDie(participant.admin.prune(upTo)),
      plant: (mishap) => Effect.sync(() => participant.faults.replace(plans[mishap._tag]))
    }
  })
)

/** In-process session of a party: every call is authorized by its token. */
export const session = (
  participant: Participant["Service"],
  credentials: { readonly party: Party.Party; readonly token: string }
): Session => {
  const user = participant.authenticate(credentials.token)
  let attempts = 0
  const filtered = (
    filter: Ledger.Filter,
    parties: ReadonlyArray<Party.Party> = [credentials.party]
  ) => new Map(parties.map((party) => [party, VenueLedger.toFilter(filter)]))
  const reads = (submission: { readonly actAs?: ReadonlyArray<Party.Party> }) => ({
    byParty: filtered(everything, submission.actAs)
  })
  return {
    party: credentials.party,
    submit: (submission) =>
      Effect.gen(function* () {
        const { byParty } = reads(submission)
        const committed = yield* participant.submit(yield* user, {
          commandId: submission.commandId,
          actAs: submission.actAs ?? [credentials.party],
          readAs: submission.readAs ?? [],
          commands: submission.commands,
          dedup: submission.dedup,
          submissionId: `${credentials.party}-${++attempts}`,
          workflowId: submission.workflowId ?? null,
          disclosed: submission.disclosed ?? [],
          minLedgerTime: submission.notBefore ?? null,
          traceparent: submission.traceparent ?? null
        })
        const reading = { shape: "LEDGER_EFFECTS", byParty } as const
        const receiptSource = yield* participant.seenTransaction(yield* user, {
          transaction: committed,
          reading
        })
        return VenueLedger.receipt(committed, { receiptSource, duplicate: false })
      }).pipe(
        Effect.catchIf(
          (error) => error.code === "DUPLICATE_COMMAND",
          (error) =>
            Effect.gen(function* () {
              const seen = yield* participant.update(yield* user, {
                by: { offset: VenueLedger.completionOffset(error) },
                reading: { shape: "LEDGER_EFFECTS", ...reads(submission) }
              })
              return VenueLedger.receipt(seen, {
                receiptSource: Option.some(seen),
                duplicate: true
              })
            })
        ),
        Effect.mapError((error) => ErrorOutcomes.submitError(error, submission.commandId))
      ),
    updates: ({ after, through, filter }) =>
      Stream.unwrap(
        Effect.map(user, (user) =>
          participant.updates(user, {
            after,
            through: Option.fromUndefinedOr(through),
            reading: { shape: "LEDGER_EFFECTS", byParty: filtered(filter) }
          })
        )
      ).pipe(Stream.map(VenueLedger.toUpdate), Stream.mapError(ErrorOutcomes.readError)),
    acs: ({ at, filter }) =>
      Stream.unwrap(
        Effect.map(user, (user) =>
          participant.acs(user, { at, reading: { shape: "ACS_DELTA", byParty: filtered(filter) } })
        )
      ).pipe(Stream.mapError(ErrorOutcomes.readError))
  }
}

const everything: Ledger.Filter = { templates: [], interfaces: [] }
