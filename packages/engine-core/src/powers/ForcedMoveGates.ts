/** Gates of forced moves. */
import { type Holder, isScreened } from "../holders/holder/Holder.ts"
import type { Admission } from "../admissions/Admission.ts"
import * as Decimal from "../kernel/Decimal.ts"
import { condition, inOrder, type Judgement } from "../kernel/Gates.ts"
import * as Instant from "../kernel/Instant.ts"
import type { IssuerPower } from "../vocabulary/sets.ts"
import * as HoldRules from "../restraints/hold/HoldRules.ts"
import * as RestrictionRules from "../restraints/restriction/RestrictionRules.ts"
import { movesMax, type PickedPortions } from "./ForcedMoveRules.ts"
import type { IssuerPowersAgreement } from "./IssuerPowersAgreement.ts"
import type { IssuerPowersConsent } from "../holders/issuer-powers-consent/IssuerPowersConsent.ts"

type Receiver = Pick<Holder, "holderId" | "party" | "state" | "screening">

/** Input of the gates of one move: one holder's units of one instrument, to one receiver. */
export interface MoveContext {
  readonly power: IssuerPower
  readonly instrumentId: string
  /** Largest number of places of the moved units; null: any. */
  readonly unitDecimals: number | null
  readonly from: Pick<Holder, "holderId" | "party" | "successor">
  /** Null for a recovery of a holder without a successor. */
  readonly to: Receiver | null
  /** The receiver's admission in force; null: none. */
  readonly admission: Pick<Admission, "validFrom" | "credentialCid"> | null
  readonly holds: ReadonlyArray<HoldRules.OpenHold>
  /** Restrictions of the receiver; for a recovery without those carried from this predecessor. */
  readonly restrictions: ReadonlyArray<RestrictionRules.RestrictionInForce>
  readonly agreement: Pick<IssuerPowersAgreement, "powers"> | null
  /** The holder's granted consents that cover the instrument. */
  readonly consents: ReadonlyArray<Pick<IssuerPowersConsent, "powers">>
  /** Null: all of the holder's units, or those that the first step has judged. */
  readonly askedUnits: Decimal.Decimal | null
  /** True: an earlier step of the act has committed, so that what is there of the rest moves. */
  readonly isBegun: boolean
  /** False: the holder has registered another successor than the one that was signed. */
  readonly isSignedReceiver: boolean
  readonly picked: PickedPortions
  /** True if a holder of this act both gives and receives. */
  readonly isBothWays: boolean
  readonly now: Instant.Instant
}

const aboutMove = ({ from, instrumentId }: MoveContext): string =>
  `This is about ${instrumentId} of the holder ${from.holderId}.`

const ofControls = (moving: MoveContext): ReadonlyArray<Judgement> => {
  const { holds, instrumentId, power, restrictions, to } = moving
  const held = HoldRules.against(holds, "deal")
  if (to === null) return [held]
  const { holderId, party } = to
  const isUnrestricted = !RestrictionRules.isRestricted(restrictions, { holderId, instrumentId })
  return [
    held,
    // Of any mode: one that lets a holder receive what it is sent gives it no units by force.
    power === "force-transfer"
      ? condition("may-receive", isUnrestricted, {
          party,
          detail: `The holder ${holderId} is restricted.`
        })
      : condition("successor-unrestricted", isUnrestricted, {
          party,
          detail: `The holder ${holderId} has a restriction of its own.`
        })
  ]
}

const ofReceiver = (moving: MoveContext): ReadonlyArray<Judgement> => {
  const { admission, now, to } = moving
  if (to === null) return []
  const about = { party: to.party, detail: aboutMove(moving) }
  return [
    condition("holder-active", to.state === "active", {
      ...about,
      recovery: "Have the receiver's registration and terms accepted."
    }),
    condition("admitted", admission !== null, {
      ...about,
      recovery: "Offer the receiver an admission, and have it accept."
    }),
    condition(
      "credential-in-force",
      admission === null ||
        admission.validFrom === null ||
        Instant.atOrBefore(admission.validFrom, now),
      about
    ),
    condition("screening-clear", isScreened(to), about)
  ]
}

const ofConsent = (moving: MoveContext): ReadonlyArray<Judgement> => {
  const { agreement, consents, power } = moving
  return [
    condition("issuer-powers-agreement", agreement?.powers.includes(power) === true, {
      detail: aboutMove(moving),
      recovery: "Have issuer and registrar agree this power over the instrument."
    }),
    condition(
      "issuer-powers-consent",
      consents.some(({ powers }) => powers.includes(power)),
      { party: moving.from.party, detail: aboutMove(moving) }
    )
  ]
}

/** Checks of the receiver's identity: a move to the same holder would only release locks. */
const ofPolicy = (moving: MoveContext): ReadonlyArray<Judgement> => {
  const { from, isBothWays, isSignedReceiver, now, power, to } = moving
  const detail = aboutMove(moving)
  const { successor } = from
  return [
    condition(
      "another-receiver",
      to === null || (to.holderId !== from.holderId && to.party !== from.party),
      { detail }
    ),
    condition("one-way", !isBothWays, { detail }),
    ...(power === "force-transfer"
      ? []
      : ([
          condition("successor-registered", successor !== null && to !== null && isSignedReceiver, {
            detail
          }),
          condition(
            "successor-usable",
            successor === null || Instant.atOrBefore(successor.usableFrom, now),
            { detail }
          )
        ] satisfies ReadonlyArray<Judgement>))
  ]
}

const ofUnits = (moving: MoveContext): ReadonlyArray<Judgement> => {
  const { askedUnits, isBegun, picked, unitDecimals } = moving
  const detail = aboutMove(moving)
  const isNothing = picked.portions.length === 0 && Decimal.isZero(picked.stuckUnits)
  return [
    condition("units-held", !isNothing, { detail }),
    condition("enough-units", isBegun || !Decimal.isPositive(picked.short), { detail }),
    condition(
      "unit-decimals",
      askedUnits === null || unitDecimals === null || Decimal.fits(askedUnits, unitDecimals),
      {
        detail: `${detail} Units of the instrument have at most ${unitDecimals ?? 0} places.`,
        recovery: `Name units with at most ${unitDecimals ?? 0} places.`
      }
    ),
    condition("locks-releasable", !Decimal.isPositive(picked.stuckUnits), { detail })
  ]
}

/** Checks of the whole act: it has a move, and no more than the limit. */
export const ofAct = (moves: {
  /** Number of moves asked for. */
  readonly askedMoves: number
  /** Number of moves that no earlier step has made. */
  readonly movesLeft: number
}): ReadonlyArray<Judgement> => [
  condition("moves-few", moves.askedMoves <= movesMax, {
    recovery: `Name at most ${movesMax} of the holder's instruments at a time.`
  }),
  condition("units-held", moves.movesLeft !== 0, { recovery: "Name a holder that holds units." })
]

/**
 * Check of a step after the first: something is left to send. Signed units that are the holder's no
 * longer end the act refused, after all that is there of the others has moved.
 */
export const ofRest = (rest: {
  /** Signed moves that no earlier step has completed. */
  readonly signed: ReadonlyArray<Pick<MoveContext, "from" | "instrumentId">>
  /** Number of moves and voids that the step may send. */
  readonly sendable: number
}): Judgement => {
  const [gone] = rest.signed
  return condition("enough-units", rest.sendable !== 0 || gone === undefined, {
    detail:
      gone === undefined
        ? "Nothing that was signed is left to move."
        : `The holder ${gone.from.holderId} no longer has all units of ${gone.instrumentId} that were signed; what it had of them has moved.`,
    recovery: "Find where the units went, and have a forced act against that holder signed."
  })
}

/**
 * All conditions of these forced moves, in the order of the gates (docs/domain/powers.md#forced-acts);
 * a gate refuses the first move that fails it. Restrictions of the giving holder are left out:
 * forced acts exist to move units that are frozen.
 */
export const against = (moves: ReadonlyArray<MoveContext>): ReadonlyArray<Judgement> =>
  inOrder(
    moves.flatMap((moving) => [
      ...ofControls(moving),
      ...ofReceiver(moving),
      ...ofConsent(moving),
      ...ofPolicy(moving),
      ...ofUnits(moving)
    ])
  )
