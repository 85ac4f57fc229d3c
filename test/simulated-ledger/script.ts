/** Random walks on a ledger: what several parties do in any order, the same each time for the same numbers. */
import { Instant, Offset, type Party } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { SimulatedUnderTest, type Session } from "@bursar/storage-adapters/conformance"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Effect, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { createHash } from "node:crypto"
import { everything } from "./world.ts"

const hints = ["venue", "registrar", "fund", "holder"] as const

/** One step: who tries what, with which earlier contract and which commandId. */
export interface Step {
  readonly who: number
  readonly what: number
  readonly target: number
  readonly command: number
  readonly seconds: number
}

export const steps: fc.Arbitrary<ReadonlyArray<Step>> = fc.array(
  fc.record({
    who: fc.nat(hints.length - 1),
    what: fc.nat(8),
    target: fc.nat(50),
    command: fc.nat(30),
    seconds: fc.nat(30)
  }),
  { minLength: 5, maxLength: 40 }
)

export interface Player {
  readonly party: Party.Party
  readonly token: string
  readonly session: Session
}

/** The same parties on every ledger. */
export const people = Effect.gen(function* () {
  const participant = yield* SimulatedLedger.Participant
  return yield* Effect.forEach(hints, (hint) =>
    Effect.map(
      participant.admin.addParty({
        hint,
        kind: "local",
        publicKey: new Uint8Array(createHash("sha256").update(hint).digest())
      }),
      ({ party, token }) => ({
        party,
        token,
        session: SimulatedUnderTest.session(participant, { party, token })
      })
    )
  )
})

type Commands = readonly [Ledger.Command, ...ReadonlyArray<Ledger.Command>]

interface Move {
  /** Party that may do it; in a quarter of the steps another one tries. */
  readonly by: (typeof hints)[number]
  /** Kind of the contract that it is exercised on, if any. */
  readonly on?: string
  readonly commands: (
    parties: { readonly [hint in (typeof hints)[number]]: Party.Party },
    at: { readonly target: string; readonly step: Step }
  ) => Commands
}

type Parties = Parameters<Move["commands"]>[0]

const proposal = ({ venue, registrar, fund }: Parties, step: Step) =>
  Templates.create(Templates.AdmissionConsentProposal, {
    venue,
    admissionConsentId: `a${step.command}`,
    registrar,
    fund,
    instrumentId: "i",
    terms: "\u00fc\u{1F600}"
  })

const moves: ReadonlyArray<Move> = [
  { by: "venue", commands: (parties, { step }) => [proposal(parties, step)] },
  {
    by: "holder",
    commands: ({ venue, holder }) => [
      Templates.create(Templates.SignedTerms, {
        venue,
        holder,
        holderId: "h",
        documentHash: "cd".repeat(32),
        signedAt: Instant.of("2026-01-01T00:00:00.000001Z")
      })
    ]
  },
  {
    by: "registrar",
    on: "AdmissionConsentProposal",
    commands: (_, { target }) => [
      Templates.exercise(Templates.AdmissionConsentProposal, target, "Accept", {})
    ]
  },
  {
    by: "venue",
    on: "AdmissionConsentProposal",
    commands: (parties, { target, step }) => [
      Templates.exercise(Templates.AdmissionConsentProposal, target, "Withdraw", {}),
      proposal(parties, step)
    ]
  },
  {
    by: "venue",
    commands: (parties, { step }) => [proposal(parties, step), proposal(parties, step)]
  },
  {
    by: "venue",
    on: "AdmissionConsent",
    commands: ({ holder }, { target }) => [
      Templates.exercise(Templates.AdmissionConsent, target, "Offer", {
        holder,
        credentialId: "c",
        claims: [{ subject: holder, property: "p", value: "v" }],
        validFrom: null,
        validUntil: null,
        expiresAt: null
      })
    ]
  },
  {
    by: "holder",
    on: "AdmissionOffer",
    commands: (_, { target }) => [
      Templates.exercise(Templates.AdmissionOffer, target, "Accept", {})
    ]
  },
  {
    by: "venue",
    on: "SignedTerms",
    commands: (_, { target }) => [
      Templates.exercise(Templates.SignedTerms, target, "AcceptTerms", {})
    ]
  },
  {
    by: "venue",
    commands: (parties, { step }) => [
      { ...proposal(parties, step), _tag: "CreateAndExercise", choice: "Withdraw", arg: {} }
    ]
  }
]

/** Plays the steps, of which some are refused. Returns the last outcome of each. */
export const play = (script: ReadonlyArray<Step>) =>
  Effect.gen(function* () {
    const players = yield* people
    const at = (hint: (typeof hints)[number]) => {
      const player = players[hints.indexOf(hint)]
      if (player === undefined) throw new Error(hint)
      return player
    }
    const parties = {
      venue: at("venue").party,
      registrar: at("registrar").party,
      fund: at("fund").party,
      holder: at("holder").party
    }
    const contracts: Array<{ readonly entity: string; readonly contractId: string }> = []
    const outcomes: Array<string> = []
    for (const step of script) {
      const move = moves[step.what % moves.length]
      if (move === undefined) continue
      const fitting = contracts.filter(({ entity }) => entity === move.on)
      const target = fitting[step.target % Math.max(1, fitting.length)]?.contractId ?? "00"
      const player = step.who === 0 ? players[step.target % players.length] : at(move.by)
      if (player === undefined) continue
      const outcome = yield* Effect.result(
        player.session.submit({
          commandId: `c${step.command}`,
          commands: move.commands(parties, { target, step }),
          dedup: { _tag: "Since", offset: Offset.zero },
          ...(step.seconds === 30 ? { notBefore: Instant.of("2999-01-01T00:00:00Z") } : {})
        })
      )
      outcomes.push(
        outcome._tag === "Success"
          ? `${outcome.success.updateId} ${outcome.success.duplicate}`
          : outcome.failure._tag
      )
      if (outcome._tag === "Success" && !outcome.success.duplicate) {
        const shownTransactions = Option.toArray(outcome.success.transaction)
        for (const { _tag, template, contractId } of shownTransactions.flatMap(
          ({ events }) => events
        )) {
          if (_tag === "Created") contracts.push({ entity: template.entity, contractId })
        }
      }
      yield* TestClock.adjust(`${step.seconds} seconds`)
    }
    return { players, outcomes }
  })

export const transactionsOf = (session: Session, end: Offset.Offset) =>
  session.updates({ after: Offset.zero, through: end, filter: everything }).pipe(
    Stream.filter((update): update is Ledger.Transaction => update._tag === "Transaction"),
    Stream.runCollect
  )

export const activeOf = (session: Session, at: Offset.Offset) =>
  Stream.runCollect(session.acs({ at, filter: everything }))

/** Answers of the ledger to every query, for every player. */
export const account = (players: ReadonlyArray<Player>) =>
  Effect.gen(function* () {
    const participant = yield* SimulatedLedger.Participant
    const end = yield* participant.ledgerEnd
    return yield* Effect.forEach(players, ({ session, token, party }) =>
      Effect.gen(function* () {
        const user = yield* participant.authenticate(token)
        const completions = participant.completions(user, {
          parties: [party],
          after: Offset.zero,
          through: Option.some(end)
        })
        return {
          end,
          updates: yield* transactionsOf(session, end),
          active: yield* activeOf(session, end),
          completions: (yield* Stream.runCollect(completions)).map((one) =>
            one._tag === "Completion" && one.outcome._tag === "Rejected"
              ? { ...one, outcome: SimulatedLedger.LedgerError.toStored(one.outcome.error) }
              : one
          )
        }
      })
    )
  })
