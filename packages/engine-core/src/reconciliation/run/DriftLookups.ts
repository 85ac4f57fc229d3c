/**
 * Look-ups of the check of the projection: digests of the contracts that the projection keeps, and
 * of those active on the ledger.
 */
import { Effect, Stream } from "effect"
import { type Holding, holdings } from "../../instruments/register/Holding.ts"
import { holdingOf } from "../../instruments/register/RegisterFromLedger.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { Plain } from "../../kernel/PlainJson.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Crypto } from "../../ports/Crypto.ts"
import * as Ledger from "../../ports/Ledger.ts"
import { everything } from "../../projection/Bootstrap.ts"
import { type Contract, contracts } from "../../projection/Contract.ts"
import { lostRecords, noInstrument } from "../../projection/LostRecord.ts"
import { Records } from "../../records/Records.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { key } from "../../templates/Template.ts"
import { CheckNotRun, type Point } from "./Check.ts"
import * as ProjectionDrift from "./checks/ProjectionDrift.ts"

type Digests = Map<string, ProjectionDrift.Digest>

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
const notRead = (error: Ledger.ReadError): CheckNotRun =>
  new CheckNotRun({
    why: error._tag === "BeforeHorizon" ? "before-horizon" : "ledger-unreachable"
  })

/**
 * Digests the contracts that are active on the ledger at an offset, by template, and the holdings
 * that follow from them.
 */
const activeAt = Effect.fnUntraced(function* (
  at: Point["pin"]["offset"],
  add: (to: Digests, name: string, shown: Plain) => void
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
  pin: Point["pin"],
  add: (to: Digests, name: string, shown: Plain) => void
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
export const lost = (
  instrumentId: string | null,
  { pin }: Pick<Point, "pin">
): Stream.Stream<ProjectionDrift.LostRecord, Unavailable, Records> =>
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
export const kept = ({
  pin
}: Point): Stream.Stream<
  ProjectionDrift.Fact,
  CheckNotRun | Unavailable,
  Records | Crypto | Ledger.Ledger
> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { sha256 } = yield* Crypto
      const add = (to: Digests, name: string, shown: Plain): void => {
        to.set(name, ProjectionDrift.add(to.get(name) ?? ProjectionDrift.nothing, shown, sha256))
      }
      const projected = yield* projectedAt(pin, add)
      const active = yield* activeAt(pin.offset, add)
      const names = [...new Set([...projected.keys(), ...active.keys()])].toSorted()
      const compared = names.map((name) => ({
        name,
        projected: projected.get(name) ?? ProjectionDrift.nothing,
        active: active.get(name) ?? ProjectionDrift.nothing
      }))
      return Stream.concat(Stream.fromIterable(compared), lost(null, { pin }))
    })
  )
