/** The endpoints that change the ledger, for parties that act by token. */
import type { Party } from "@bursar/engine-core/kernel"
import { Effect, Option } from "effect"
import type * as Entry from "../Entry.ts"
import type { Reading } from "../Participant.ts"
import type * as Users from "../Users.ts"
import * as Answers from "./Answers.ts"
import { type EndpointContext, from, type Handler } from "./EndpointContext.ts"
import * as Formats from "./Formats.ts"
import type { JsonObject } from "./Json.ts"
import * as Requests from "./Requests.ts"
import * as Submissions from "./Submissions.ts"

/** Refuses an invalid format before the commit: afterwards a failure would hide the commit. */
export const readable = (context: EndpointContext, user: Users.User, reading: Reading) =>
  context.participant.update(user, { by: { updateId: "" }, reading }).pipe(
    Effect.asVoid,
    Effect.catchIf(
      ({ code }) => code === "UPDATE_NOT_FOUND",
      () => Effect.void
    )
  )

/**
 * The transaction in the format that its caller requested; without events where no node matches.
 */
export const shown = (
  context: EndpointContext,
  ask: {
    readonly user: Users.User
    readonly committed: Entry.Transaction
    readonly reading: Reading
  }
): Effect.Effect<JsonObject> =>
  context.participant
    .seenTransaction(ask.user, { transaction: ask.committed, reading: ask.reading })
    .pipe(
      Effect.map(Option.getOrElse(() => Answers.emptied(context, ask.committed))),
      // The format was checked before; a failure now would hide the commit.
      Effect.catch(() => Effect.succeed(Answers.emptied(context, ask.committed))),
      Effect.map((seenTransaction) => ({
        transaction: Answers.transaction(context, seenTransaction)
      }))
    )

export const readingOf = (
  context: EndpointContext,
  format: Requests.TransactionFormat | null,
  parties: ReadonlyArray<Party.Party>
) =>
  format === null
    ? Effect.succeed<Reading>({ shape: "ACS_DELTA", byParty: Formats.wildcards(parties) })
    : from(Formats.ofTransaction(context.names, format))

export const committed = ({ updateId, offset }: Entry.Transaction): JsonObject => ({
  updateId,
  completionOffset: offset
})

export const submitForTransaction: Handler = (context, { user, body, traceparent }) =>
  Effect.gen(function* () {
    const ask = yield* from(Requests.decode(Requests.SubmitForTransaction, body))
    const requestCommands = ask.commands
    const attempt = yield* from(
      Submissions.attempt(context.names, { user, requestCommands, traceparent })
    )
    const parties = [...attempt.actAs, ...attempt.readAs]
    const reading = yield* readingOf(context, ask.transactionFormat, parties)
    yield* readable(context, user, reading)
    const committed = yield* context.participant.submit(user, attempt)
    return yield* shown(context, { user, committed, reading })
  })

export const submit: Handler = (context, { user, body, traceparent }) =>
  Effect.gen(function* () {
    const requestCommands = yield* from(Requests.decode(Requests.Commands, body))
    const attempt = yield* from(
      Submissions.attempt(context.names, { user, requestCommands, traceparent })
    )
    return committed(yield* context.participant.submit(user, attempt))
  })

export const submitAsync: Handler = (context, { user, body, traceparent }) =>
  Effect.gen(function* () {
    const requestCommands = yield* from(Requests.decode(Requests.Commands, body))
    const attempt = yield* from(
      Submissions.attempt(context.names, { user, requestCommands, traceparent })
    )
    yield* context.participant.submitAsync(user, attempt)
    return {}
  })
