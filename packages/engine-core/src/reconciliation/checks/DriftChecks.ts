/** Checks of reconciliation that compare the projection with the contracts that are active on the ledger. */
import { Effect, Stream } from "effect"
import { compare, withoutAmounts } from "../../findings/FindingRules.ts"
import { type Holding, holdings } from "../../instruments/register/Holding.ts"
import { holdingOf } from "../../instruments/register/RegisterFromLedger.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import { canonical, type Plain } from "../../kernel/PlainJson.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Crypto } from "../../ports/Crypto.ts"
import * as Ledger from "../../ports/Ledger.ts"
import { everything } from "../../projection/Bootstrap.ts"
import { type Contract, contracts } from "../../projection/Contract.ts"
import { lostRecords, noInstrument } from "../../projection/LostRecord.ts"
import { Records } from "../../records/Records.ts"
import { key } from "../../templates/Template.ts"
import { ResourceKind } from "../../vocabulary/ResourceKind.ts"
import * as Check from "./Check.ts"

/** The contracts of one template, or the records of one kind that are folded of them, at one offset. */
interface ContractDigests {
  /** Name of the template, or of the collection. */
  readonly name: string
  readonly projected: Digest
  readonly active: Digest
}

/** A record that was in flight when a new ledger epoch began without its contracts. */
interface LostRecord {
  readonly lost: {
    readonly kind: string
    readonly id: string
    readonly instrumentId: string | null
    /** True: its contract was a permission, without which it has ended. */
    readonly isEnded: boolean
  }
}

type DriftFact = ContractDigests | LostRecord

/** The other checks rest on it, and a comparison without a difference serves brief runs for a while. */
export const projectionDrift = Check.define("projection-drift", {
  doc: "Compares what the projection keeps of the active contracts with the contracts that are active on the ledger.",
  rule: "projection-against-the-ledger",
  needs:
    "The active contracts of the ledger at the offset of the run: without them the check has not run.",
  cannot: {
    "projection-drift": "a difference was found: no other check can rest on the projection",
    "before-horizon": "the ledger has pruned the offset of the run",
    "compared-before": "a brief run relies on a comparison of the last minutes that found nothing"
  },
  severity:
    "blocking; a warning of a lost record that names no instrument, and of a permission of the venue that the ledger no longer has",
  isGround: true,
  isMarked: true,
  servesFor: Duration.minutes(15),
  facts: ({ instrumentId }, at): Check.NotedFacts<DriftFact> => lost(instrumentId, at),
  venueFacts: (at) => digests(at),
  differences: (fact: DriftFact) => ("lost" in fact ? ofLost(fact) : ofDigests(fact))
})

/**
 * A record without its contracts differs without amounts. It blocks where the end of an order, a line or
 * a cycle of the instrument is unknown: what it owed may be paid a second time. It is a warning of a
 * permission, which has ended, and of a record of no instrument, which no hold could stop.
 */
const ofLost = ({ lost: { id, instrumentId, isEnded, kind } }: LostRecord) => [
  withoutAmounts({
    instrumentId,
    subject: { resourceKind: ResourceKind.has(kind) ? kind : "contract", id },
    holderId: null,
    severity: instrumentId === null || isEnded ? "warning" : "blocking",
    unit: "lost"
  })
]

/** Digests differ by their numbers, and without amounts where the numbers are the same. */
const ofDigests = ({ name, projected, active }: ContractDigests) => {
  const about = {
    instrumentId: null,
    subject: { resourceKind: "contract", id: name },
    holderId: null,
    severity: "blocking"
  } as const
  const counted = compare({
    ...about,
    unit: "contracts",
    expected: Decimal.fromInteger(projected.count),
    actual: Decimal.fromInteger(active.count),
    tolerance: Decimal.zero
  })
  return counted.length > 0 || projected.sum === active.sum
    ? counted
    : [withoutAmounts({ ...about, unit: "digest" })]
}

/**
 * Digest of a set of contracts that does not depend on their order: their number, and the sum of the
 * SHA-256 of each one's canonical JSON, modulo 2^256.
 */
interface Digest {
  readonly count: number
  readonly sum: bigint
}

export const nothing: Digest = { count: 0, sum: 0n }

const modulus = 1n << 256n

/** Adds a contract to a digest; `sha256` must answer lower-case hex. */
export const add = (
  { count, sum }: Digest,
  contract: Plain,
  sha256: (text: string) => string
): Digest => ({
  count: count + 1,
  sum: (sum + BigInt(`0x${sha256(canonical(contract))}`)) % modulus
})

type Digests = Map<string, Digest>

/** Members of a contract that are compared; its place in the projection's history is left out. */
const contractShown = ({
  contractId,
  template,
  packageId,
  payload,
  signatories,
  observers,
  contractCreatedAt
}: Omit<Contract, "createdOffset" | "archivedOffset">): Plain => ({
  contractId,
  template,
  packageId,
  payload,
  signatories: signatories.toSorted(),
  observers: observers.toSorted(),
  createdAt: Instant.format(contractCreatedAt)
})

/** Members of a holding's record that are compared. */
const holdingShown = ({
  contractId,
  registrar,
  instrumentId,
  owner,
  amount,
  lock
}: Omit<Holding, "endedOffset">): Plain => ({
  contractId,
  registrar,
  instrumentId,
  owner,
  amount: Decimal.format(amount),
  lock:
    lock === null
      ? null
      : {
          holders: [...lock.holders],
          context: lock.context,
          expiresAt: lock.expiresAt === null ? null : Instant.format(lock.expiresAt)
        }
})

/** Maps a failed read of the ledger to the reason why the check did not run. */
const notRead = (error: Ledger.ReadError): Check.CheckNotRun =>
  new Check.CheckNotRun({
    why: error._tag === "BeforeHorizon" ? "before-horizon" : "ledger-unreachable"
  })

/**
 * Digests the contracts that are active on the ledger at an offset, by template, and the holdings
 * that follow from them.
 */
const activeAt = Effect.fnUntraced(function* (
  at: Check.Point["pin"]["offset"],
  add: (to: Digests, name: string, view: Plain) => void
) {
  const ledger = yield* Ledger.Ledger
  const found: Digests = new Map()
  yield* ledger.acs({ at, filter: everything }).pipe(
    Stream.mapError(notRead),
    Stream.filter(({ inAcs }) => inAcs),
    Stream.runForEach((active) =>
      Effect.sync(() => {
        const { contractId, createdAt, observers, packageId, payload, signatories } = active
        const template = key(active.template)
        add(
          found,
          template,
          contractShown({
            contractId,
            template,
            packageId,
            payload: payload as Plain,
            signatories,
            observers,
            contractCreatedAt: createdAt
          })
        )
        const holding = holdingOf(active, ledger.venue)
        if (holding !== null) add(found, holdings.name, holdingShown(holding))
      })
    )
  )
  return found
})

/** Digests the projection at a pin: its active contracts, and the holdings folded from them. */
const projectedAt = Effect.fnUntraced(function* (
  pin: Check.Point["pin"],
  add: (to: Digests, name: string, view: Plain) => void
) {
  const records = yield* Records
  const found: Digests = new Map()
  yield* records
    .stream(contracts, { pin, where: { active: ["true"] } })
    .pipe(
      Stream.runForEach(({ record }) =>
        Effect.sync(() => add(found, record.template, contractShown(record)))
      )
    )
  yield* records
    .stream(holdings, { pin, ranges: { asset: { from: "" } } })
    .pipe(
      Stream.runForEach(({ record }) =>
        Effect.sync(() => add(found, holdings.name, holdingShown(record)))
      )
    )
  return found
})

/** Streams the records of an instrument, or of none, that were lost when a ledger epoch began. */
const lost = (
  instrumentId: string | null,
  { pin }: Pick<Check.Point, "pin">
): Stream.Stream<LostRecord, Unavailable, Records> =>
  Stream.unwrap(
    Effect.map(Records, (records) =>
      records.stream(lostRecords, { pin, where: { instrumentId: [instrumentId ?? noInstrument] } })
    )
  ).pipe(
    Stream.map(({ record: { collection: kind, instrumentId, isEnded, recordId: id } }) => ({
      lost: { kind, id, instrumentId, isEnded }
    }))
  )

/**
 * Streams a fact for each template, and for the records of holdings, at the pin's offset; and for each
 * record of no instrument that a new ledger epoch has lost.
 */
const digests = ({
  pin
}: Check.Point): Stream.Stream<
  DriftFact,
  Check.CheckNotRun | Unavailable,
  Records | Crypto | Ledger.Ledger
> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { sha256 } = yield* Crypto
      const addTo = (to: Digests, name: string, view: Plain): void => {
        to.set(name, add(to.get(name) ?? nothing, view, sha256))
      }
      const projected = yield* projectedAt(pin, addTo)
      const active = yield* activeAt(pin.offset, addTo)
      const names = [...new Set([...projected.keys(), ...active.keys()])].toSorted()
      const compared = names.map((name) => ({
        name,
        projected: projected.get(name) ?? nothing,
        active: active.get(name) ?? nothing
      }))
      return Stream.concat(Stream.fromIterable(compared), lost(null, { pin }))
    })
  )
