/**
 * Adapter of the Ledger port to the in-process simulated ledger, bound to the venue by its token.
 */
import { Instant, Offset } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import { Duration, Effect, Layer, Option, Stream } from "effect"
import * as ErrorOutcomes from "./ErrorOutcomes.ts"
import type * as Entry from "./Entry.ts"
import * as LedgerError from "./LedgerError.ts"
import {
  Participant,
  type PartyFilter,
  type Reading,
  type SeenEvent,
  type SeenTransaction,
  type SeenUpdate
} from "./Participant.ts"
import type * as Users from "./Users.ts"
import * as Views from "./Views.ts"

/** Version that the simulated ledger gives for itself. */
export const version = "3.5.0+bursar-sim"

/** Opens the port with a token that may act as exactly one party and has no other right. */
export const layer = (options: {
  readonly token: string
}): Layer.Layer<Ledger.Ledger, LedgerError.LedgerError, Participant> =>
  Layer.effect(Ledger.Ledger, make(options))

/** Ledger port of a venue over a node of the simulated ledger. */
export const make = (options: {
  readonly token: string
}): Effect.Effect<Ledger.Ledger["Service"], LedgerError.LedgerError, Participant> =>
  Effect.gen(function* () {
    const participant = yield* Participant
    const user = yield* participant.authenticate(options.token)
    const venue = yield* soleParty(user)
    const authenticated = participant.authenticate(options.token)
    let attempts = 0

    const everything: Reading = {
      shape: "LEDGER_EFFECTS",
      byParty: new Map([[venue, Views.everything]])
    }

    const submissionId = Effect.map(
      Instant.now,
      (now) => `${now.toString(36)}-${(++attempts).toString(36)}`
    )

    const attempt = (user: Users.User, submission: Ledger.Submission) =>
      Effect.flatMap(submissionId, (submissionId) =>
        participant.submit(user, {
          commandId: submission.commandId,
          actAs: [venue],
          readAs: submission.readAs ?? [],
          commands: submission.commands,
          dedup: submission.dedup,
          submissionId,
          workflowId: submission.workflowId ?? null,
          disclosed: submission.disclosed ?? [],
          minLedgerTime: submission.notBefore ?? null,
          traceparent: submission.traceparent ?? null
        })
      )

    const first = (user: Users.User, committed: Entry.Transaction) =>
      Effect.map(
        participant.seenTransaction(user, { transaction: committed, reading: everything }),
        (receiptSource) => receipt(committed, { receiptSource, duplicate: false })
      )

    const earlier = (user: Users.User, error: LedgerError.LedgerError) =>
      Effect.map(
        participant.update(user, { by: { offset: completionOffset(error) }, reading: everything }),
        (receiptSource) =>
          receipt(receiptSource, { receiptSource: Option.some(receiptSource), duplicate: true })
      )

    const submit = (
      submission: Ledger.Submission
    ): Effect.Effect<Ledger.Receipt, Ledger.SubmitError> =>
      Effect.gen(function* () {
        const user = yield* authenticated
        return yield* attempt(user, submission).pipe(
          Effect.flatMap((committed) => first(user, committed)),
          Effect.catchIf(
            (error) => error.code === "DUPLICATE_COMMAND",
            (error) => earlier(user, error)
          )
        )
      }).pipe(
        Effect.mapError((error) =>
          // The change is committed; its update cannot be read (yet).
          error.code === "UPDATE_NOT_FOUND"
            ? new Ledger.OutcomeUnknown({
                commandId: submission.commandId,
                why: "committed before, its update cannot be read now",
                retryAfter: Duration.seconds(1)
              })
            : ErrorOutcomes.submitError(error, submission.commandId)
        )
      )

    const updates = (query: Ledger.UpdatesQuery): Stream.Stream<Ledger.Update, Ledger.ReadError> =>
      Stream.unwrap(
        Effect.map(authenticated, (user) =>
          participant.updates(user, {
            after: query.after,
            through: Option.fromUndefinedOr(query.through),
            reading: {
              shape: "LEDGER_EFFECTS",
              byParty: new Map([[venue, toFilter(query.filter)]])
            }
          })
        )
      ).pipe(Stream.map(toUpdate), Stream.mapError(ErrorOutcomes.readError))

    return {
      venue,
      submit,
      updates,
      outcome: ({ commandId, from, through }) =>
        updates({ after: from, through, filter: { templates: [], interfaces: [] } }).pipe(
          Stream.filter(
            (update): update is Ledger.Transaction =>
              update._tag === "Transaction" && Option.getOrUndefined(update.commandId) === commandId
          ),
          Stream.runHead,
          Effect.map(
            Option.map((found) =>
              receipt(found, { receiptSource: Option.some(found), duplicate: false })
            )
          )
        ),
      acs: ({ at, filter }) =>
        Stream.unwrap(
          Effect.map(authenticated, (user) =>
            participant.acs(user, {
              at,
              reading: { shape: "ACS_DELTA", byParty: new Map([[venue, toFilter(filter)]]) }
            })
          )
        ).pipe(Stream.mapError(ErrorOutcomes.readError)),
      ledgerEnd: Effect.mapError(participant.ledgerEnd, ErrorOutcomes.readError),
      horizon: Effect.mapError(participant.horizon, ErrorOutcomes.readError),
      describe: Effect.gen(function* () {
        const { rights } = yield* authenticated
        return {
          kind: "simulated" as const,
          version,
          participant: yield* participant.participantId,
          features: [],
          rights
        }
      }).pipe(Effect.mapError(ErrorOutcomes.readError)),
      packages: (names) =>
        Effect.map(participant.packages, (packages) =>
          names.map((name) => ({
            name,
            packageId: Option.map(
              Option.fromUndefinedOr(packages.find((entry) => entry.name === name)),
              ({ packageId }) => packageId
            )
          }))
        )
    }
  })

const soleParty = (user: Users.User) => {
  const [right, ...more] = user.rights
  return right !== undefined && more.length === 0 && right.kind === "CanActAs"
    ? Effect.succeed(right.party)
    : Effect.fail(
        LedgerError.make("PERMISSION_DENIED", "the venue's token may act as the venue and no more")
      )
}

/** Offset of the earlier commit that a duplicate refers to. */
export const completionOffset = (duplicate: LedgerError.LedgerError): Offset.Offset =>
  Offset.of(Number(duplicate.context["completion_offset"]))

type ReceiptSource = Ledger.Transaction | SeenTransaction

/** Receipt of a submission. */
export const receipt = (
  committed: Pick<Ledger.Transaction, "updateId" | "offset" | "effectiveAt" | "recordTime">,
  as: { readonly receiptSource: Option.Option<ReceiptSource>; readonly duplicate: boolean }
): Ledger.Receipt => ({
  updateId: committed.updateId,
  offset: committed.offset,
  effectiveAt: committed.effectiveAt,
  recordTime: committed.recordTime,
  duplicate: as.duplicate,
  transaction: Option.map(as.receiptSource, toTransaction)
})

/** Update of the port for one of the simulated ledger. */
export const toUpdate = (update: SeenUpdate): Ledger.Update =>
  update._tag === "Transaction" ? toTransaction(update) : update

const isEvent = (event: SeenEvent | Ledger.Event): event is Ledger.Event =>
  event._tag !== "Archived"

const toTransaction = (source: ReceiptSource): Ledger.Transaction => ({
  _tag: "Transaction",
  offset: source.offset,
  updateId: source.updateId,
  commandId: source.commandId,
  workflowId: source.workflowId,
  effectiveAt: source.effectiveAt,
  recordTime: source.recordTime,
  synchronizerId: source.synchronizerId,
  events: source.events.filter(isEvent)
})

/** Filter of the simulated ledger for one of the port. */
export const toFilter = ({
  templates,
  interfaces,
  includeBlobFor
}: Ledger.Filter): PartyFilter => ({
  wildcard: templates.length === 0 && interfaces.length === 0,
  templates,
  interfaces: interfaces.map((ref) => ({ ref, view: true })),
  blobs: includeBlobFor ?? []
})
