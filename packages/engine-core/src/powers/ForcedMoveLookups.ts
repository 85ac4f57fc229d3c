/** Look-ups of the conditions of forced moves, with a fixed number of queries for all moves. */
import { Effect, Option, Stream } from "effect"
import { type Holder, holderParties, holders } from "../holders/holder/Holder.ts"
import { type Admission, admissions, pairOf } from "../admissions/Admission.ts"
import { type Instrument, instruments } from "../instruments/instrument/Instrument.ts"
import { assetKeyOf } from "../instruments/register/Holding.ts"
import { instrumentsOf } from "../instruments/register/HoldingLookups.ts"
import type { Collection } from "../kernel/Collection.ts"
import * as Decimal from "../kernel/Decimal.ts"
import type * as Instant from "../kernel/Instant.ts"
import { refused } from "../kernel/Refusal.ts"
import { Records, type Stored } from "../records/Records.ts"
import type { IssuerPower } from "../vocabulary/sets.ts"
import { openOn } from "../restraints/hold/OpenHoldLookups.ts"
import { inForce } from "../restraints/restriction/RestrictionLookups.ts"
import { type Restriction, restrictions } from "../restraints/restriction/Restriction.ts"
import { forcedActs } from "./ForcedAct.ts"
import type { MoveContext } from "./ForcedMoveGates.ts"
import { movesMax, pick, type MovePosition } from "./ForcedMoveRules.ts"
import { type IssuerPowersAgreement, issuerPowersAgreements } from "./IssuerPowersAgreement.ts"
import {
  everything,
  type IssuerPowersConsent,
  issuerPowersConsents,
  coversIssuer
} from "../holders/issuer-powers-consent/IssuerPowersConsent.ts"
import { grouped, lineOf, positionsOf } from "./PositionLookups.ts"

/** Loads the agreements in force of these instruments, by instrument id, with one query. */
const agreementsInForceOf = Effect.fnUntraced(function* (instrumentIds: ReadonlyArray<string>) {
  const records = yield* Records
  const found = yield* records.list(issuerPowersAgreements, {
    where: { instrumentId: [...new Set(instrumentIds)], state: ["agreed"] },
    limit: instrumentIds.length
  })
  return new Map(found.map(({ record }) => [record.instrumentId, record]))
})

/** Requested move of one holder's units of one instrument. */
export interface MoveRequest {
  readonly holderId: string
  readonly instrumentId: string
  /**
   * The receiver of a forced transfer. A recovery goes to the holder's successor, which is named here
   * once it was signed.
   */
  readonly toHolderId: string | null
  /** Null: all of the holder's units. */
  readonly units: Decimal.Decimal | null
}

/** A move with the records that its gates and its command need. */
export interface LoadedMove extends MoveContext {
  readonly instrument: Stored<Instrument>
  readonly from: Stored<Holder>
  readonly to: Stored<Holder> | null
  readonly agreement: IssuerPowersAgreement | null
  readonly consents: ReadonlyArray<IssuerPowersConsent>
  readonly positions: ReadonlyArray<MovePosition>
  /** Restrictions that a recovery carries to the successor. */
  readonly carried: ReadonlyArray<Restriction>
}

const unique = (texts: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(texts)]

/** Loads the instruments that a holder has units of: at most one more than the limit of an act. */
export const heldBy = (holder: Pick<Holder, "party">) =>
  instrumentsOf(holder).pipe(Stream.take(movesMax + 1), Stream.runCollect)

/** Loads these records by id. Refuses `not-found` where one is missing. */
const allOf = Effect.fnUntraced(function* <R, F>(
  collection: Collection<R, F>,
  ids: ReadonlyArray<string>
) {
  const records = yield* Records
  const found = yield* records.many(collection, ids)
  const byId = new Map(found.map((record) => [collection.id(record), record]))
  const missing = ids.find((id) => !byId.has(id))
  if (missing === undefined) return byId
  const detail = `There is no ${collection.name} ${missing}.`
  return yield* Effect.fail(refused("not-found", { detail }))
})

/**
 * Places of the units that the ledger moves; null: any, since the instrument has no terms. Base units of
 * a rebasing instrument have all places of a decimal, whatever places its shown units have.
 */
const placesOf = ({ manifest }: Instrument): number | null => {
  if (manifest === null) return null
  return manifest.valuation === "rebasing" ? Decimal.places : manifest.unitDecimals
}

/** Loads the requested moves, without what earlier steps of the same operation have moved. */
export const loadMoves = Effect.fnUntraced(function* (
  requests: ReadonlyArray<MoveRequest>,
  {
    power,
    operationId,
    isBegun,
    now
  }: {
    readonly power: IssuerPower
    readonly operationId: string
    /** True for a step after the first: the requests are the signed moves. */
    readonly isBegun: boolean
    readonly now: Instant.Instant
  }
) {
  const named = yield* namedBy(requests, power)
  const left = yield* leftOf(requests, operationId)
  const found = yield* controlsOf(left, named, now)
  const giving = new Set(left.map(({ holderId }) => holderId))
  return left.map((move): LoadedMove => {
    const instrument = named.instrumentOf(move)
    const from = named.holderOf(move)
    const to = named.receiverOf(move)
    const positions = found.positions.get(lineOf(instrument, from.party)) ?? []
    const ofReceiver = found.restrictions.filter(({ holderId }) => holderId === to?.holderId)
    const agreement = found.agreements.get(move.instrumentId) ?? null
    return {
      power,
      instrument,
      instrumentId: move.instrumentId,
      unitDecimals: placesOf(instrument),
      from,
      to,
      admission:
        to === null
          ? null
          : (found.admissions.get(pairOf({ ...move, holderId: to.holderId })) ?? null),
      holds: found.holds.filter(({ instrumentId }) => instrumentId === move.instrumentId),
      restrictions:
        power === "force-transfer"
          ? ofReceiver
          : ofReceiver.filter(
              ({ supersedes }) => found.origins.get(supersedes ?? "") !== from.holderId
            ),
      carried: found.restrictions.filter(
        ({ holderId, instrumentId }) =>
          power === "recover" &&
          holderId === from.holderId &&
          (instrumentId === null || instrumentId === move.instrumentId)
      ),
      agreement,
      consents: found.consents.filter(
        (consent) =>
          consent.holderId === from.holderId &&
          (consent.instrumentId === null || consent.instrumentId === move.instrumentId) &&
          (agreement === null || coversIssuer(consent, agreement.issuer))
      ),
      positions,
      // The first step has judged the places of the units that were asked for.
      askedUnits: isBegun ? null : move.units,
      isBegun,
      isSignedReceiver: move.toHolderId === null || move.toHolderId === to?.holderId,
      picked: pick(positions, move.units ?? "all"),
      isBothWays: to !== null && to.holderId !== from.holderId && giving.has(to.holderId),
      now
    }
  })
})

/** Loads the records that the moves name. Refuses `not-found` where one is missing. */
const namedBy = Effect.fnUntraced(function* (
  requests: ReadonlyArray<MoveRequest>,
  power: IssuerPower
) {
  const records = yield* Records
  const holderIds = unique(
    requests.flatMap(({ holderId, toHolderId }) =>
      toHolderId === null ? [holderId] : [holderId, toHolderId]
    )
  )
  const people = yield* allOf(holders, holderIds)
  const traded = unique(requests.map(({ instrumentId }) => instrumentId))
  const things = yield* allOf(instruments, traded)
  const parties =
    power === "force-transfer"
      ? []
      : unique([...people.values()].flatMap(({ successor }) => successor?.party ?? []))
  const ids = yield* records.many(holderParties, parties)
  const successors = new Map(
    (yield* records.many(
      holders,
      ids.map(({ holderId }) => holderId)
    )).map((holder) => [holder.party as string, holder])
  )
  const found = <A>(record: A | undefined): A => {
    if (record === undefined) throw new Error("a record of a forced move was not loaded")
    return record
  }
  const holderOf = ({ holderId }: MoveRequest) => found(people.get(holderId))
  return {
    holderOf,
    instrumentOf: ({ instrumentId }: MoveRequest) => found(things.get(instrumentId)),
    receiverOf: (move: MoveRequest): Stored<Holder> | null => {
      if (power === "force-transfer") return found(people.get(move.toHolderId ?? ""))
      return successors.get(holderOf(move).successor?.party ?? "") ?? null
    }
  }
})
type NamedRecords = Effect.Success<ReturnType<typeof namedBy>>

/** The moves less the units that the operation's earlier steps have moved. */
const leftOf = Effect.fnUntraced(function* (
  requests: ReadonlyArray<MoveRequest>,
  operationId: string
) {
  const records = yield* Records
  const act = Option.getOrNull(yield* records.find(forcedActs, operationId))
  if (act === null) return requests
  return requests.flatMap((move) => {
    const done = act.moves.find(
      ({ from, instrumentId }) =>
        from.holderId === move.holderId && instrumentId === move.instrumentId
    )
    if (done === undefined || move.units === null) return [move]
    const units = Decimal.subtract(move.units, done.units)
    return Decimal.isPositive(units) ? [{ ...move, units }] : []
  })
})

/**
 * Loads holds, restrictions, agreements, consents and positions, each with one query for all moves.
 */
const controlsOf = Effect.fnUntraced(function* (
  requestsLeft: ReadonlyArray<MoveRequest>,
  named: NamedRecords,
  now: Instant.Instant
) {
  const records = yield* Records
  const traded = unique(requestsLeft.map(({ instrumentId }) => instrumentId))
  const givers = unique(requestsLeft.map(({ holderId }) => holderId))
  const receivers = requestsLeft.flatMap((move) => named.receiverOf(move) ?? [])
  const pairs = requestsLeft.flatMap((move) => {
    const to = named.receiverOf(move)
    return to === null ? [] : [pairOf({ ...move, holderId: to.holderId })]
  })
  const admitted = yield* Stream.runCollect(
    records.stream(admissions, { where: { pair: unique(pairs), state: ["admitted"] } })
  )
  const holderIds = unique([...givers, ...receivers.map(({ holderId }) => holderId)])
  const restricted = yield* inForce({ holderIds })
  return {
    holds: yield* openOn(traded),
    admissions: new Map<string, Admission>(admitted.map(({ record }) => [pairOf(record), record])),
    restrictions: restricted,
    origins: yield* originsOf(restricted),
    agreements: yield* agreementsInForceOf(traded),
    consents: yield* consentsOf(givers, traded),
    positions: yield* positionsOf(
      {
        owner: unique(requestsLeft.map((move) => named.holderOf(move).party)),
        asset: unique(requestsLeft.map((move) => assetKeyOf(named.instrumentOf(move))))
      },
      now
    )
  }
})

/** Loads the holder of each superseded restriction, by its id. */
const originsOf = Effect.fnUntraced(function* (superseding: ReadonlyArray<Restriction>) {
  const records = yield* Records
  const ids = unique(superseding.flatMap(({ supersedes }) => supersedes ?? []))
  const found = yield* Effect.forEach(grouped(ids), (group) => records.many(restrictions, group))
  return new Map(
    found.flat().map(({ restrictionId, holderId }) => [restrictionId as string, holderId])
  )
})

const consentsOf = Effect.fnUntraced(function* (
  holderIds: ReadonlyArray<string>,
  instrumentIds: ReadonlyArray<string>
) {
  const records = yield* Records
  const where = { holderId: holderIds, reach: [...instrumentIds, everything], state: ["granted"] }
  const found = yield* Stream.runCollect(records.stream(issuerPowersConsents, { where }))
  return found.map(({ record }) => record)
})
