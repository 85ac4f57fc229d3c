/** Faulty ledgers that each break one law on purpose, and that the suite must catch. */
import { Instant, Offset } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import { Duration, Effect, Layer, Option, Stream } from "effect"
import { LedgerUnderTest, type Session } from "./LedgerUnderTest.ts"

type TestedLedger = LedgerUnderTest["Service"]
type Port = Ledger.Ledger["Service"]

interface Fault {
  /** One law that the fault must break. */
  readonly breaks: string
  readonly plant: (under: TestedLedger) => TestedLedger
}

const onPort = (under: TestedLedger, change: (port: Port) => Partial<Port>): TestedLedger => ({
  ...under,
  venue: { ...under.venue, ...change(under.venue) }
})

/** Maps each update to a list, so that a fault can drop, keep or duplicate it. */
const updatesThrough =
  (show: (update: Ledger.Update) => ReadonlyArray<Ledger.Update>) =>
  (under: TestedLedger): TestedLedger =>
    onPort(under, (port) => ({
      updates: (query) =>
        Stream.flatMap(port.updates(query), (update) => Stream.fromIterable(show(update)))
    }))

const ofTransaction = (change: (transaction: Ledger.Transaction) => Ledger.Update) =>
  updatesThrough((update) => [update._tag === "Transaction" ? change(update) : update])

const sessionsThrough = (
  under: TestedLedger,
  change: (session: Session) => Session
): TestedLedger => ({
  ...under,
  party: (hint, further) => Effect.map(under.party(hint, further), change)
})

/** Identity function that keeps the names of the faults in the type. */
const named = <const N extends string>(faults: Readonly<Record<N, Fault>>) => faults

/** Answers a submission that is refused with this code as if it had been committed. */
const ignoring = (under: TestedLedger, code: string) =>
  onPort(under, (port) => {
    let last: Ledger.Receipt | undefined
    return {
      submit: (submission) =>
        port.submit(submission).pipe(
          Effect.tap((receipt) =>
            Effect.sync(() => {
              last = receipt
            })
          ),
          Effect.catchTag("Refused", (refused) =>
            refused.code === code && last !== undefined
              ? Effect.succeed(last)
              : Effect.fail(refused)
          )
        )
    }
  })

/** Planted faults of a ledger, by which the suite is tested itself. */
export const faults = named({
  "an update comes twice": {
    breaks: "L1",
    plant: updatesThrough((update) => (update._tag === "Transaction" ? [update, update] : [update]))
  },
  "an update is lost": {
    breaks: "L5",
    plant: updatesThrough((update) =>
      update._tag === "Transaction" && update.events.some(({ _tag }) => _tag === "Exercised")
        ? []
        : [update]
    )
  },
  "updates up to an offset leave out the last": {
    breaks: "L2",
    plant: (under: TestedLedger) =>
      onPort(under, (port) => ({
        updates: (query) =>
          Stream.filter(
            port.updates(query),
            (update) => update._tag !== "Transaction" || update.offset !== query.through
          )
      }))
  },
  "no checkpoint ever comes": {
    breaks: "L3",
    plant: updatesThrough((update) => (update._tag === "Checkpoint" ? [] : [update]))
  },
  "the snapshot shows what has ended": {
    breaks: "L5",
    plant: (under: TestedLedger) =>
      onPort(under, (port) => {
        const seen = new Map<string, Ledger.Active>()
        return {
          acs: (query) =>
            Stream.concat(
              Stream.tap(port.acs(query), (contract) =>
                Effect.sync(() => seen.set(contract.contractId, contract))
              ),
              Stream.suspend(() =>
                query.at === 0 ? Stream.empty : Stream.fromIterable([...seen.values()])
              )
            )
        }
      })
  },
  "transient contracts count as active": {
    breaks: "L7",
    plant: (under: TestedLedger) =>
      onPort(under, (port) => ({
        submit: (submission) =>
          Effect.map(port.submit(submission), (receipt) => ({
            ...receipt,
            transaction: Option.map(receipt.transaction, (transaction) => ({
              ...transaction,
              events: transaction.events.map((event) => ({ ...event, inAcs: true }))
            }))
          }))
      }))
  },
  "the commands of a submission commit one by one": {
    breaks: "L8",
    plant: (under: TestedLedger) =>
      onPort(under, (port) => ({
        submit: (submission) =>
          Effect.gen(function* () {
            const [first, ...more] = submission.commands
            let receipt = yield* port.submit({ ...submission, commands: [first] })
            for (const [index, command] of more.entries()) {
              const commandId = `${submission.commandId}/${index}`
              receipt = yield* port.submit({ ...submission, commandId, commands: [command] })
            }
            return receipt
          })
      }))
  },
  "a refused command counts as done": {
    breaks: "L9",
    plant: (under: TestedLedger) =>
      onPort(under, (port) => {
        const refused = new Set<string>()
        return {
          submit: (submission) =>
            refused.has(submission.commandId)
              ? Effect.fail(
                  new Ledger.OutcomeUnknown({
                    commandId: submission.commandId,
                    why: "seen before",
                    retryAfter: Duration.seconds(1)
                  })
                )
              : Effect.tapError(port.submit(submission), () =>
                  Effect.sync(() => refused.add(submission.commandId))
                )
        }
      })
  },
  "a contract that is gone may be used again": {
    breaks: "L10",
    plant: (under: TestedLedger) => ignoring(under, "CONTRACT_NOT_FOUND")
  },
  "a choice that refuses is done all the same": {
    breaks: "L30",
    plant: (under: TestedLedger) => ignoring(under, "DAML_FAILURE")
  },
  "the venue's port acts for whoever is needed": {
    breaks: "L13",
    plant: (under: TestedLedger) => {
      const sessions: Array<Session> = []
      const watched: TestedLedger = {
        ...under,
        party: (hint, further) =>
          Effect.tap(under.party(hint, further), (session) =>
            Effect.sync(() => sessions.push(session))
          )
      }
      return onPort(watched, (port) => ({
        submit: (submission) =>
          Effect.catchTag(port.submit(submission), "Refused", (refused) =>
            Effect.firstSuccessOf(sessions.map((session) => session.submit(submission))).pipe(
              Effect.mapError(() => refused)
            )
          )
      }))
    }
  },
  "a token may act as any party": {
    breaks: "L13",
    plant: (under: TestedLedger) =>
      sessionsThrough(under, (session) => ({
        ...session,
        submit: (submission) =>
          (submission.actAs ?? []).includes(under.venue.venue)
            ? under.venue.submit(submission)
            : session.submit(submission)
      }))
  },
  "everybody sees everything the venue sees": {
    breaks: "L15",
    plant: (under: TestedLedger) =>
      sessionsThrough(under, (session) => ({ ...session, updates: under.venue.updates }))
  },
  "the venue sees half of a transaction": {
    breaks: "L15",
    plant: ofTransaction((transaction) => ({
      ...transaction,
      events: transaction.events.filter(({ _tag }) => _tag === "Created")
    }))
  },
  "commandIds are shown to everybody": {
    breaks: "L16",
    plant: ofTransaction((transaction) => ({
      ...transaction,
      commandId: Option.some(Option.getOrElse(transaction.commandId, () => "someone's"))
    }))
  },
  "commandIds are ignored": {
    breaks: "L17",
    plant: (under: TestedLedger) => {
      let attempts = 0
      return onPort(under, (port) => ({
        submit: (submission) =>
          port.submit({ ...submission, commandId: `${submission.commandId}#${++attempts}` }),
        updates: (query) =>
          Stream.map(port.updates(query), (update) =>
            update._tag === "Transaction"
              ? {
                  ...update,
                  commandId: Option.map(update.commandId, (id) => id.replace(/#[0-9]+$/, ""))
                }
              : update
          )
      }))
    }
  },
  "a duplicate is refused": {
    breaks: "L17",
    plant: (under: TestedLedger) =>
      onPort(under, (port) => ({
        submit: (submission) =>
          Effect.flatMap(port.submit(submission), (receipt) =>
            receipt.duplicate
              ? Effect.fail(
                  new Ledger.Refused({
                    code: "DUPLICATE_COMMAND",
                    cause: "",
                    category: 10,
                    context: {},
                    resources: []
                  })
                )
              : Effect.succeed(receipt)
          )
      }))
  },
  "spent commandIds are forgotten": {
    breaks: "L35",
    plant: (under: TestedLedger) => {
      const spent = new Set<string>()
      return onPort(under, (port) => ({
        submit: (submission) =>
          Effect.gen(function* () {
            const [{ _tag }] = submission.commands
            if (_tag === "CreateAndExercise") {
              return yield* Effect.tap(port.submit(submission), () =>
                Effect.sync(() => spent.add(submission.commandId))
              )
            }
            if (!spent.has(submission.commandId)) return yield* port.submit(submission)
            const offset = yield* Effect.orDie(port.ledgerEnd)
            return yield* port.submit({ ...submission, dedup: { _tag: "Since", offset } })
          })
      }))
    }
  },
  "dedup windows are forgotten": {
    breaks: "L19",
    plant: (under: TestedLedger) =>
      onPort(under, (port) => ({
        submit: (submission) =>
          port.submit({
            ...submission,
            dedup: { _tag: "For", duration: Duration.days(7) }
          })
      }))
  },
  "the outcome is always absent": {
    breaks: "L21",
    plant: (under: TestedLedger) => onPort(under, () => ({ outcome: () => Effect.succeedNone }))
  },
  "an unknown outcome is told as refused": {
    breaks: "L22",
    plant: (under: TestedLedger) =>
      onPort(under, (port) => ({
        submit: (submission) =>
          Effect.catchTag(port.submit(submission), "OutcomeUnknown", ({ why }) =>
            Effect.fail(
              new Ledger.Refused({ code: "X", cause: why, category: 9, context: {}, resources: [] })
            )
          )
      }))
  },
  "a lost connection is told as success": {
    breaks: "L22",
    plant: (under: TestedLedger) =>
      onPort(under, (port) => ({
        submit: (submission) =>
          Effect.catchTag(port.submit(submission), "OutcomeUnknown", () =>
            Effect.gen(function* () {
              const nowhere = yield* Effect.orDie(port.ledgerEnd)
              return {
                updateId: "00",
                offset: Offset.next(nowhere),
                effectiveAt: epoch,
                recordTime: epoch,
                duplicate: false,
                transaction: Option.none()
              }
            })
          )
      }))
  },
  "below the horizon there is silence": {
    breaks: "L25",
    plant: (under: TestedLedger) =>
      onPort(under, (port) => ({
        updates: (query) =>
          Stream.catchTag(port.updates(query), "BeforeHorizon", () => Stream.empty),
        acs: (query) => Stream.catchTag(port.acs(query), "BeforeHorizon", () => Stream.empty)
      }))
  },
  "beyond the end there is silence": {
    breaks: "L26",
    plant: (under: TestedLedger) =>
      onPort(under, (port) => ({
        updates: (query) => Stream.catchTag(port.updates(query), "AfterEnd", () => Stream.empty),
        acs: (query) => Stream.catchTag(port.acs(query), "AfterEnd", () => Stream.empty)
      }))
  },
  "a resumed stream begins with the last update again": {
    breaks: "L4",
    plant: (under: TestedLedger) =>
      onPort(under, (port) => ({
        updates: (query) =>
          port.updates(query.after === 0 ? query : { ...query, after: Offset.of(query.after - 1) })
      }))
  },
  "the pages of a snapshot are of different ends": {
    breaks: "L6",
    plant: (under: TestedLedger) =>
      onPort(under, (port) => ({
        acs: (query) => {
          const later = Effect.flatMap(
            Effect.repeat(Effect.yieldNow, { times: 1_000 }),
            () => port.ledgerEnd
          )
          return Stream.concat(
            Stream.take(port.acs(query), pageSize),
            Stream.unwrap(
              Effect.map(later, (at) => Stream.drop(port.acs({ ...query, at }), pageSize))
            )
          )
        }
      }))
  },
  "disclosed contracts are left out": {
    breaks: "L14",
    plant: (under: TestedLedger) =>
      sessionsThrough(under, (session) => ({
        ...session,
        submit: ({ disclosed: _, ...submission }) => session.submit(submission)
      }))
  },
  "contention is told as a refusal": {
    breaks: "L18",
    plant: (under: TestedLedger) =>
      onPort(under, (port) => ({
        submit: (submission) =>
          Effect.catchTag(port.submit(submission), "Busy", ({ cause, code, context, resources }) =>
            Effect.fail(new Ledger.Refused({ code, cause, category: 9, context, resources }))
          )
      }))
  },
  "a window that is too long is cut": {
    breaks: "L20",
    plant: (under: TestedLedger) =>
      onPort(under, (port) => ({
        submit: (submission) =>
          Effect.catchTag(port.submit(submission), "DedupUnsupported", () =>
            Effect.flatMap(Effect.orDie(port.horizon), (offset) =>
              port.submit({ ...submission, dedup: { _tag: "Since", offset } })
            )
          )
      }))
  },
  "the earliest time is left out": {
    breaks: "L23",
    plant: (under: TestedLedger) =>
      onPort(under, (port) => ({
        submit: ({ notBefore: _, ...submission }) => port.submit(submission)
      }))
  },
  "the participant is remembered": {
    breaks: "L27",
    plant: (under: TestedLedger) =>
      onPort(under, (port) => {
        let first: Ledger.Description | undefined
        return {
          describe: Effect.suspend(() =>
            first === undefined
              ? Effect.tap(port.describe, (description) =>
                  Effect.sync(() => {
                    first = description
                  })
                )
              : Effect.succeed(first)
          )
        }
      })
  },
  "every package counts as known": {
    breaks: "L28",
    plant: (under: TestedLedger) =>
      onPort(under, (port) => ({
        packages: (names) =>
          Effect.map(port.packages(names), (found) =>
            found.map(({ name, packageId }) => ({
              name,
              packageId: Option.some(Option.getOrElse(packageId, () => "00"))
            }))
          )
      }))
  },
  "amounts pass through a float": {
    breaks: "L29",
    plant: (under: TestedLedger) =>
      onPort(under, (port) => ({
        submit: (submission) =>
          Effect.map(port.submit(submission), (receipt) => ({
            ...receipt,
            transaction: Option.map(receipt.transaction, (transaction) => ({
              ...transaction,
              events: transaction.events.map((event) =>
                event._tag === "Created" ? { ...event, payload: floated(event.payload) } : event
              )
            }))
          }))
      }))
  }
})

/** Name of a planted fault of a ledger. */
export type FaultName = keyof typeof faults

/** Layer of the ledger with the fault applied. */
export const layer = <E>(
  name: FaultName,
  honest: Layer.Layer<LedgerUnderTest, E>
): Layer.Layer<LedgerUnderTest, E> =>
  Layer.effect(LedgerUnderTest, Effect.map(LedgerUnderTest, faults[name].plant)).pipe(
    Layer.provide(honest)
  )

const epoch = Instant.fromNanos(0n)

/** Contracts in the first page of a snapshot that is read in pages. */
const pageSize = 5

const floated = (payload: Ledger.LfRecord): Ledger.LfRecord => {
  const amount = payload["amount"]
  return typeof amount === "string" ? { ...payload, amount: Number(amount).toFixed(10) } : payload
}
