/**
 * Choice bodies of backed instruments: reserves, locks, mints, redemptions, amendments and reports.
 * Each judges for itself: by the reserve's own count, by every holding that is locked for it, and by
 * the points of the terms in force.
 */
import { Decimal, Instant, type Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import { abort, define, demand, distinct, type Scope } from "../Entity.ts"
import { isCountable, sameAsset } from "./Registry.ts"
import * as Cover from "./ReserveCover.ts"

/** Guards of `demandLocked`. */
const demandLockedGuards = [
  "a holding is another's",
  "a holding is not locked for the reserve"
] as const

/** Guards of `pointsOf`. */
const pointsOfGuards = [
  "a point is another venue's",
  "a point is no price",
  "a point is of no asset of the reserve",
  "a point is of another source",
  "an asset has two points"
] as const

/** Guards of `judgedMint`. */
const judgedMintGuards = [
  "the reserve is closing",
  "the order is past its time",
  "an asset has no price",
  "the mint would not be covered"
] as const

/** Guards of `demandFresh`. */
const demandFreshGuards = [
  "the price of the asset is stale",
  "the price of a locked asset is stale"
] as const

/** Guards of `judgedRedemption`. */
const judgedRedemptionGuards = [
  "the order is past its time",
  "an asset has no price",
  "the price of the asset is stale",
  "less of the asset is locked",
  "fewer units are outstanding"
] as const

/** Guards of `demandAllocation`. */
const demandAllocationGuards = [
  "the order is past its time",
  "the allocation is another's",
  "the allocation is another venue's to execute",
  "the allocation names another receiver",
  "the allocation is for something else",
  "the allocation is of another asset",
  "the allocation is of another amount",
  "the allocation ends before the order"
] as const

/** Guards of `lockWith`. */
const lockWithGuards = [
  "what is locked of the asset before is named, and nothing else",
  "no holding to lock",
  "a holding is of another asset",
  "a holding is another's"
] as const

/** Guards of `freeOne`. */
const freeOneGuards = [
  "a holding is of another asset",
  "the holding is not all that is locked of the asset"
] as const

/** Guards of `endIntent`. */
const endIntentGuards = [
  "the intent is another venue's",
  "the intent is for something else"
] as const

type Proposal = Templates.Payload<typeof Templates.ReserveProposal>
type Reserve = Templates.Payload<typeof Templates.Reserve>
type MintStart = Templates.Argument<typeof Templates.Reserve, "StartMint">
type RedemptionStart = Templates.Argument<typeof Templates.Reserve, "StartRedemption">
type LockProposal = Templates.Payload<typeof Templates.LockAgreementProposal>
type LockAcceptance = Templates.Argument<typeof Templates.LockAgreementProposal, "Accept">
type LockAgreement = Templates.Payload<typeof Templates.LockAgreement>
type LockIncrease = Templates.Argument<typeof Templates.LockAgreement, "LockMore">
type LockRelease = Templates.Argument<typeof Templates.LockAgreement, "Release">
type Mint = Templates.Payload<typeof Templates.MintOrder>
type MintSettlement = Templates.Argument<typeof Templates.MintOrder, "Settle">
type Redemption = Templates.Payload<typeof Templates.ReserveRedemptionOrder>
type RedemptionSettlement = Templates.Argument<typeof Templates.ReserveRedemptionOrder, "Settle">
type ReserveEvidence = Pick<MintStart, "holdingCids" | "pointCids">

const ends = () => Result.succeed({})
const made = (contractId: string) => ({ contractId })

const counterparties = (self: Pick<Reserve, "issuer" | "holder">): ReadonlyArray<Party.Party> =>
  distinct([self.issuer, self.holder])

type ReserveBody = Omit<Proposal, "accepted">

const sound = [
  [
    "the issuer is the instrument's registrar",
    (self: ReserveBody) => self.instrument.admin === self.issuer
  ],
  ["the holder of the reserve is not the venue", (self: ReserveBody) => self.holder !== self.venue],
  [
    "units and prices have at most 10 places",
    (self: ReserveBody) => self.decimals <= 10 && self.priceDecimals <= 10
  ],
  [
    "the worth of a unit at par is above 0",
    (self: ReserveBody) => self.parValue === null || Decimal.isPositive(self.parValue)
  ],
  [
    "a first share price is above 0, and a reserve at par has none",
    (self: ReserveBody) =>
      self.initialSharePrice === null ||
      (self.parValue === null && Decimal.isPositive(self.initialSharePrice))
  ],
  ...Cover.sound
] as const

// ---- reserve

export const reserveProposal = define(Templates.ReserveProposal, {
  signatories: ["venue", "accepted"],
  observers: ["issuer", "holder"],
  ensure: [
    ...sound,
    [
      "only the issuer and the holder of the reserve have accepted",
      (self) => self.accepted.every((party) => counterparties(self).includes(party))
    ]
  ],
  choices: {
    Accept: {
      controllers: ["argument.party"],
      guards: [
        "only the issuer and the holder of the reserve accept",
        "this party has accepted before"
      ],
      body: ({ self, argument: { party } }, scope) => acceptReserve(scope, self, party)
    },
    Decline: {
      controllers: ["argument.party"],
      guards: ["only the issuer and the holder of the reserve decline"],
      body: ({ self, argument: { party } }) =>
        Result.map(
          demand([
            counterparties(self).includes(party),
            "only the issuer and the holder of the reserve decline"
          ]),
          () => ({})
        )
    },
    Withdraw: { controllers: ["venue"], body: ends }
  }
})

const acceptReserve = (scope: Scope, self: Proposal, party: Party.Party) =>
  Result.gen(function* () {
    yield* demand(
      [
        counterparties(self).includes(party),
        "only the issuer and the holder of the reserve accept"
      ],
      [!self.accepted.includes(party), "this party has accepted before"]
    )
    const { accepted: before, ...body } = self
    const accepted = [...before, party]
    return counterparties(self).every((one) => accepted.includes(one))
      ? {
          proposal: null,
          reserve: yield* scope.create(Templates.Reserve, {
            ...body,
            outstanding: Decimal.zero,
            locked: [],
            pending: null,
            closing: false
          })
        }
      : {
          proposal: yield* scope.create(Templates.ReserveProposal, { ...self, accepted }),
          reserve: null
        }
  })

/** Terms in force: pending ones are from their instant on, without an act. */
const inForce = ({ terms, pending }: Reserve, { now }: Scope): Templates.ReserveTerms =>
  pending !== null && pending.effectiveAt <= now ? pending.terms : terms

const lockedOf = ({ locked }: Reserve, asset: Templates.Asset): Decimal.Decimal =>
  locked.find((one) => sameAsset(one.asset, asset))?.amount ?? Decimal.zero

/** The reserve's count with an amount of an asset more or fewer, which a decimal must hold. */
const counting = ({ locked }: Pick<Reserve, "locked">, { asset, amount }: Templates.AssetAmount) =>
  Result.gen(function* () {
    const before = locked.find((one) => sameAsset(one.asset, asset))
    const count = before?.amount ?? Decimal.zero
    yield* demandCountable(count, amount)
    const after = Decimal.add(count, amount)
    const others = locked.filter((one) => one !== before)
    return Decimal.isZero(after) ? others : [...others, { asset, amount: after }]
  })

const demandCountable = (count: Decimal.Decimal, more: Decimal.Decimal) =>
  demand([isCountable(count, more), "a count of the reserve is beyond a decimal"])

export const reserve = define(Templates.Reserve, {
  signatories: ["venue", "issuer", "holder"],
  observers: [],
  ensure: [
    ...sound,
    ["units outstanding are not below 0", (self) => !Decimal.isNegative(self.outstanding)],
    [
      "a locked amount is above 0",
      (self) => self.locked.every(({ amount }) => Decimal.isPositive(amount))
    ]
  ],
  choices: {
    ComputeReport: {
      controllers: ["venue"],
      guards: [
        "a holding is named twice",
        ...demandLockedGuards,
        "a count of the reserve is beyond a decimal",
        "the holdings are not exactly what is locked",
        ...pointsOfGuards,
        "a figure of the reserve is beyond a decimal"
      ],
      body: ({ self, argument }, scope) => computeReport(scope, self, argument)
    },
    StartMint: {
      controllers: ["venue"],
      guards: [
        "a mint has a deposit",
        "a mint has units",
        "the holder of the reserve deposits nothing",
        "the deposit mints other units",
        ...judgedMintGuards,
        "a holding is named twice",
        ...demandLockedGuards,
        "a count of the reserve is beyond a decimal",
        "the holdings are not exactly what is locked",
        ...pointsOfGuards,
        "a figure of the reserve is beyond a decimal",
        "the asset is not in the terms of the reserve",
        "terms that are pending leave out the asset",
        ...demandFreshGuards
      ],
      body: ({ self, argument }, scope) => startMint(scope, self, argument)
    },
    StartRedemption: {
      controllers: ["venue"],
      guards: [
        "a redemption has units",
        "a redemption has a payout",
        "the units are paid another amount",
        ...judgedRedemptionGuards,
        "a holding is named twice",
        ...demandLockedGuards,
        "a count of the reserve is beyond a decimal",
        "the holdings are not exactly what is locked",
        ...pointsOfGuards,
        "a figure of the reserve is beyond a decimal",
        "the asset is not in the terms of the reserve"
      ],
      body: ({ self, argument }, scope) => startRedemption(scope, self, argument)
    },
    Take: {
      controllers: ["venue", "issuer", "holder"],
      guards: ["a count of the reserve is beyond a decimal"],
      body: ({ self, argument: { supply, change, asset, lockedChange: amount } }, scope) =>
        Result.gen(function* () {
          const outstanding = Decimal.add(Decimal.max(supply, self.outstanding), change)
          const locked = yield* counting(self, { asset, amount })
          return made(yield* scope.create(Templates.Reserve, { ...self, outstanding, locked }))
        })
    },
    Note: {
      controllers: ["venue", "holder"],
      guards: ["a count of the reserve is beyond a decimal"],
      body: ({ self, argument: { asset, lockedChange: amount } }, scope) =>
        Result.gen(function* () {
          const locked = yield* counting(self, { asset, amount })
          return made(yield* scope.create(Templates.Reserve, { ...self, locked }))
        })
    },
    Amend: {
      controllers: ["venue", "issuer"],
      guards: [
        "the reserve is closing",
        "other terms are pending, and these loosen",
        "the terms leave out an asset that is locked"
      ],
      body: ({ self, argument }, scope) => amend(scope, self, argument)
    },
    WithdrawPending: {
      controllers: ["venue"],
      guards: ["no such terms are pending", "the terms are in force"],
      body: ({ self, argument: { amendmentId } }, scope) =>
        Result.gen(function* () {
          yield* demand(
            [self.pending?.amendmentId === amendmentId, "no such terms are pending"],
            [
              self.pending !== null && scope.now < self.pending.effectiveAt,
              "the terms are in force"
            ]
          )
          return made(yield* scope.create(Templates.Reserve, { ...self, pending: null }))
        })
    },
    Recount: {
      controllers: ["issuer"],
      body: ({ self, argument: { outstanding } }, scope) =>
        Result.map(scope.create(Templates.Reserve, { ...self, outstanding }), made)
    },
    Close: {
      controllers: ["venue"],
      guards: [
        "the reserve is closing",
        "units of the reserve are outstanding",
        "assets are locked for the reserve"
      ],
      body: ({ self, argument: { empty } }, scope) =>
        Result.gen(function* () {
          if (!empty) {
            yield* demand([!self.closing, "the reserve is closing"])
            return {
              reserve: yield* scope.create(Templates.Reserve, { ...self, closing: true })
            }
          }
          yield* demand(
            [Decimal.isZero(self.outstanding), "units of the reserve are outstanding"],
            [self.locked.length === 0, "assets are locked for the reserve"]
          )
          return { reserve: null }
        })
    }
  }
})

const amend = (
  scope: Scope,
  self: Reserve,
  { amendmentId, terms }: Templates.Argument<typeof Templates.Reserve, "Amend">
) =>
  Result.gen(function* () {
    const now = inForce(self, scope)
    const waits = self.pending !== null && scope.now < self.pending.effectiveAt
    const isTightening = Cover.onlyTightens(now, terms)
    yield* demand(
      [!self.closing, "the reserve is closing"],
      [isTightening || !waits, "other terms are pending, and these loosen"],
      [
        self.parValue !== null ||
          self.locked.every(({ asset }) => terms.assets.some((one) => sameAsset(one.asset, asset))),
        "the terms leave out an asset that is locked"
      ]
    )
    const effectiveAt = Instant.fromNanos(scope.now + BigInt(self.loosenDelay) * 1_000n)
    return made(
      yield* scope.create(
        Templates.Reserve,
        isTightening
          ? { ...self, terms, pending: null }
          : { ...self, terms: now, pending: { amendmentId, terms, effectiveAt } }
      )
    )
  })

// ---- judgement

/** Checks that a holding is the reserve's: its holder's, locked for it by the venue alone. */
const demandLocked = (self: Reserve, holding: Templates.Payload<typeof Templates.Holding>) =>
  demand(
    [holding.owner === self.holder, "a holding is another's"],
    [
      holding.lock !== null &&
        holding.lock.holders.length === 1 &&
        holding.lock.holders[0] === self.venue &&
        holding.lock.context === self.reserveId &&
        holding.lock.expiresAt === null,
      "a holding is not locked for the reserve"
    ]
  )

/** Sums the holdings by asset; each is the reserve's, and named once. */
const sumsOf = (scope: Scope, self: Reserve, holdingCids: ReadonlyArray<string>) =>
  Result.gen(function* () {
    yield* demand([new Set(holdingCids).size === holdingCids.length, "a holding is named twice"])
    let sums: ReadonlyArray<Templates.AssetAmount> = []
    for (const holdingCid of holdingCids) {
      const holding = yield* scope.fetch(Templates.Holding, holdingCid)
      yield* demandLocked(self, holding)
      sums = yield* counting({ locked: sums }, { asset: holding.instrument, ...holding })
    }
    return sums
  })

/** Checks that the holdings sum exactly to the locked amounts, less an asset that is left out. */
const demandAll = (
  { locked }: Reserve,
  sums: ReadonlyArray<Templates.AssetAmount>,
  without: Templates.Asset | null = null
) => {
  const due = locked.filter(({ asset }) => without === null || !sameAsset(asset, without))
  return demand([
    due.length === sums.length &&
      due.every(({ asset, amount }) =>
        sums.some((one) => sameAsset(one.asset, asset) && Decimal.equals(one.amount, amount))
      ),
    "the holdings are not exactly what is locked"
  ])
}

/** Loads the points, one at most of each asset that has a price source. */
const pointsOf = (
  scope: Scope,
  self: Reserve,
  inputs: { readonly terms: Templates.ReserveTerms; readonly pointCids: ReadonlyArray<string> }
) =>
  Result.gen(function* () {
    const points: Array<Templates.Payload<typeof Templates.OraclePoint>> = []
    for (const pointCid of inputs.pointCids) {
      const point = yield* scope.fetch(Templates.OraclePoint, pointCid)
      const asset = { admin: point.registrar, id: point.instrumentId }
      const terms = inputs.terms.assets.find((one) => sameAsset(one.asset, asset))
      yield* demand(
        [point.venue === self.venue, "a point is another venue's"],
        [point.metric === "price", "a point is no price"],
        [terms !== undefined, "a point is of no asset of the reserve"],
        [terms?.priceSource === point.oracle, "a point is of another source"],
        [
          points.every(
            (one) => one.registrar !== point.registrar || one.instrumentId !== point.instrumentId
          ),
          "an asset has two points"
        ]
      )
      points.push(point)
    }
    return points
  })

/** Judges the reserve by its count, its holdings and the points; `without` leaves an asset out. */
const stateOf = (
  scope: Scope,
  self: Reserve,
  {
    holdingCids,
    without,
    pointCids,
    supply
  }: ReserveEvidence & { readonly supply: Decimal.Decimal; readonly without?: Templates.Asset }
) =>
  Result.gen(function* () {
    const terms = inForce(self, scope)
    const sums = yield* sumsOf(scope, self, holdingCids)
    yield* demandAll(self, sums, without ?? null)
    const points = yield* pointsOf(scope, self, { terms, pointCids })
    const state: Cover.State = {
      reserve: self,
      minCover: terms.minCover,
      outstanding: Decimal.max(supply, self.outstanding),
      now: scope.now,
      assets: terms.assets.map((asset) => ({
        terms: asset,
        amount: sums.find((one) => sameAsset(one.asset, asset.asset))?.amount ?? Decimal.zero,
        point:
          points.find(
            ({ registrar, instrumentId }) =>
              registrar === asset.asset.admin && instrumentId === asset.asset.id
          ) ?? null
      }))
    }
    yield* demandFigures(state)
    return state
  })

const demandFigures = (state: Cover.State) =>
  demand([Cover.hasFigures(state), "a figure of the reserve is beyond a decimal"])

const assetOf = ({ assets }: Cover.State, asset: Templates.Asset) => {
  const found = assets.find(({ terms }) => sameAsset(terms.asset, asset))
  return found === undefined
    ? abort("the asset is not in the terms of the reserve")
    : Result.succeed(found)
}

/** Checks the prices of an order: of its asset, and of every asset that units of the reserve own. */
const demandFresh = (state: Cover.State, asset: Cover.AssetState) =>
  demand(
    [Cover.isFresh(asset, state.now), "the price of the asset is stale"],
    [
      state.reserve.parValue !== null ||
        state.assets.every((one) => Decimal.isZero(one.amount) || Cover.isFresh(one, state.now)),
      "the price of a locked asset is stale"
    ]
  )

const computeReport = (
  scope: Scope,
  self: Reserve,
  argument: Templates.Argument<typeof Templates.Reserve, "ComputeReport">
) =>
  Result.gen(function* () {
    const state = yield* stateOf(scope, self, argument)
    const { venue, issuer, holder, reserveId } = self
    return made(
      yield* scope.create(Templates.ReserveReport, {
        venue,
        issuer,
        holder,
        reserveId,
        reportId: argument.reportId,
        outstanding: state.outstanding,
        cover: Cover.coverOf(state),
        sharePrice: Cover.sharePriceOf(state, "floor"),
        lines: state.assets.map((asset) => ({
          asset: asset.terms.asset,
          amount: asset.amount,
          price: Cover.priceOf(asset),
          fresh: Cover.isFresh(asset, state.now),
          value: Cover.shown(Cover.valueOf(asset, state.now)),
          counted: Cover.shown(Cover.countedOf(asset, state))
        })),
        pointCids: argument.pointCids,
        at: scope.now
      })
    )
  })

// ---- mints

/** Checks that an asset may be locked: pending terms do not drop it. */
const demandKept = (self: Reserve, asset: Templates.Asset) =>
  demand([
    self.pending === null || self.pending.terms.assets.some((one) => sameAsset(one.asset, asset)),
    "terms that are pending leave out the asset"
  ])

/** Judges a mint: its cover once it has settled, and that the formula gives its units. */
const judgedMint = (
  scope: Scope,
  self: Reserve,
  order: Pick<MintStart, "asset" | "deposit" | "units" | "executeBefore" | "supply"> &
    ReserveEvidence
) =>
  Result.gen(function* () {
    const before = yield* stateOf(scope, self, order)
    const asset = yield* assetOf(before, order.asset)
    const units = Cover.mintedBy(before, { asset, deposit: order.deposit })
    yield* demandCountable(asset.amount, order.deposit)
    yield* demandCountable(before.outstanding, order.units)
    const after = Cover.moved(before, { ...order, amount: order.deposit })
    yield* demand(
      [!self.closing, "the reserve is closing"],
      [scope.now < order.executeBefore, "the order is past its time"],
      [units !== null, "an asset has no price"]
    )
    yield* demandKept(self, order.asset)
    yield* demandFresh(before, asset)
    yield* demandFigures(after)
    const coverAfter = Cover.coverOf(after)
    yield* demand([coverAfter.state === "covered", "the mint would not be covered"])
    return { units: units ?? Decimal.zero, coverBefore: Cover.coverOf(before), coverAfter }
  })

const startMint = (scope: Scope, self: Reserve, argument: MintStart) =>
  Result.gen(function* () {
    const { supply: _supply, holdingCids: _holdings, pointCids: _points, ...order } = argument
    yield* demand(
      [Decimal.isPositive(order.deposit), "a mint has a deposit"],
      [Decimal.isPositive(order.units), "a mint has units"],
      [order.depositor !== self.holder, "the holder of the reserve deposits nothing"]
    )
    const { units } = yield* judgedMint(scope, self, argument)
    yield* demand([Decimal.equals(units, order.units), "the deposit mints other units"])
    const { venue, issuer, holder, reserveId, instrument } = self
    return made(
      yield* scope.create(Templates.MintOrder, {
        ...order,
        venue,
        issuer,
        holder,
        reserveId,
        instrument,
        allocationCid: null
      })
    )
  })

export const mintOrder = define(Templates.MintOrder, {
  signatories: [
    "venue",
    "issuer",
    "holder",
    {
      when: "the depositor has accepted",
      holds: (self) => self.allocationCid !== null,
      parties: ["depositor"]
    }
  ],
  observers: ["depositor"],
  ensure: [
    ["the deposit is above 0", (self) => Decimal.isPositive(self.deposit)],
    ["the units are above 0", (self) => Decimal.isPositive(self.units)]
  ],
  choices: {
    Accept: {
      controllers: ["depositor"],
      guards: [...demandAllocationGuards],
      body: ({ self, argument: { allocationCid } }, scope) =>
        Result.gen(function* () {
          yield* demandAllocation(scope, self, allocationCid)
          return made(yield* scope.create(Templates.MintOrder, { ...self, allocationCid }))
        })
    },
    Decline: { controllers: ["depositor"], body: ends },
    Settle: {
      controllers: ["venue"],
      guards: [
        "the depositor has not accepted the order",
        "the lock agreement is another one",
        "the credential is not the venue's",
        "the credential is another holder's",
        "the credential is for another instrument",
        "the price has moved",
        "the reserve is another one",
        ...demandAllocationGuards,
        ...judgedMintGuards,
        "a holding is named twice",
        ...demandLockedGuards,
        "a count of the reserve is beyond a decimal",
        "the holdings are not exactly what is locked",
        ...pointsOfGuards,
        "a figure of the reserve is beyond a decimal",
        "the asset is not in the terms of the reserve",
        "terms that are pending leave out the asset",
        ...demandFreshGuards,
        ...lockWithGuards,
        ...freeOneGuards,
        ...endIntentGuards
      ],
      body: ({ self, argument }, scope) => settleMint(scope, self, argument)
    },
    Cancel: {
      controllers: ["venue"],
      guards: ["the allocation is not the order's", ...endIntentGuards],
      body: ({ self, argument: { allocationCid, intentCid } }, scope) =>
        Result.gen(function* () {
          if (allocationCid !== null) {
            yield* demand([
              allocationCid === self.allocationCid,
              "the allocation is not the order's"
            ])
            yield* scope.exercise(Templates.Allocation, allocationCid, "Allocation_Cancel", {})
          }
          yield* endIntent(scope, self, intentCid, "AllocationRequest_Withdraw")
          return {}
        })
    }
  }
})

const demandAllocation = (scope: Scope, self: Mint, allocationCid: string) =>
  Result.gen(function* () {
    const allocation = yield* scope.fetch(Templates.Allocation, allocationCid)
    yield* demand(
      [scope.now < self.executeBefore, "the order is past its time"],
      [allocation.sender === self.depositor, "the allocation is another's"],
      [allocation.executor === self.venue, "the allocation is another venue's to execute"],
      [allocation.receiver === self.holder, "the allocation names another receiver"],
      [allocation.reference === self.mintId, "the allocation is for something else"],
      [sameAsset(allocation.instrument, self.asset), "the allocation is of another asset"],
      [Decimal.equals(allocation.amount, self.deposit), "the allocation is of another amount"],
      [allocation.settleBefore >= self.executeBefore, "the allocation ends before the order"]
    )
  })

const endIntent = (
  scope: Scope,
  { venue, mintId }: Mint,
  intentCid: string | null,
  choice: "Complete" | "AllocationRequest_Withdraw"
) =>
  Result.gen(function* () {
    if (intentCid === null) return
    const intent = yield* scope.fetch(Templates.SettlementIntent, intentCid)
    yield* demand(
      [intent.venue === venue, "the intent is another venue's"],
      [intent.reference.id === mintId, "the intent is for something else"]
    )
    yield* scope.exercise(Templates.SettlementIntent, intentCid, choice, {})
  })

/** Loads the reserve that an order is of. */
const reserveOf = (
  scope: Scope,
  self: Pick<LockAgreement, "venue" | "reserveId" | "holder">,
  reserveCid: string
) =>
  Result.gen(function* () {
    const found = yield* scope.fetch(Templates.Reserve, reserveCid)
    yield* demand([
      found.venue === self.venue &&
        found.reserveId === self.reserveId &&
        found.holder === self.holder,
      "the reserve is another one"
    ])
    return found
  })

const settleMint = (scope: Scope, self: Mint, argument: MintSettlement) =>
  Result.gen(function* () {
    const { reserveCid, lockAgreementCid, credentialCid, configurationCid } = argument
    const { allocationCid } = self
    if (allocationCid === null) return yield* abort("the depositor has not accepted the order")
    const reserve = yield* reserveOf(scope, self, reserveCid)
    const agreement = yield* scope.fetch(Templates.LockAgreement, lockAgreementCid)
    const credential = yield* scope.fetch(Templates.Credential, credentialCid)
    yield* demand(
      [
        agreement.venue === self.venue &&
          agreement.reserveId === self.reserveId &&
          agreement.holder === self.holder &&
          sameAsset(agreement.asset, self.asset),
        "the lock agreement is another one"
      ],
      [credential.issuer === self.venue, "the credential is not the venue's"],
      [credential.holder === self.depositor, "the credential is another holder's"],
      [
        credential.registrar === self.instrument.admin &&
          credential.instrumentId === self.instrument.id,
        "the credential is for another instrument"
      ]
    )
    yield* demandAllocation(scope, self, allocationCid)
    const judged = yield* judgedMint(scope, reserve, { ...self, ...argument })
    yield* demand([Decimal.atLeast(judged.units, self.units), "the price has moved"])
    const { received } = yield* scope.exercise(
      Templates.Allocation,
      allocationCid,
      "Allocation_ExecuteTransfer",
      { credentialCid: argument.depositCredentialCid }
    )
    const locked = yield* lockWith(scope, reserve, {
      asset: self.asset,
      holdingCids: [received],
      lockedCid: argument.lockedCid
    })
    const { holding } = yield* scope.exercise(Templates.Credential, credentialCid, "Receive", {
      amount: self.units,
      reference: { kind: "mint", id: self.mintId },
      configurationCid
    })
    yield* endIntent(scope, self, argument.intentCid, "Complete")
    const { contractId } = yield* scope.exercise(Templates.Reserve, reserveCid, "Take", {
      supply: argument.supply,
      change: self.units,
      asset: self.asset,
      lockedChange: self.deposit
    })
    const { coverBefore, coverAfter } = judged
    return { reserve: contractId, locked, holding, coverBefore, coverAfter }
  })

/**
 * Locks free holdings of the reserve's holder, merged with the holding of the asset that is locked
 * already.
 */
const lockWith = (
  scope: Scope,
  self: Reserve,
  {
    asset,
    lockedCid,
    holdingCids
  }: {
    readonly asset: Templates.Asset
    readonly holdingCids: ReadonlyArray<string>
    readonly lockedCid: string | null
  }
) =>
  Result.gen(function* () {
    const isLocked = Decimal.isPositive(lockedOf(self, asset))
    yield* demand([
      isLocked === (lockedCid !== null),
      "what is locked of the asset before is named, and nothing else"
    ])
    const [first, ...others] = holdingCids
    if (first === undefined) return yield* abort("no holding to lock")
    for (const holdingCid of holdingCids) {
      const free = yield* scope.fetch(Templates.Holding, holdingCid)
      yield* demand(
        [sameAsset(free.instrument, asset), "a holding is of another asset"],
        [free.owner === self.holder, "a holding is another's"]
      )
    }
    const freed = lockedCid === null ? [] : [yield* freeOne(scope, self, asset, lockedCid)]
    const merging = [...others, ...freed]
    const whole =
      merging.length === 0
        ? first
        : (yield* scope.exercise(Templates.Holding, first, "Merge", { holdingCids: merging }))
            .contractId
    return yield* lockWhole(scope, self, whole)
  })

/** Unlocks the one holding that is locked of an asset. */
const freeOne = (scope: Scope, self: Reserve, asset: Templates.Asset, lockedCid: string) =>
  Result.gen(function* () {
    const locked = yield* scope.fetch(Templates.Holding, lockedCid)
    yield* demandLocked(self, locked)
    yield* demand(
      [sameAsset(locked.instrument, asset), "a holding is of another asset"],
      [
        Decimal.equals(locked.amount, lockedOf(self, asset)),
        "the holding is not all that is locked of the asset"
      ]
    )
    const { contractId } = yield* scope.exercise(Templates.Holding, lockedCid, "Unlock", {
      releasers: [self.holder, self.venue]
    })
    return contractId
  })

const lockWhole = (scope: Scope, self: Reserve, holdingCid: string) =>
  Result.gen(function* () {
    const { amount } = yield* scope.fetch(Templates.Holding, holdingCid)
    const { locked } = yield* scope.exercise(Templates.Holding, holdingCid, "Lock", {
      holders: [self.venue],
      observers: [],
      context: self.reserveId,
      expiresAt: null,
      amount
    })
    return locked
  })

// ---- redemptions

/** Judges a redemption: that what it is paid is there, and what the formula gives for its units. */
const judgedRedemption = (
  scope: Scope,
  self: Reserve,
  order: Pick<RedemptionStart, "asset" | "units" | "payout" | "executeBefore" | "supply"> &
    ReserveEvidence
) =>
  Result.gen(function* () {
    const before = yield* stateOf(scope, self, order)
    const asset = yield* assetOf(before, order.asset)
    const payout = Cover.paidFor(before, { asset, units: order.units })
    yield* demand(
      [scope.now < order.executeBefore, "the order is past its time"],
      [payout !== null, "an asset has no price"],
      [Cover.isFresh(asset, scope.now), "the price of the asset is stale"],
      [Decimal.atMost(order.payout, asset.amount), "less of the asset is locked"],
      [Decimal.atMost(order.units, before.outstanding), "fewer units are outstanding"]
    )
    const after = Cover.moved(before, {
      asset: order.asset,
      amount: Decimal.negate(order.payout),
      units: Decimal.negate(order.units)
    })
    yield* demandFigures(after)
    return {
      payout: payout ?? Decimal.zero,
      coverBefore: Cover.coverOf(before),
      coverAfter: Cover.coverOf(after)
    }
  })

const startRedemption = (scope: Scope, self: Reserve, argument: RedemptionStart) =>
  Result.gen(function* () {
    const { supply: _supply, holdingCids: _holdings, pointCids: _points, ...order } = argument
    yield* demand(
      [Decimal.isPositive(order.units), "a redemption has units"],
      [Decimal.isPositive(order.payout), "a redemption has a payout"]
    )
    const { payout } = yield* judgedRedemption(scope, self, argument)
    yield* demand([Decimal.equals(payout, order.payout), "the units are paid another amount"])
    const { venue, issuer, holder, reserveId, instrument } = self
    return made(
      yield* scope.create(Templates.ReserveRedemptionOrder, {
        ...order,
        venue,
        issuer,
        holder,
        reserveId,
        instrument,
        lockedUnitsCid: null
      })
    )
  })

export const reserveRedemptionOrder = define(Templates.ReserveRedemptionOrder, {
  signatories: [
    "venue",
    "issuer",
    "holder",
    {
      when: "the owner has accepted",
      holds: (self) => self.lockedUnitsCid !== null,
      parties: ["owner"]
    }
  ],
  observers: ["owner"],
  ensure: [
    ["the units are above 0", (self) => Decimal.isPositive(self.units)],
    ["the payout is above 0", (self) => Decimal.isPositive(self.payout)]
  ],
  choices: {
    Accept: {
      controllers: ["owner"],
      guards: [
        "the owner has accepted before",
        "the order is past its time",
        "a holding is another's",
        "a holding is of another instrument"
      ],
      body: ({ self, argument: { holdingCid } }, scope) =>
        Result.gen(function* () {
          const units = yield* scope.fetch(Templates.Holding, holdingCid)
          yield* demand(
            [self.lockedUnitsCid === null, "the owner has accepted before"],
            [scope.now < self.executeBefore, "the order is past its time"],
            [units.owner === self.owner, "a holding is another's"],
            [sameAsset(units.instrument, self.instrument), "a holding is of another instrument"]
          )
          const { locked, change } = yield* scope.exercise(Templates.Holding, holdingCid, "Lock", {
            holders: [self.venue],
            observers: [],
            context: self.reserveRedemptionId,
            expiresAt: self.executeBefore,
            amount: self.units
          })
          const contractId = yield* scope.create(Templates.ReserveRedemptionOrder, {
            ...self,
            lockedUnitsCid: locked
          })
          return { contractId, change }
        })
    },
    Decline: {
      controllers: ["owner"],
      body: ({ self }, scope) =>
        Result.gen(function* () {
          if (self.lockedUnitsCid !== null) yield* unlockUnits(scope, self, self.lockedUnitsCid)
          return {}
        })
    },
    Settle: {
      controllers: ["venue"],
      guards: [
        "the owner has not accepted the order",
        "the price has moved",
        "the reserve is another one",
        ...judgedRedemptionGuards,
        "a holding is named twice",
        ...demandLockedGuards,
        "a count of the reserve is beyond a decimal",
        "the holdings are not exactly what is locked",
        ...pointsOfGuards,
        "a figure of the reserve is beyond a decimal",
        "the asset is not in the terms of the reserve",
        ...freeOneGuards
      ],
      body: ({ self, argument }, scope) => settleRedemption(scope, self, argument)
    },
    Cancel: {
      controllers: ["venue"],
      guards: ["the units are not the order's"],
      body: ({ self, argument: { lockedUnitsCid } }, scope) =>
        Result.gen(function* () {
          if (lockedUnitsCid !== null) {
            yield* demand([lockedUnitsCid === self.lockedUnitsCid, "the units are not the order's"])
            yield* unlockUnits(scope, self, lockedUnitsCid)
          }
          return {}
        })
    }
  }
})

const unlockUnits = (scope: Scope, self: Redemption, lockedUnitsCid: string) =>
  scope.exercise(Templates.Holding, lockedUnitsCid, "Unlock", {
    releasers: [self.owner, self.venue]
  })

const settleRedemption = (scope: Scope, self: Redemption, argument: RedemptionSettlement) =>
  Result.gen(function* () {
    const { reserveCid, lockedCid } = argument
    const { lockedUnitsCid } = self
    if (lockedUnitsCid === null) return yield* abort("the owner has not accepted the order")
    const reserve = yield* reserveOf(scope, self, reserveCid)
    const judged = yield* judgedRedemption(scope, reserve, { ...self, ...argument })
    yield* demand([Decimal.atLeast(judged.payout, self.payout), "the price has moved"])
    yield* scope.exercise(Templates.Holding, lockedUnitsCid, "Burn", {})
    const freed = yield* freeOne(scope, reserve, self.asset, lockedCid)
    const { received, change } = yield* scope.exercise(Templates.Holding, freed, "Transfer", {
      newOwner: self.owner,
      amount: self.payout,
      credentialCid: argument.payoutCredentialCid
    })
    const locked = change === null ? null : yield* lockWhole(scope, reserve, change)
    const { contractId } = yield* scope.exercise(Templates.Reserve, reserveCid, "Take", {
      supply: argument.supply,
      change: Decimal.negate(self.units),
      asset: self.asset,
      lockedChange: Decimal.negate(self.payout)
    })
    const { coverBefore, coverAfter } = judged
    return { reserve: contractId, locked, paid: received, coverBefore, coverAfter }
  })

// ---- lock agreements

export const lockAgreementProposal = define(Templates.LockAgreementProposal, {
  signatories: ["venue", "accepted"],
  observers: ["holder", "asset.admin"],
  ensure: [
    ["the amount is not below 0", (self) => !Decimal.isNegative(self.amount)],
    [
      "only the asset's registrar and the holder of the reserve have accepted",
      (self) => self.accepted.every((party) => party === self.asset.admin || party === self.holder)
    ]
  ],
  choices: {
    Accept: {
      controllers: ["argument.party"],
      guards: [
        "only the asset's registrar and the holder of the reserve accept",
        "this party has accepted before",
        "the asset's registrar locks nothing",
        "the asset's registrar accepts first",
        "the holder names the reserve",
        "nothing is to be locked",
        "the holdings are worth another amount",
        "the reserve is another one",
        "the asset is not in the terms of the reserve",
        "terms that are pending leave out the asset",
        ...lockWithGuards,
        ...freeOneGuards,
        ...demandLockedGuards
      ],
      body: ({ self, argument }, scope) => acceptLock(scope, self, argument)
    },
    Decline: {
      controllers: ["argument.party"],
      guards: ["only the asset's registrar and the holder of the reserve decline"],
      body: ({ self, argument: { party } }) =>
        Result.map(
          demand([
            party === self.holder || party === self.asset.admin,
            "only the asset's registrar and the holder of the reserve decline"
          ]),
          () => ({})
        )
    },
    Withdraw: { controllers: ["venue"], body: ends }
  }
})

const acceptLock = (scope: Scope, self: LockProposal, argument: LockAcceptance) =>
  Result.gen(function* () {
    const { party, reserveCid, holdingCids } = argument
    const { admin } = self.asset
    const isBoth = admin === self.holder
    yield* demand(
      [
        party === admin || party === self.holder,
        "only the asset's registrar and the holder of the reserve accept"
      ],
      [!self.accepted.includes(party), "this party has accepted before"]
    )
    if (party === admin && !isBoth) {
      yield* demand([
        reserveCid === null && holdingCids.length === 0,
        "the asset's registrar locks nothing"
      ])
      const proposal = yield* scope.create(Templates.LockAgreementProposal, {
        ...self,
        accepted: [...self.accepted, party]
      })
      return { proposal, agreement: null, locked: null, reserve: null }
    }
    yield* demand([isBoth || self.accepted.includes(admin), "the asset's registrar accepts first"])
    if (reserveCid === null) return yield* abort("the holder names the reserve")
    const { amount, accepted: _accepted, ...agreed } = self
    const reserve = yield* reserveOf(scope, self, reserveCid)
    yield* demandLockable(scope, reserve, self.asset)
    const agreement = yield* scope.create(Templates.LockAgreement, agreed)
    if (Decimal.isZero(amount)) {
      yield* demand([holdingCids.length === 0, "nothing is to be locked"])
      return { proposal: null, agreement, locked: null, reserve: reserveCid }
    }
    let sum = Decimal.zero
    const another = "the holdings are worth another amount"
    for (const holdingCid of holdingCids) {
      const holding = yield* scope.fetch(Templates.Holding, holdingCid)
      yield* demand([isCountable(sum, holding.amount), another])
      sum = Decimal.add(sum, holding.amount)
    }
    yield* demand([Decimal.equals(sum, amount), another])
    const locked = yield* lockWith(scope, reserve, {
      asset: self.asset,
      holdingCids,
      lockedCid: null
    })
    const { contractId } = yield* scope.exercise(Templates.Reserve, reserveCid, "Note", {
      asset: self.asset,
      lockedChange: amount
    })
    return { proposal: null, agreement, locked, reserve: contractId }
  })

/** Checks that holdings of an asset may be locked: it is in the terms in force and stays in them. */
const demandLockable = (scope: Scope, self: Reserve, asset: Templates.Asset) =>
  Result.gen(function* () {
    yield* demand([
      inForce(self, scope).assets.some((one) => sameAsset(one.asset, asset)),
      "the asset is not in the terms of the reserve"
    ])
    yield* demandKept(self, asset)
  })

export const lockAgreement = define(Templates.LockAgreement, {
  signatories: ["venue", "holder", "asset.admin"],
  observers: [],
  choices: {
    LockMore: {
      controllers: ["holder"],
      guards: [
        "an amount to lock is above 0",
        "the holding has less",
        "the holding is locked",
        "the reserve is another one",
        "the asset is not in the terms of the reserve",
        "terms that are pending leave out the asset",
        ...lockWithGuards,
        ...freeOneGuards,
        ...demandLockedGuards
      ],
      body: ({ self, argument }, scope) => lockMore(scope, self, argument)
    },
    Release: {
      controllers: ["venue"],
      guards: [
        "the units of the reserve own what is locked",
        "what is left would not cover the units",
        "the holding is not all that is locked of the asset",
        "a reserve that is not closing does not end",
        "the reserve is another one",
        "a holding is named twice",
        ...demandLockedGuards,
        "a count of the reserve is beyond a decimal",
        "the holdings are not exactly what is locked",
        ...pointsOfGuards,
        "a figure of the reserve is beyond a decimal",
        ...freeOneGuards
      ],
      body: ({ self, argument }, scope) => release(scope, self, argument)
    }
  }
})

const lockMore = (scope: Scope, self: LockAgreement, argument: LockIncrease) =>
  Result.gen(function* () {
    const { reserveCid, holdingCid, amount, lockedCid } = argument
    const reserve = yield* reserveOf(scope, self, reserveCid)
    yield* demandLockable(scope, reserve, self.asset)
    const free = yield* scope.fetch(Templates.Holding, holdingCid)
    yield* demand(
      [Decimal.isPositive(amount), "an amount to lock is above 0"],
      [Decimal.atMost(amount, free.amount), "the holding has less"],
      [free.lock === null, "the holding is locked"]
    )
    const { locked: part, change } = yield* scope.exercise(Templates.Holding, holdingCid, "Lock", {
      holders: [self.venue],
      observers: [],
      context: self.reserveId,
      expiresAt: null,
      amount
    })
    const unlocked = yield* scope.exercise(Templates.Holding, part, "Unlock", {
      releasers: [self.holder, self.venue]
    })
    const locked = yield* lockWith(scope, reserve, {
      asset: self.asset,
      holdingCids: [unlocked.contractId],
      lockedCid
    })
    const { contractId } = yield* scope.exercise(Templates.Reserve, reserveCid, "Note", {
      asset: self.asset,
      lockedChange: amount
    })
    return { locked, change, reserve: contractId }
  })

/**
 * The units of an accumulating reserve own the locked assets: none is released while units are
 * outstanding, since the requirement would fall with the release.
 */
const release = (scope: Scope, self: LockAgreement, argument: LockRelease) =>
  Result.gen(function* () {
    const { reserveCid, lockedCids, last } = argument
    const reserve = yield* reserveOf(scope, self, reserveCid)
    const amount = lockedOf(reserve, self.asset)
    const released: Array<string> = []
    const without = yield* stateOf(scope, reserve, { ...argument, without: self.asset })
    yield* demand(
      [
        Decimal.isZero(without.outstanding) || Decimal.isZero(amount) || reserve.parValue !== null,
        "the units of the reserve own what is locked"
      ],
      [Cover.coverOf(without).state === "covered", "what is left would not cover the units"],
      [
        lockedCids.length === (Decimal.isZero(amount) ? 0 : 1),
        "the holding is not all that is locked of the asset"
      ]
    )
    for (const lockedCid of lockedCids) {
      released.push(yield* freeOne(scope, reserve, self.asset, lockedCid))
    }
    const noted = Decimal.isZero(amount)
      ? reserveCid
      : (yield* scope.exercise(Templates.Reserve, reserveCid, "Note", {
          asset: self.asset,
          lockedChange: Decimal.negate(amount)
        })).contractId
    if (!last) return { released, reserve: noted }
    yield* demand([reserve.closing, "a reserve that is not closing does not end"])
    yield* scope.exercise(Templates.Reserve, noted, "Close", { empty: true })
    return { released, reserve: null }
  })

// ---- amendments and reports

export const amendmentProposal = define(Templates.AmendmentProposal, {
  signatories: ["venue"],
  observers: ["issuer", "holder"],
  choices: {
    Accept: {
      controllers: ["issuer"],
      guards: ["the reserve is another one"],
      body: ({ self, argument: { reserveCid } }, scope) =>
        Result.gen(function* () {
          yield* reserveOf(scope, self, reserveCid)
          const { amendmentId, terms } = self
          return yield* scope.exercise(Templates.Reserve, reserveCid, "Amend", {
            amendmentId,
            terms
          })
        })
    },
    Decline: { controllers: ["issuer"], body: ends },
    Withdraw: { controllers: ["venue"], body: ends }
  }
})

export const reserveReport = define(Templates.ReserveReport, {
  signatories: ["venue", "issuer", "holder"],
  observers: ["issuer"],
  choices: {}
})
