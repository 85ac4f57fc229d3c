/** The acts that move a holder's units without its own act, each with a way to make every check refuse. */
import { Decimal } from "@bursar/engine-core/kernel"
import * as Moves from "#core/powers/ForcedMoveGates.ts"
import { id, party } from "../machines/subscriptions.ts"
import * as Broken from "./broken.ts"

const d = Decimal.of
const { act, frozen, held, nextMonth: later, past } = Broken

const receiver = {
  ...Broken.holder,
  holderId: id<"HolderId">("holder-2"),
  party: party("successor")
}

export const moving: Moves.MoveContext = {
  ...Broken.free,
  power: "force-transfer",
  instrumentId: Broken.instrumentId,
  unitDecimals: 6,
  from: {
    holderId: Broken.holder.holderId,
    party: Broken.holder.party,
    successor: { party: receiver.party, registeredAt: past, usableFrom: past }
  },
  to: receiver,
  admission: { validFrom: null, credentialCid: "00bb" },
  agreement: { powers: ["force-transfer", "recover"] },
  consents: [{ powers: ["force-transfer", "recover"] }],
  askedUnits: d("5"),
  isBegun: false,
  isSignedReceiver: true,
  picked: {
    portions: [{ holdingCid: "0001", amount: d("5"), lock: null }],
    short: Decimal.zero,
    stuckUnits: Decimal.zero
  },
  isBothWays: false,
  now: Broken.now
}

type Moving = Moves.MoveContext

const ofReceiver: Broken.Faults<Moving> = {
  "admission holder-active": (context) => ({
    ...context,
    to: context.to === null ? null : { ...context.to, state: "lapsed" }
  }),
  "admission admitted": (context) => ({ ...context, admission: null }),
  "admission credential-in-force": (context) => ({
    ...context,
    admission: context.admission === null ? null : { ...context.admission, validFrom: later }
  }),
  "screening screening-clear": (context) => ({
    ...context,
    to: context.to === null ? null : { ...context.to, screening: Broken.review }
  })
}
const ofConsent: Broken.Faults<Moving> = {
  "consent issuer-powers-agreement": (context) => ({ ...context, agreement: null }),
  "consent issuer-powers-consent": (context) => ({ ...context, consents: [] })
}
const ofPolicy: Broken.Faults<Moving> = {
  "policy another-receiver": (context) => ({
    ...context,
    from: { ...context.from, party: receiver.party }
  }),
  "policy one-way": (context) => ({ ...context, isBothWays: true })
}
const ofUnits: Broken.Faults<Moving> = {
  "units units-held": (context) => ({ ...context, picked: { ...context.picked, portions: [] } }),
  "units enough-units": (context) => ({ ...context, picked: { ...context.picked, short: d("1") } }),
  "units unit-decimals": (context) => ({ ...context, askedUnits: d("0.0000001") }),
  "units locks-releasable": (context) => ({
    ...context,
    picked: { ...context.picked, stuckUnits: d("1") }
  })
}
const never = [
  ["admission admitted", "admission credential-in-force"],
  ["units units-held", "units locks-releasable"]
] as const

export const forceTransfer = act<Moving>({
  name: "instrument.force-transfer",
  sound: moving,
  rows: (context) => Moves.against([context]),
  faults: {
    "hold not-held": held,
    "restriction may-receive": frozen(receiver.holderId),
    ...ofReceiver,
    ...ofConsent,
    ...ofPolicy,
    ...ofUnits
  },
  never
})

const ofRecovery: Broken.Faults<Moving> = {
  "hold not-held": held,
  "restriction successor-unrestricted": frozen(receiver.holderId),
  ...ofReceiver,
  ...ofConsent,
  ...ofPolicy,
  "policy successor-registered": (context) => ({
    ...context,
    from: { ...context.from, successor: null }
  }),
  "policy successor-usable": (context) => ({
    ...context,
    from: {
      ...context.from,
      successor:
        context.from.successor === null ? null : { ...context.from.successor, usableFrom: later }
    }
  }),
  ...ofUnits
}

export const recovery = act<Moving>({
  name: "instrument.recover",
  sound: { ...moving, power: "recover" },
  rows: (context) => Moves.against([context]),
  faults: ofRecovery,
  never: [...never, ["policy successor-registered", "policy successor-usable"]]
})

/** A step after the first: another successor than the signed one receives nothing. */
export const laterRecovery = act<Moving>({
  name: "instrument.recover, its second step",
  sound: { ...moving, power: "recover", isBegun: true, askedUnits: null },
  rows: (context) => Moves.against([context]),
  faults: {
    ...ofRecovery,
    "policy successor-registered": (context) => ({ ...context, isSignedReceiver: false }),
    "units enough-units": (context) => ({
      ...context,
      isBegun: false,
      picked: { ...context.picked, short: d("1") }
    })
  },
  never
})
