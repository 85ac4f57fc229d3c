/**
 * Outside parties' hands: what they sign on the ledger, each with its own right, until they have an answer.
 * A wallet of the venue neither repeats an act whose answer the ledger's faults have lost, nor has the key of
 * a town's seed.
 */
import { Decimal, Instant, type Party } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Effect, Result } from "effect"
import { inside, type Contract } from "./ledger-observer.ts"
import { plain } from "./figures.ts"
import { type Fund, note, tell, type Town, type Wallet } from "./town.ts"
import { keyOf } from "./world.ts"

export const party = Effect.fnUntraced(function* (name: string) {
  const participant = yield* SimulatedLedger.Participant
  const added = yield* participant.admin
    .addParty({ hint: name, kind: "local", publicKey: keyOf(name) })
    .pipe(Effect.orDie)
  return { name, party: added.party } satisfies Wallet
})

/** An answer that was lost is asked for again, under the same command id. */
const attempts = 50

/** Signs on the ledger; whether it was done. */
export const act = Effect.fnUntraced(function* (
  town: Town,
  by: Wallet,
  what: string,
  ...commands: ReadonlyArray<Ledger.Command>
) {
  const participant = yield* SimulatedLedger.Participant
  const user = {
    userId: by.party,
    tokenHash: null,
    rights: [{ kind: "CanActAs" as const, party: by.party }],
    expiresAt: null,
    active: true
  }
  const commandId = `town-${++town.count}`
  for (let attempt = 0; attempt < attempts; attempt++) {
    const answer = yield* Effect.result(
      participant.submit(user, {
        commandId,
        actAs: [by.party],
        readAs: [],
        commands,
        dedup: null,
        submissionId: `${commandId}-${attempt}`,
        workflowId: null,
        disclosed: [],
        minLedgerTime: null,
        traceparent: null
      })
    )
    const code = Result.isSuccess(answer) ? "done" : answer.failure.code
    if (code === "SERVICE_NOT_RUNNING") continue
    const done = code === "done" || code === "DUPLICATE_COMMAND"
    note(town, `${what} ${done ? "signed" : "not signed"}`)
    tell(town, `${by.name} ${what} -> ${code}`)
    return done
  }
  throw new Error("audit: the ledger never answered")
})

export const text = (value: unknown): string => (typeof value === "string" ? value : "")
export const member = (one: Contract, name: string): string => text(one.payload[name])
export const assetOf = (one: Contract): string => inside(one.payload["instrument"], "id")

/** The first contract of an entity that names a party and fits. */
export const find = (
  town: Town,
  who: string,
  entity: string,
  fits: (one: Contract) => boolean = () => true
): Contract | undefined => {
  for (const one of town.observer.contractsOf(who).values())
    if (one.entity === entity && fits(one)) return one
  return undefined
}

export const cash = (town: Town) => ({ admin: town.bankParty.party, id: "USD" })
export const assetFor = (fund: Fund) => ({ admin: fund.registrar.party, id: fund.instrumentId })

/** Every holding of a party that nothing locks. */
export const unlocked = (town: Town, owner: string, assetId: string): ReadonlyArray<Contract> =>
  [...town.observer.contractsOf(owner).values()].filter(
    (one) =>
      one.entity === "Holding" &&
      one.payload["lock"] === null &&
      one.payload["owner"] === owner &&
      assetOf(one) === assetId
  )

/** A holding of a party that nothing locks, of at least so much, in the parts of the ledger. */
export const free = (
  town: Town,
  owner: string,
  assetId: string,
  atLeast: string
): Contract | undefined => {
  const least = Decimal.of(atLeast)
  return find(
    town,
    owner,
    "Holding",
    (one) =>
      one.payload["lock"] === null &&
      one.payload["owner"] === owner &&
      assetOf(one) === assetId &&
      Decimal.atLeast(Decimal.of(member(one, "amount")), least)
  )
}

const addDays = (now: Instant.Instant, days: number): Instant.Instant =>
  Instant.fromNanos(now + BigInt(days) * 86_400_000_000_000n)

/** A party locks cash or units for the venue to move. */
export const allocates = Effect.fnUntraced(function* (
  town: Town,
  by: Wallet,
  payment: {
    readonly assetId: string
    readonly amount: string
    readonly to: Party.Party
    readonly reference: string
  }
) {
  const holding = free(town, by.party, payment.assetId, payment.amount)
  if (holding === undefined) return false
  const now = yield* Instant.now
  return yield* act(
    town,
    by,
    `allocates ${payment.assetId === "USD" ? "cash" : "units"}`,
    Templates.exercise(Templates.Holding, holding.cid, "Allocate", {
      allocationId: payment.reference,
      executor: town.venue,
      receiver: payment.to,
      amount: Decimal.of(payment.amount),
      settleBefore: addDays(now, 20)
    })
  )
})

/** The bank issues cash and gives it to a party, which accepts it. */
export const pays = Effect.fnUntraced(function* (town: Town, to: Wallet, cents: bigint) {
  const bank = town.bankParty
  const amount = Decimal.of(plain(cents, 2))
  const now = yield* Instant.now
  yield* act(
    town,
    bank,
    "issues",
    Templates.create(Templates.Holding, {
      registrar: bank.party,
      owner: bank.party,
      provider: town.venue,
      instrument: cash(town),
      amount,
      restricted: false,
      lock: null,
      label: "",
      meta: {}
    })
  )
  yield* town.observer.look(town.step)
  const issued = free(town, bank.party, "USD", plain(cents, 2))
  if (issued === undefined) return
  yield* act(
    town,
    bank,
    "pays",
    Templates.exercise(Templates.Holding, issued.cid, "OfferTransfer", {
      receiver: to.party,
      amount,
      executeBefore: addDays(now, 30)
    })
  )
  yield* town.observer.look(town.step)
  const offer = find(town, to.party, "TransferOffer", (one) => one.payload["receiver"] === to.party)
  if (offer === undefined) return
  yield* act(
    town,
    to,
    "takes",
    Templates.exercise(Templates.TransferOffer, offer.cid, "Accept", { credentialCid: null })
  )
})
