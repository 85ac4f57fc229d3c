/** The typed client against a running host: a write waited for, a refusal, a list, the feed. */
import * as Client from "@bursar/http-host/client"
import { Effect, Stream } from "effect"
import { withTemporaryVenue } from "../demo/temporaryVenue.ts"
import { tokenOf } from "../demo/Desk.ts"
import { type Person, people } from "#demo/People.ts"
import type { Stack } from "#demo/Stack.ts"

const instrument = { instrumentId: "elf-usd", unitDecimals: 6 }

const clientOf = (stack: Stack, person: Person): Client.Client =>
  Client.overFetch({
    baseUrl: stack.venue.api,
    authorization: Effect.promise(async () => `Bearer ${await tokenOf(stack.venue, person)}`)
  })

const say = (text: string) => Effect.sync(() => console.log(text))

// #region a write, waited for
const register = (operator: Client.Client, party: string) =>
  Effect.gen(function* () {
    // A write has an Idempotency-Key of its own; the wait looks as often as the service says.
    const written = yield* operator.write(Client.operation("holder.register"), {
      holderId: "holder-7",
      party,
      custodian: null,
      legalName: "Example Holdings",
      lei: null,
      classification: "entity",
      taxResidences: [],
      validUntil: null
    })
    return yield* operator.wait(written, {
      progress: ({ state }) => say(`holder.register is ${state}`)
    })
  })
// #endregion

const tour = (stack: Stack) =>
  Effect.gen(function* () {
    const operator = clientOf(stack, people.operator)
    const registered = yield* register(operator, stack.parties.investor)
    yield* say(`it made ${registered.resource.href} at offset ${registered.offset}`)

    // A refusal has the slug and all members of the problem.
    const refused = yield* Effect.flip(
      operator.write(Client.operation("admission-consent.propose"), {
        instrumentId: instrument.instrumentId,
        fund: stack.parties.fund,
        terms: "The venue may admit holders whose identity it has verified."
      })
    )
    if (refused._tag !== "CallRefused") return yield* Effect.die(refused)
    yield* say(`refused with ${refused.slug}: ${refused.problem.recovery}`)

    // Every record at one point in time, loaded page by page; then the feed from its start.
    const holders = operator.records(Client.read("holders.list"), {})
    yield* Stream.runForEach(holders, ({ holderId, state }) => say(`${holderId} is ${state}`))
    const pages = operator.events({ kind: ["control"] }).pipe(Stream.take(1))
    yield* Stream.runForEach(pages, ({ cursor, events }) =>
      say(`${events.length} events; the reader keeps ${cursor.length} characters and goes on there`)
    )
  })

await withTemporaryVenue({ instruments: [instrument] }, (stack) => Effect.runPromise(tour(stack)))
