/** Observer of the ledger as a third party: reads the updates that the ledger shows its readers and keeps its own sums of holdings and contracts. */
import { Offset, type Party } from "@bursar/engine-core/kernel"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Effect, Exit, Option, Stream } from "effect"
import { holds, same } from "../books.ts"
import { add, type Atoms, atoms } from "./figures.ts"

export type Payload = Readonly<Record<string, unknown>>

export interface Contract {
  readonly cid: string
  readonly entity: string
  readonly payload: Payload
  /** The ledger's own time of its creation, in milliseconds. */
  readonly createdAt: number
  readonly createdOffset: Offset.Offset
  /** Effective time of the transaction that created it, in nanoseconds. */
  readonly effectiveAt: bigint
  /** Steps at which it was first seen to stand, and to have ended. */
  readonly from: number
  until: number
  /** Offset of the transaction that ended it; null: it stands. */
  endedOffset: Offset.Offset | null
  /** Effective time of the same transaction, in nanoseconds. */
  endedAt: bigint | null
}

/** A choice that somebody exercised, for whoever follows more than holdings. */
export interface Exercise {
  readonly entity: string
  readonly choice: string
  readonly contract: Contract | undefined
  readonly arg: Payload
  readonly step: number
  readonly offset: Offset.Offset
}

/** A whole transaction, once all of it is read. */
export interface Ended {
  /** Ledger time in nanoseconds: the latest effective time so far, so that it never decreases. */
  readonly at: bigint
  /** `asset owner` to what it gained by the transaction, or with a minus lost. */
  readonly gained: ReadonlyMap<string, Atoms>
}

/** Units that a party gained by a transaction, or with a minus lost. */
export interface Change {
  /** Ledger time in nanoseconds. */
  readonly at: bigint
  readonly amount: Atoms
}

const text = (value: unknown): string => (typeof value === "string" ? value : "")
export const inside = (value: unknown, member: string): string =>
  typeof value === "object" && value !== null ? text((value as Payload)[member]) : ""

/** Members that name whom a contract is about: whoever is named finds it among its own. */
const abouts = ["holder", "owner", "sender", "receiver"] as const

/** Contracts that an act is judged by afterwards, when they may have ended. */
const remembered = new Set(["Credential", "IssuerPowersConsent"])

/** Entities of which every contract is kept, also once it has ended. */
const kept = new Set(["OraclePoint"])

export const make = (readers: ReadonlyArray<Party.Party>) => {
  const activeContracts = new Map<string, Contract>()
  /** `party entity` to every contract there ever was of the entities that are judged by afterwards. */
  const lives = new Map<string, Array<Contract>>()
  const byEntity = new Map<string, Map<string, Contract>>()
  const byParty = new Map<string, Map<string, Contract>>()
  /** `asset owner` to what it holds, locked or not; and what nothing locks. */
  const held = new Map<string, Atoms>()
  const supply = new Map<string, Atoms>()
  /** `asset owner` to every change of what it holds, with the ledger time in nanoseconds. */
  const changes = new Map<string, Array<Change>>()
  /** `asset owner` to what each transaction changed of it altogether. */
  const nets = new Map<string, Array<Change>>()
  const listeners: Array<(exercise: Exercise) => void> = []
  const endListeners: Array<(ended: Ended) => void> = []
  const everByEntity = new Map<string, Map<string, Contract>>()
  let gained = new Map<string, Atoms>()
  let ledgerTime = 0n
  let offset: Offset.Offset = Offset.zero
  let transactions = 0

  const among = (groups: Map<string, Map<string, Contract>>, key: string) => {
    const group = groups.get(key)
    if (group !== undefined) return group
    const made = new Map<string, Contract>()
    groups.set(key, made)
    return made
  }

  const about = (contract: Contract) => [
    ...new Set(abouts.map((member) => text(contract.payload[member])).filter((one) => one !== ""))
  ]

  const assetOf = ({ payload }: Contract) => inside(payload["instrument"], "id")
  const holdingOf = (contract: Contract) => ({
    key: `${assetOf(contract)} ${text(contract.payload["owner"])}`,
    amount: atoms(text(contract.payload["amount"]))
  })

  const moves = (contract: Contract, at: bigint, sign: 1n | -1n) => {
    const { amount, key } = holdingOf(contract)
    add(held, key, sign * amount)
    add(gained, key, sign * amount)
    const earlier = changes.get(key) ?? []
    changes.set(key, earlier)
    earlier.push({ at, amount: sign * amount })
    return sign * amount
  }

  const begins = (contract: Contract, at: bigint, delta: Map<string, Atoms>) => {
    holds(!activeContracts.has(contract.cid), `${contract.cid} was created twice`)
    activeContracts.set(contract.cid, contract)
    among(byEntity, contract.entity).set(contract.cid, contract)
    if (kept.has(contract.entity)) among(everByEntity, contract.entity).set(contract.cid, contract)
    for (const party of about(contract)) {
      among(byParty, party).set(contract.cid, contract)
      if (!remembered.has(contract.entity)) continue
      const key = `${party} ${contract.entity}`
      const contracts = lives.get(key)
      if (contracts === undefined) lives.set(key, [contract])
      else contracts.push(contract)
    }
    if (contract.entity !== "Holding") return
    const amount = moves(contract, at, 1n)
    holds(amount > 0n, `${contract.cid} holds ${amount}`)
    add(delta, assetOf(contract), amount)
  }

  const ends = (
    cid: string,
    moment: {
      readonly step: number
      readonly at: bigint
      readonly effectiveAt: bigint
      readonly offset: Offset.Offset
    },
    delta: Map<string, Atoms>
  ) => {
    const contract = activeContracts.get(cid)
    holds(contract !== undefined, `${cid} ended and did not stand`)
    if (contract === undefined) return
    contract.until = moment.step
    contract.endedOffset = moment.offset
    contract.endedAt = moment.effectiveAt
    activeContracts.delete(cid)
    byEntity.get(contract.entity)?.delete(cid)
    for (const party of about(contract)) byParty.get(party)?.delete(cid)
    if (contract.entity !== "Holding") return
    add(delta, assetOf(contract), moves(contract, moment.at, -1n))
  }

  const read = (one: SimulatedLedger.SeenTransaction, step: number) => {
    transactions += 1
    const { effectiveAt, offset } = one
    if (effectiveAt > ledgerTime) ledgerTime = effectiveAt
    const at = ledgerTime
    gained = new Map()
    const delta = new Map<string, Atoms>()
    const said = new Map<string, Atoms>()
    let exercised = -1
    for (const event of one.events) {
      if (event._tag === "Created") {
        const contract = {
          cid: event.contractId,
          entity: event.template.entity,
          payload: event.payload as Payload,
          createdAt: Number(effectiveAt / 1_000_000n),
          createdOffset: offset,
          effectiveAt,
          from: step,
          until: Number.POSITIVE_INFINITY,
          endedOffset: null,
          endedAt: null
        }
        begins(contract, at, delta)
        // Only an asset's own registrar issues it, and the new holding is the registrar's own.
        if (contract.entity === "Holding" && event.nodeId > exercised) {
          same(contract.payload["owner"], contract.payload["registrar"], "who issues")
          add(said, assetOf(contract), holdingOf(contract).amount)
        }
        continue
      }
      if (event._tag !== "Exercised") continue
      exercised = Math.max(exercised, event.lastDescendant)
      const contract = activeContracts.get(event.contractId)
      const arg = event.arg as Payload
      if (event.choice === "Receive" && contract !== undefined) {
        add(said, text(contract.payload["instrumentId"]), atoms(text(arg["amount"])))
      }
      if (event.choice === "Burn" && contract !== undefined) {
        add(said, assetOf(contract), -holdingOf(contract).amount)
      }
      for (const hear of listeners) {
        hear({ entity: event.template.entity, choice: event.choice, contract, arg, step, offset })
      }
      if (event.consuming) ends(event.contractId, { step, at, effectiveAt, offset }, delta)
    }
    same(listed(delta), listed(said), `what ${one.updateId} made and burned`)
    for (const [asset, amount] of delta) add(supply, asset, amount)
    for (const [key, amount] of gained) {
      const earlier = nets.get(key) ?? []
      nets.set(key, earlier)
      earlier.push({ at, amount })
    }
    for (const hearEnd of endListeners) hearEnd({ at, gained })
  }

  const byParties = new Map(readers.map((party) => [party, SimulatedLedger.Views.everything]))
  const user = {
    userId: "observer",
    tokenHash: null,
    rights: readers.map((party) => ({ kind: "CanReadAs" as const, party })),
    expiresAt: null,
    active: true
  }

  /** Reads on to where the ledger can be read now. */
  const look = Effect.fnUntraced(function* (step: number) {
    const participant = yield* SimulatedLedger.Participant
    const end = yield* participant.ledgerEnd
    if (end === offset) return false
    // A stream that is cut is read on from where it was; what is told twice is read once.
    while (offset < end) {
      const before = offset
      const updates = participant.updates(user, {
        after: offset,
        through: Option.some(end),
        reading: { shape: "LEDGER_EFFECTS", byParty: byParties }
      })
      const exit = yield* Effect.exit(
        Stream.runForEach(updates, (update) =>
          Effect.sync(() => {
            if (update._tag !== "Transaction" || update.offset <= offset) return
            offset = update.offset
            read(update, step)
          })
        )
      )
      if (Exit.isSuccess(exit)) offset = end
      else if (exit.cause.reasons.some((reason) => reason._tag === "Die")) return yield* exit
      // No update can be read for now.
      else if (offset === before) return false
    }
    return true
  })

  const none: ReadonlyMap<string, Contract> = new Map()
  return {
    look,
    hears: (hear: (exercise: Exercise) => void) => listeners.push(hear),
    /** Calls back once all of a transaction is read. */
    hearsEnds: (hearEnd: (ended: Ended) => void) => endListeners.push(hearEnd),
    activeContract: (cid: string) => activeContracts.get(cid),
    /** Every contract there ever was of an entity of which all are kept, in the order of the ledger. */
    every: (entity: string): ReadonlyMap<string, Contract> => everByEntity.get(entity) ?? none,
    /** The contracts of a template that stand, oldest first. */
    all: (entity: string): ReadonlyMap<string, Contract> => byEntity.get(entity) ?? none,
    /** The contracts that name a party as holder, owner, sender or receiver. */
    contractsOf: (party: string): ReadonlyMap<string, Contract> => byParty.get(party) ?? none,
    /** Every contract of an entity that ever named a party, of those that are judged by afterwards. */
    ever: (party: string, entity: string): ReadonlyArray<Contract> =>
      lives.get(`${party} ${entity}`) ?? [],
    /** Returns the units of an asset that a party held before an instant of the ledger, in nanoseconds. */
    unitsBefore: (asset: string, owner: string, end: bigint): Atoms =>
      (changes.get(`${asset} ${owner}`) ?? []).reduce(
        (sum, { amount, at }) => (at < end ? sum + amount : sum),
        0n
      ),
    /** Parties that ever held an asset. */
    owners: (asset: string): ReadonlyArray<string> =>
      [...changes.keys()].flatMap((key) =>
        key.startsWith(`${asset} `) ? [key.slice(asset.length + 1)] : []
      ),
    units: (asset: string, owner: string): Atoms => held.get(`${asset} ${owner}`) ?? 0n,
    held: (): ReadonlyMap<string, Atoms> => held,
    supply: (asset: string): Atoms => supply.get(asset) ?? 0n,
    /** Returns what each transaction changed of the units of an asset that a party holds, in their order. */
    changesOf: (asset: string, owner: string): ReadonlyArray<Change> =>
      nets.get(`${asset} ${owner}`) ?? [],
    /** Latest effective time that was read, in nanoseconds. */
    ledgerTime: () => ledgerTime,
    /** Offset of the last update that was read. */
    offset: () => offset,
    transactions: () => transactions
  }
}
export type LedgerObserver = ReturnType<typeof make>

const listed = (amounts: ReadonlyMap<string, bigint>) =>
  [...amounts].filter(([, one]) => one !== 0n).toSorted(([a], [b]) => (a < b ? -1 : 1))
