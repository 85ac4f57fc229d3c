/** Look-ups of everything the checks of forced moves need, few for any number of moves. */
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
import type { Moving } from "./ForcedMoveGates.ts"
import { movesMax, pick, type Position } from "./ForcedMoveRules.ts"
import type { IssuerPowersAgreement } from "./IssuerPowersAgreement.ts"
import { agreedOn } from "./IssuerPowersAgreementLookups.ts"
import {
  everything,
  type IssuerPowersConsent,
  issuerPowersConsents,
  coversIssuer
} from "../holders/issuer-powers-consent/IssuerPowersConsent.ts"
import { grouped, lineOf, positionsOf } from "./PositionLookups.ts"

/** One holder's units of one instrument; without a receiver they go to the holder's successor. */
export interface Asked {
  readonly holderId: string
  readonly instrumentId: string
  /** The receiver of a forced transfer; a recovery goes to the holder's successor. */
  readonly toHolderId: string | null
  /** Null: all. */
  readonly units: Decimal.Decimal | null
}

/** A move with all that is needed to make it. */
export interface Standing extends Moving {
  readonly instrument: Stored<Instrument>
  readonly from: Stored<Holder>
  readonly to: Stored<Holder> | null
  readonly agreement: IssuerPowersAgreement | null
  readonly consents: ReadonlyArray<IssuerPowersConsent>
  readonly positions: ReadonlyArray<Position>
  /** Restrictions that a recovery will carry to the successor. */
  readonly carried: ReadonlyArray<Restriction>
}

const unique = (texts: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(texts)]

/** The instruments a holder has units of; more than an act may come to is told by one too many. */
export const heldBy = (holder: Pick<Holder, "party">) =>
  instrumentsOf(holder).pipe(Stream.take(movesMax + 1), Stream.runCollect)

/** These records by their ids, all of them there. */
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
 * The moves as they stand; those of an operation that has moved some already are what is left of
 * it.
 */
export const standingOf = Effect.fnUntraced(function* (
  asked: ReadonlyArray<Asked>,
  of: {
    readonly power: IssuerPower
    readonly operationId: string
    readonly now: Instant.Instant
  }
) {
  const { now, power } = of
  const known = yield* knownOf(asked, power)
  const left = yield* leftOf(asked, of.operationId)
  const found = yield* controlsOf(left, known, now)
  const giving = new Set(left.map(({ holderId }) => holderId))
  return left.map((one): Standing => {
    const instrument = known.instrumentOf(one)
    const from = known.holderOf(one)
    const to = known.receiverOf(one)
    const positions = found.positions.get(lineOf(instrument, from.party)) ?? []
    const own = found.restrictions.filter(({ holderId }) => holderId === to?.holderId)
    const agreement = found.agreements.get(one.instrumentId) ?? null
    return {
      power,
      instrument,
      instrumentId: one.instrumentId,
      unitDecimals: instrument.manifest?.unitDecimals ?? null,
      from,
      to,
      admission:
        to === null
          ? null
          : (found.admissions.get(pairOf({ ...one, holderId: to.holderId })) ?? null),
      holds: found.holds.filter(({ instrumentId }) => instrumentId === one.instrumentId),
      restrictions:
        power === "force-transfer"
          ? own
          : own.filter(({ supersedes }) => found.origins.get(supersedes ?? "") !== from.holderId),
      carried: found.restrictions.filter(
        ({ holderId, instrumentId }) =>
          power === "recover" &&
          holderId === from.holderId &&
          (instrumentId === null || instrumentId === one.instrumentId)
      ),
      agreement,
      consents: found.consents.filter(
        (consent) =>
          consent.holderId === from.holderId &&
          (consent.instrumentId === null || consent.instrumentId === one.instrumentId) &&
          (agreement === null || coversIssuer(consent, agreement.issuer))
      ),
      positions,
      asked: one.units,
      picked: pick(positions, one.units ?? "all"),
      isBothWays: to !== null && to.holderId !== from.holderId && giving.has(to.holderId),
      now
    }
  })
})

/** The records that the moves name: each is there, or the act is refused. */
const knownOf = Effect.fnUntraced(function* (asked: ReadonlyArray<Asked>, power: IssuerPower) {
  const records = yield* Records
  const named = unique(
    asked.flatMap(({ holderId, toHolderId }) =>
      toHolderId === null ? [holderId] : [holderId, toHolderId]
    )
  )
  const people = yield* allOf(holders, named)
  const traded = unique(asked.map(({ instrumentId }) => instrumentId))
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
  const there = <A>(found: A | undefined): A => {
    if (found === undefined) throw new Error("a record that was looked up is not there")
    return found
  }
  const holderOf = ({ holderId }: Asked) => there(people.get(holderId))
  return {
    holderOf,
    instrumentOf: ({ instrumentId }: Asked) => there(things.get(instrumentId)),
    receiverOf: (one: Asked): Stored<Holder> | null => {
      if (power === "force-transfer") return there(people.get(one.toHolderId ?? ""))
      return successors.get(holderOf(one).successor?.party ?? "") ?? null
    }
  }
})
type Known = Effect.Success<ReturnType<typeof knownOf>>

/**
 * Without what the operation's earlier steps have moved; all of a holder's is over once none is
 * left.
 */
const leftOf = Effect.fnUntraced(function* (asked: ReadonlyArray<Asked>, operationId: string) {
  const records = yield* Records
  const act = Option.getOrNull(yield* records.find(forcedActs, operationId))
  if (act === null) return asked
  return asked.flatMap((one) => {
    const done = act.moves.find(
      ({ from, instrumentId }) =>
        from.holderId === one.holderId && instrumentId === one.instrumentId
    )
    if (done === undefined) return [one]
    if (one.units === null) return Decimal.isZero(done.left) ? [] : [one]
    const units = Decimal.subtract(one.units, done.units)
    return Decimal.isPositive(units) ? [{ ...one, units }] : []
  })
})

/** Look-ups of holds, restrictions, agreements and consents, each once for all moves. */
const controlsOf = Effect.fnUntraced(function* (
  left: ReadonlyArray<Asked>,
  known: Known,
  now: Instant.Instant
) {
  const records = yield* Records
  const traded = unique(left.map(({ instrumentId }) => instrumentId))
  const givers = unique(left.map(({ holderId }) => holderId))
  const receivers = left.flatMap((one) => known.receiverOf(one) ?? [])
  const pairs = left.flatMap((one) => {
    const to = known.receiverOf(one)
    return to === null ? [] : [pairOf({ ...one, holderId: to.holderId })]
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
    agreements: yield* agreedOn(traded),
    consents: yield* consentsOf(givers, traded),
    positions: yield* positionsOf(
      {
        owner: unique(left.map((one) => known.holderOf(one).party)),
        asset: unique(left.map((one) => assetKeyOf(known.instrumentOf(one))))
      },
      now
    )
  }
})

/** Original holder of each carried restriction, by the restriction it supersedes. */
const originsOf = Effect.fnUntraced(function* (of: ReadonlyArray<Restriction>) {
  const records = yield* Records
  const ids = unique(of.flatMap(({ supersedes }) => supersedes ?? []))
  const found = yield* Effect.forEach(grouped(ids), (some) => records.many(restrictions, some))
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
