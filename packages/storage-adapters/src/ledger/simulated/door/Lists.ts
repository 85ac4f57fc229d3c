/** Endpoints that return many elements: updates, completions, active contracts. */
import { Offset } from "@bursar/engine-core/kernel"
import { Duration, Effect, Option, Stream } from "effect"
import * as LedgerError from "../LedgerError.ts"
import * as Answers from "./Answers.ts"
import { from, type Opener } from "./EndpointContext.ts"
import * as Formats from "./Formats.ts"
import type { Json } from "./Json.ts"
import * as Requests from "./Requests.ts"
import * as Submissions from "./Submissions.ts"

/** Largest number of elements of a list over HTTP. */
const listMax = 200
/** Milliseconds without a new element after which a list over HTTP is complete. */
const idleMillis = 500
const idleMillisMax = 20_000

export const updates: Opener = (context, { user, body }) =>
  Effect.gen(function* () {
    const read = yield* from(Requests.decode(Requests.Updates, body))
    const reading = yield* from(Formats.ofUpdates(context.names, read.updateFormat))
    const through = Option.fromNullishOr(read.endInclusive)
    return Stream.map(
      context.participant.updates(user, { after: read.beginExclusive, through, reading }),
      (seenUpdate) => Answers.update(context, seenUpdate)
    )
  })

export const completions: Opener = (context, { user, body }) =>
  Effect.gen(function* () {
    const read = yield* from(Requests.decode(Requests.Completions, body))
    yield* from(Submissions.ownUser(user, read.userId))
    const parties = yield* from(Formats.parties(read.parties))
    if (parties.length === 0) {
      return yield* LedgerError.make("MISSING_FIELD", "The field parties is missing")
    }
    const after = read.beginExclusive ?? Offset.zero
    return Stream.map(
      context.participant.completions(user, { parties, after, through: Option.none() }),
      (item) => Answers.completion(context, item)
    )
  })

export const activeContracts: Opener = (context, { user, body }) =>
  Effect.gen(function* () {
    const { activeAtOffset: at, eventFormat } = yield* from(
      Requests.decode(Requests.ActiveContracts, body)
    )
    if (eventFormat === null) {
      return yield* LedgerError.make("MISSING_FIELD", "The field eventFormat is missing")
    }
    const reading = yield* from(Formats.ofEvents(context.names, eventFormat))
    return Stream.map(context.participant.acs(user, { at, reading }), (active) =>
      Answers.activeContract(context, active)
    )
  })

const tooMany = (): LedgerError.LedgerError =>
  LedgerError.make(
    "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED",
    `The number of matching elements is greater than the limit of ${listMax}`
  )

/** Collects a stream into a list; refuses one that is too long. */
export const collect = (
  stream: Stream.Stream<Json, LedgerError.LedgerError>,
  ask: { readonly limit: number | null; readonly idleMillis: number | null }
): Effect.Effect<ReadonlyArray<Json>, LedgerError.LedgerError> =>
  Effect.gen(function* () {
    const limit = ask.limit !== null && ask.limit <= listMax ? ask.limit : null
    const idle = Duration.millis(Math.min(ask.idleMillis ?? idleMillis, idleMillisMax))
    const elements = yield* stream.pipe(
      Stream.timeout(idle),
      Stream.take(limit ?? listMax + 1),
      Stream.runCollect
    )
    return elements.length > listMax ? yield* tooMany() : elements
  })

/** The refusal of a list that is too long. */
export const refused = tooMany
