/** One process owns a ledger's database at a time, and a store that fails never makes a lie of an answer. */
import { Offset } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import * as OnPostgres from "../conformance/simulated-ledger.postgres.ts"
import { options } from "./world.ts"

const onPostgres = OnPostgres.open()

const venue = Effect.gen(function* () {
  const participant = yield* SimulatedLedger.Participant
  const { party, token } = yield* participant.admin.addParty({ hint: "venue", kind: "local" })
  const port = yield* SimulatedLedger.Venue.make({ token })
  return { participant, port, party, token }
})

const submission = (party: string, commandId: string) => ({
  commandId,
  dedup: { _tag: "Since", offset: Offset.zero } as const,
  commands: [
    {
      _tag: "Create",
      template: Templates.AdmissionConsentProposal.typeRef,
      args: {
        venue: party,
        admissionConsentId: commandId,
        registrar: party,
        fund: party,
        instrumentId: "i",
        terms: ""
      }
    }
  ] as const
})

describe("a ledger's database", () => {
  it.effect("never would be run by two processes at once", () =>
    Effect.gen(function* () {
      yield* SimulatedLedger.Participant
      const second = yield* Effect.flip(
        Effect.scoped(
          Effect.provide(SimulatedLedger.Participant, Layer.fresh(onPostgres.participant))
        )
      )
      expect(second).toMatchObject({ _tag: "StoreLost", fenced: true })
    }).pipe(Effect.provide(onPostgres.freshParticipant))
  )

  it.effect("never would be written by a process that has lost it", () =>
    Effect.gen(function* () {
      const { port, participant, party } = yield* venue
      const { offset } = yield* port.submit(submission(party, "c1"))
      yield* onPostgres.behind(
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`update ledger_sim.head set epoch = epoch + 1`
        )
      )
      for (const commandId of ["c2", "c3"]) {
        const lost = yield* Effect.flip(port.submit(submission(party, commandId)))
        expect(lost._tag).toBe("OutcomeUnknown")
      }
      expect(yield* participant.ledgerEnd).toBe(offset)
      const kept = yield* onPostgres.behind(
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql<{ n: number }>`select count(*)::int as n from ledger_sim.tx`
        )
      )
      expect(kept).toEqual([{ n: 1 }])
    }).pipe(Effect.provide(onPostgres.freshParticipant))
  )

  it.effect("never would answer as done what the database did not take, and remember it", () =>
    Effect.gen(function* () {
      const { port, party } = yield* venue
      const alter = (statement: string) =>
        onPostgres.behind(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)))
      yield* alter("alter table ledger_sim.tx add constraint broken check (command_id <> 'c1')")
      const lost = yield* Effect.flip(port.submit(submission(party, "c1")))
      expect(lost._tag).toBe("OutcomeUnknown")
      const end = yield* port.ledgerEnd
      const query = { commandId: "c1", from: Offset.zero, through: end }
      expect(yield* port.outcome(query)).toEqual(Option.none())
      yield* alter("alter table ledger_sim.tx drop constraint broken")
      const receipt = yield* port.submit(submission(party, "c1"))
      expect(receipt.duplicate).toBe(false)
      const again = yield* port.submit(submission(party, "c1"))
      expect(again.updateId).toBe(receipt.updateId)
    }).pipe(Effect.provide(onPostgres.freshParticipant))
  )

  it.effect("never would forget a commit, a token or the horizon when its process ends", () =>
    Effect.gen(function* () {
      const before = yield* Effect.gen(function* () {
        const { port, participant, party, token } = yield* venue
        const first = yield* port.submit(submission(party, "c1"))
        yield* port.submit(submission(party, "c2"))
        yield* participant.admin.prune(first.offset)
        return { token, party, first, end: yield* port.ledgerEnd }
      }).pipe(Effect.provide(onPostgres.freshParticipant))
      yield* Effect.gen(function* () {
        const port = yield* SimulatedLedger.Venue.make({ token: before.token })
        expect(yield* port.ledgerEnd).toBe(before.end)
        expect(yield* port.horizon).toBe(before.first.offset)
        const dedup = { _tag: "Since", offset: before.first.offset } as const
        const again = yield* port.submit({ ...submission(before.party, "c2"), dedup })
        expect(again.duplicate).toBe(true)
      }).pipe(Effect.provide(onPostgres.participant))
    })
  )

  it.effect("never would keep other names than those it was made with", () =>
    Effect.gen(function* () {
      const participant = yield* SimulatedLedger.Participant
      expect(participant.ledgerId).toBe(options.ledgerId)
      expect(yield* participant.participantId).toBe(options.participantId)
    }).pipe(Effect.provide(onPostgres.freshParticipant))
  )
})
