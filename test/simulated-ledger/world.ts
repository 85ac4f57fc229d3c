/** A ledger in memory with all parties, for tests that play a story. */
import { SimulatedUnderTest, type Session } from "@bursar/storage-adapters/conformance"
import type { Offset } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Effect, Option, Stream } from "effect"

export const options = { ledgerId: "sim", participantId: "participant" }

/** Sessions for these hints, on the node that is provided. */
export const parties = <const H extends string>(...hints: ReadonlyArray<H>) =>
  Effect.gen(function* () {
    const participant = yield* SimulatedLedger.Participant
    const sessions: Array<readonly [H, Session]> = []
    for (const hint of hints) {
      const { party, token } = yield* participant.admin.addParty({ hint, kind: "local" })
      sessions.push([hint, SimulatedUnderTest.session(participant, { party, token })])
    }
    const find = (hint: H): Session => {
      const found = sessions.find(([one]) => one === hint)
      if (found === undefined) throw new Error(hint)
      return found[1]
    }
    return find
  })

let commands = 0
export const submission = (
  ...commandsOf: readonly [Ledger.Command, ...ReadonlyArray<Ledger.Command>]
): Ledger.Submission => ({
  commandId: `c${++commands}`,
  commands: commandsOf,
  dedup: { _tag: "Since", offset: 0 as Offset.Offset }
})

/** The ids of what was created, by entity, in order. */
export const created = (receipt: Ledger.Receipt, entity: string): ReadonlyArray<string> =>
  Option.match(receipt.transaction, {
    onNone: () => [],
    onSome: ({ events }) =>
      events.flatMap((event) =>
        event._tag === "Created" && event.template.entity === entity ? [event.contractId] : []
      )
  })

export const act = (
  session: Session,
  ...commandsOf: readonly [Ledger.Command, ...ReadonlyArray<Ledger.Command>]
) => session.submit(submission(...commandsOf))

/** Acts and gives the one contract of that entity which came of it. */
export const make = (
  session: Session,
  entity: string,
  ...commandsOf: readonly [Ledger.Command, ...ReadonlyArray<Ledger.Command>]
) =>
  Effect.flatMap(act(session, ...commandsOf), (receipt) => {
    const [contractId, ...more] = created(receipt, entity)
    return contractId === undefined || more.length > 0
      ? Effect.die(new Error(`not one ${entity}`))
      : Effect.succeed(contractId)
  })

export const everything: Ledger.Filter = { templates: [], interfaces: [] }

/** The nodes that a reader sees of one transaction. */
export const nodes = (session: Session, receipt: Ledger.Receipt) =>
  session
    .updates({
      after: (receipt.offset - 1) as Offset.Offset,
      through: receipt.offset,
      filter: everything
    })
    .pipe(
      Stream.runCollect,
      Effect.map((updates) =>
        updates.flatMap((update) => (update._tag === "Transaction" ? update.events : []))
      )
    )

export const blobOf = (
  session: Session,
  contractId: string,
  at: Offset.Offset,
  ref: Ledger.TypeRef
) =>
  session.acs({ at, filter: { templates: [ref], interfaces: [], includeBlobFor: [ref] } }).pipe(
    Stream.runCollect,
    Effect.map((active) =>
      Option.getOrThrow(
        Option.flatMap(
          Option.fromUndefinedOr(active.find((one) => one.contractId === contractId)),
          ({ blob }) => blob
        )
      )
    )
  )
