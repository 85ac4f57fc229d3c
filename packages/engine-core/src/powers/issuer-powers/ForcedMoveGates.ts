/** Checks of moving a holder's units without its own act, by gate. */
import type { Holder } from "../../holders/holder/Holder.ts"
import { isScreened } from "../../holders/holder/HolderMachine.ts"
import type { Admission } from "../../admissions/admission/Admission.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { inOrder, type Objection } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { IssuerPower } from "../../vocabulary/sets.ts"
import * as HoldRules from "../../restraints/hold/HoldRules.ts"
import * as RestrictionRules from "../../restraints/restriction/RestrictionRules.ts"
import { movesMax, type Picked } from "./ForcedMoveRules.ts"
import type { IssuerPowersAgreement } from "./IssuerPowersAgreement.ts"
import type { IssuerPowersConsent } from "./IssuerPowersConsent.ts"

type Receiver = Pick<Holder, "holderId" | "party" | "state" | "screening">

/** One move as its gates see it: one holder's units of one instrument, to one receiver. */
export interface Moving {
  readonly power: IssuerPower
  readonly instrumentId: string
  readonly unitDecimals: number | null
  readonly from: Pick<Holder, "holderId" | "party" | "successor">
  /** Null: a recovery of a holder that has named no successor. */
  readonly to: Receiver | null
  /** The receiver's admission that is in force, if there is one. */
  readonly admission: Pick<Admission, "validFrom" | "credentialCid"> | null
  readonly holds: ReadonlyArray<HoldRules.Holding>
  /** Those of the receiver; for a recovery without what was carried from this very predecessor. */
  readonly restrictions: ReadonlyArray<RestrictionRules.Restricting>
  readonly agreement: Pick<IssuerPowersAgreement, "powers"> | null
  /** The holder's consents that are granted and reach the instrument. */
  readonly consents: ReadonlyArray<Pick<IssuerPowersConsent, "powers">>
  /** Null: all. */
  readonly asked: Decimal.Decimal | null
  readonly picked: Picked
  /** Whether a holder of this act both gives and receives. */
  readonly isBothWays: boolean
  readonly now: Instant.Instant
}

const named = ({ from, instrumentId }: Moving): string =>
  `This is about ${instrumentId} of the holder ${from.holderId}.`

const ofControls = (moving: Moving): ReadonlyArray<Objection> => {
  const { holds, instrumentId, power, restrictions, to } = moving
  const held = HoldRules.against(holds, "deal")
  if (to === null) return [held]
  const { holderId, party } = to
  return [
    held,
    power === "force-transfer"
      ? RestrictionRules.against(
          restrictions,
          { holderId, instrumentId, passing: "units-in" },
          party
        )
      : [
          RestrictionRules.isRestricted(restrictions, { holderId, instrumentId }),
          "rule-refused",
          {
            gate: "restriction",
            check: "successor-unrestricted",
            party,
            detail: `The holder ${holderId} has a restriction of its own.`,
            recovery: "Have the successor's own restriction lifted."
          }
        ]
  ]
}

const ofReceiver = (moving: Moving): ReadonlyArray<Objection> => {
  const { admission, now, to } = moving
  if (to === null) return []
  const about = { party: to.party, detail: named(moving) }
  return [
    [
      to.state !== "active",
      "rule-refused",
      {
        gate: "admission",
        check: "holder-active",
        ...about,
        recovery: "Have the receiver's registration and terms accepted."
      }
    ],
    [
      admission === null,
      "rule-refused",
      {
        gate: "admission",
        check: "admitted",
        ...about,
        recovery: "Offer the receiver an admission, and have it accept."
      }
    ],
    [
      admission !== null &&
        admission.validFrom !== null &&
        Instant.isAfter(admission.validFrom, now),
      "rule-refused",
      {
        gate: "admission",
        check: "credential-in-force",
        ...about,
        recovery: "Wait until the credential is in force."
      }
    ],
    [
      !isScreened(to),
      "rule-refused",
      {
        gate: "screening",
        check: "screening-clear",
        ...about,
        recovery: "Wait for a clear screening."
      }
    ]
  ]
}

const ofConsent = (moving: Moving): ReadonlyArray<Objection> => {
  const { agreement, consents, power } = moving
  return [
    [
      agreement === null || !agreement.powers.includes(power),
      "rule-refused",
      {
        gate: "consent",
        check: "issuer-powers-agreement",
        detail: named(moving),
        recovery: "Have issuer and registrar agree this power over the instrument."
      }
    ],
    [
      !consents.some(({ powers }) => powers.includes(power)),
      "rule-refused",
      {
        gate: "consent",
        check: "issuer-powers-consent",
        party: moving.from.party,
        detail: named(moving),
        recovery: "Offer the holder the consent, and have it grant it."
      }
    ]
  ]
}

/** A move to itself would do nothing but end locks, silently: units never leave their own holder. */
const ofPolicy = (moving: Moving): ReadonlyArray<Objection> => {
  const { from, isBothWays, now, power, to } = moving
  const detail = named(moving)
  const { successor } = from
  return [
    [
      to !== null && (to.holderId === from.holderId || to.party === from.party),
      "rule-refused",
      {
        gate: "policy",
        check: "another-receiver",
        detail,
        recovery: "Name a receiver that is not the holder itself."
      }
    ],
    [
      isBothWays,
      "rule-refused",
      {
        gate: "policy",
        check: "one-way",
        detail,
        recovery: "Move the units of a holder who also receives some in a call of its own."
      }
    ],
    ...(power === "force-transfer"
      ? []
      : ([
          [
            successor === null || to === null,
            "rule-refused",
            {
              gate: "policy",
              check: "successor-registered",
              detail,
              recovery: "Register the holder's successor."
            }
          ],
          [
            successor !== null && Instant.isAfter(successor.usableFrom, now),
            "rule-refused",
            {
              gate: "policy",
              check: "successor-usable",
              detail,
              recovery: "Wait until the successor's cooling time is over."
            }
          ]
        ] satisfies ReadonlyArray<Objection>))
  ]
}

const ofUnits = (moving: Moving): ReadonlyArray<Objection> => {
  const { asked, picked, unitDecimals } = moving
  const detail = named(moving)
  const isNothing = picked.portions.length === 0 && Decimal.isZero(picked.stuck)
  return [
    [
      isNothing,
      "rule-refused",
      {
        gate: "units",
        check: "units-held",
        detail,
        recovery: "Name a holder that holds units of the instrument."
      }
    ],
    [
      Decimal.isPositive(picked.short),
      "rule-refused",
      { gate: "units", check: "enough-units", detail, recovery: "Name no more than is held." }
    ],
    [
      asked !== null && unitDecimals !== null && !Decimal.fits(asked, unitDecimals),
      "rule-refused",
      {
        gate: "units",
        check: "unit-decimals",
        detail: `${detail} Units of the instrument have at most ${unitDecimals ?? 0} places.`,
        recovery: `Name units with at most ${unitDecimals ?? 0} places.`
      }
    ],
    [
      Decimal.isPositive(picked.stuck),
      "rule-refused",
      {
        gate: "units",
        check: "locks-releasable",
        detail,
        recovery: "End what locks the units first: no forced act ends such a lock."
      }
    ]
  ]
}

/** What the act as a whole is judged by, beside each of its moves: it moves something, and not too much. */
export const ofAct = (moves: {
  /** What was named, or comes to be all of a holder's. */
  readonly asked: number
  /** What of it has not moved in an earlier step. */
  readonly left: number
}): ReadonlyArray<Objection> => [
  [
    moves.asked > movesMax,
    "rule-refused",
    {
      gate: "policy",
      check: "moves-few",
      recovery: `Name at most ${movesMax} of the holder's instruments at a time.`
    }
  ],
  [
    moves.left === 0,
    "rule-refused",
    { gate: "units", check: "units-held", recovery: "Name a holder that holds units." }
  ]
]

/**
 * Every check of these forced moves, in the order of the gates (docs/domain/powers.md#forced-acts);
 * of several moves a gate refuses the first that it stops. The sender's own restrictions are never
 * asked: what is frozen is what these acts are there to move.
 */
export const against = (moves: ReadonlyArray<Moving>): ReadonlyArray<Objection> =>
  inOrder(
    moves.flatMap((moving) => [
      ...ofControls(moving),
      ...ofReceiver(moving),
      ...ofConsent(moving),
      ...ofPolicy(moving),
      ...ofUnits(moving)
    ])
  )
