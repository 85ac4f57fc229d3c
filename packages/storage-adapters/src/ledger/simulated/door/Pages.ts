/** Endpoints with pages, for callers that hold no connection open. */
import { Offset } from "@bursar/engine-core/kernel"
import { Effect, Option, Result, Schema, Stream } from "effect"
import * as LedgerError from "../LedgerError.ts"
import type { Reading, SeenTransaction } from "../Participant.ts"
import type * as Users from "../Users.ts"
import * as Answers from "./Answers.ts"
import { type EndpointContext, from, type Handler } from "./EndpointContext.ts"
import * as Formats from "./Formats.ts"
import type { JsonObject } from "./Json.ts"
import * as Requests from "./Requests.ts"

const sizeDefault = 2_000
const sizeMax = 10_000

const invalid = (why: string) => LedgerError.make("INVALID_ARGUMENT", why)

const sizeOf = (limit: number | null): Result.Result<number, LedgerError.LedgerError> => {
  const size = limit === null || limit === 0 ? sizeDefault : limit
  return size >= 1 && size <= sizeMax
    ? Result.succeed(size)
    : Result.fail(invalid(`maxPageSize is 1 to ${sizeMax}`))
}

const Natural = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/**
 * A token is two numbers and needs no signature: a forged one reads no more than a request without
 * one.
 */
const Token = Schema.fromJsonString(Schema.Tuple([Natural, Natural]))

const printToken = (token: typeof Token.Type): string =>
  Buffer.from(Schema.encodeSync(Token)(token), "utf8").toString("base64url")

const readToken = (
  text: string | null
): Result.Result<typeof Token.Type | null, LedgerError.LedgerError> =>
  text === null || text === ""
    ? Result.succeed(null)
    : Result.mapError(
        Schema.decodeUnknownResult(Token)(Buffer.from(text, "base64url").toString("utf8")),
        () => invalid("pageToken is not one of ours")
      )

interface Range {
  readonly after: Offset.Offset
  readonly through: Offset.Offset
}

const transactions = (
  context: EndpointContext,
  user: Users.User,
  ask: { readonly range: Range; readonly reading: Reading }
): Stream.Stream<SeenTransaction, LedgerError.LedgerError> =>
  context.participant
    .updates(user, {
      after: ask.range.after,
      through: Option.some(ask.range.through),
      reading: ask.reading
    })
    .pipe(Stream.filter((seenUpdate) => seenUpdate._tag === "Transaction"))

interface UpdatePage {
  readonly updates: ReadonlyArray<SeenTransaction>
  readonly lowest: Offset.Offset
  readonly highest: Offset.Offset
  /** Rest of the range; null where all was read. */
  readonly rest: Range | null
}

const ascending = (
  found: ReadonlyArray<SeenTransaction>,
  { range, size }: { readonly range: Range; readonly size: number }
): UpdatePage => {
  const last = found.at(-1)
  const highest = found.length < size || last === undefined ? range.through : last.offset
  const rest = highest < range.through ? { after: highest, through: range.through } : null
  return { updates: found, lowest: range.after, highest, rest }
}

const descending = (
  found: ReadonlyArray<SeenTransaction>,
  { range, size }: { readonly range: Range; readonly size: number }
): UpdatePage => {
  const [first] = found
  const lowest = found.length < size || first === undefined ? range.after : before(first.offset)
  const rest = lowest > range.after ? { after: range.after, through: lowest } : null
  return { updates: found.toReversed(), lowest, highest: range.through, rest }
}

const before = (offset: Offset.Offset): Offset.Offset => Offset.of(offset - 1)

export const updates: Handler = (context, { user, body }) =>
  Effect.gen(function* () {
    const ask = yield* from(Requests.decode(Requests.UpdatesPage, body))
    const size = yield* from(sizeOf(ask.maxPageSize))
    const reading = yield* from(Formats.ofUpdates(context.names, ask.updateFormat))
    const token = yield* from(readToken(ask.pageToken))
    const [end, horizon] = yield* Effect.all([
      context.participant.ledgerEnd,
      context.participant.horizon
    ])
    const down = ask.descendingOrder === true
    const first: Range = {
      after:
        ask.beginOffsetExclusive === null || ask.beginOffsetExclusive === 0
          ? horizon
          : ask.beginOffsetExclusive,
      through: ask.endOffsetInclusive ?? end
    }
    const range: Range =
      token === null
        ? first
        : {
            after: Offset.of(token[0]),
            // An open-ended read follows the ledger's end; any other keeps the end of its first
            // page.
            through: down ? Offset.of(token[1]) : first.through
          }
    if (range.after > range.through) {
      return yield* invalid("beginOffsetExclusive lies after the end")
    }
    const all = transactions(context, user, { range, reading })
    const found = yield* Stream.runCollect(
      down ? Stream.takeRight(all, size) : Stream.take(all, size)
    )
    const page = (down ? descending : ascending)(found, { range, size })
    const openEnded = !down && ask.endOffsetInclusive === null
    const next = page.rest ?? (openEnded ? { after: page.highest, through: page.highest } : null)
    return {
      updates: page.updates.map((seenUpdate) => Answers.update(context, seenUpdate)),
      lowestPageOffsetExclusive: page.lowest,
      highestPageOffsetInclusive: page.highest,
      ...nextPage(next)
    }
  })

const nextPage = (rest: Range | null): JsonObject =>
  rest === null ? {} : { nextPageToken: printToken([rest.after, rest.through]) }

export const activeContracts: Handler = (context, { user, body }) =>
  Effect.gen(function* () {
    const ask = yield* from(Requests.decode(Requests.ActiveContractsPage, body))
    const size = yield* from(sizeOf(ask.maxPageSize))
    const reading = yield* from(Formats.ofEvents(context.names, ask.eventFormat))
    const token = yield* from(readToken(ask.pageToken))
    const at =
      token !== null
        ? Offset.of(token[0])
        : (ask.activeAtOffset ?? (yield* context.participant.ledgerEnd))
    const skip = token?.[1] ?? 0
    const found = yield* context.participant
      .acs(user, { at, reading })
      .pipe(Stream.drop(skip), Stream.take(size + 1), Stream.runCollect)
    return {
      activeContracts: found
        .slice(0, size)
        .map((contract) => Answers.activeContract(context, contract)),
      activeAtOffset: at,
      ...(found.length > size ? { nextPageToken: printToken([at, skip + size]) } : {})
    }
  })
