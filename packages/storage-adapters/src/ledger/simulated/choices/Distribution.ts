/**
 * Choice bodies of distributions: a month executed once, its lines added and sealed by the venue,
 * each delivered once by the registrar while the distribution is open.
 */
import { Decimal, Duration, Instant, Rational } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import { define, demand, type Scope } from "../Entity.ts"
import { worth } from "./Order.ts"
import { admits, sameAsset, admitsGuards } from "./Registry.ts"

type Slot = Templates.Payload<typeof Templates.DistributionSlot>
type SlotExecution = Templates.Argument<typeof Templates.DistributionSlot, "Execute">
type Distribution = Templates.Payload<typeof Templates.Distribution>
type LineAddition = Templates.Argument<typeof Templates.Distribution, "AddLines">
type DistributionSeal = Templates.Argument<typeof Templates.Distribution, "Seal">
type Line = Templates.Payload<typeof Templates.DistributionLine>
type LineDelivery = Templates.Argument<typeof Templates.DistributionLine, "Deliver">

const made = (contractId: string) => ({ contractId })

const isFraction = (rate: Decimal.Decimal): boolean =>
  !Decimal.isNegative(rate) && Decimal.atMost(rate, Decimal.one)

export const distributionSlot = define(Templates.DistributionSlot, {
  signatories: ["venue"],
  observers: [],
  choices: {
    Execute: {
      controllers: ["venue"],
      guards: [
        "the month, or a later one, is executed",
        "the record date lies in another month",
        "a distribution has a point",
        "the rate is a fraction",
        "a payout in units has a price, and no other has"
      ],
      body: ({ self, argument }, scope) => execute(scope, self, argument)
    }
  }
})

const noTotals: Templates.DistributionTotals = {
  entitlement: Decimal.zero,
  carryIn: Decimal.zero,
  gross: Decimal.zero,
  equalisation: Decimal.zero,
  withheld: Decimal.zero,
  net: Decimal.zero,
  carryOut: Decimal.zero,
  payoutUnits: Decimal.zero
}

const execute = (scope: Scope, self: Slot, terms: SlotExecution) =>
  Result.gen(function* () {
    const { month, payout, payoutPrice } = terms
    yield* demand(
      [self.lastMonth === null || self.lastMonth < month, "the month, or a later one, is executed"],
      [terms.recordDate.startsWith(month), "the record date lies in another month"],
      [terms.pointCids.length > 0, "a distribution has a point"],
      [isFraction(terms.rate), "the rate is a fraction"],
      [
        payout === "units"
          ? payoutPrice !== null && Decimal.isPositive(payoutPrice)
          : payoutPrice === null,
        "a payout in units has a price, and no other has"
      ]
    )
    const { venue, instrument } = self
    return {
      slot: yield* scope.create(Templates.DistributionSlot, { ...self, lastMonth: month }),
      distribution: yield* scope.create(Templates.Distribution, {
        ...terms,
        venue,
        instrument,
        registrar: instrument.admin,
        lineCount: 0,
        totals: noTotals,
        sealed: false,
        open: false
      })
    }
  })

export const distribution = define(Templates.Distribution, {
  signatories: ["venue"],
  observers: ["registrar", "fund"],
  ensure: [
    ["the registrar is the instrument's own", (self) => self.instrument.admin === self.registrar],
    ["only a sealed distribution is open", (self) => self.sealed || !self.open]
  ],
  choices: {
    AddLines: {
      controllers: ["venue"],
      guards: [
        "the distribution is sealed",
        "the distribution has another number of lines",
        "no line to add",
        `at most ${Templates.batchLinesMax} lines at once`,
        "lines are numbered from 1 without a gap",
        "a holder has two lines",
        "a line's units are below 0",
        "a line's gross is below 0",
        "a line is carried where its gross is 0, and there alone",
        "a line's equalisation is no part of its gross",
        "a line's rate is no fraction",
        "a line withholds more than its gross, or less than 0",
        "a line's net is not its gross without what is withheld",
        "a line has units to pay where the distribution pays units, and there alone",
        "a line's units to pay are worth more than its net, or nothing of it",
        "the lines sum up to more than can be counted"
      ],
      body: ({ self, argument }, scope) => addLines(scope, self, argument)
    },
    Seal: {
      controllers: ["venue"],
      guards: [
        "the distribution is sealed",
        "the distribution has another number of lines",
        "the lines sum up to other totals"
      ],
      body: ({ self, argument }, scope) => seal(scope, self, argument)
    },
    Open: {
      controllers: ["venue"],
      guards: ["a distribution opens once it is sealed", "the distribution is open"],
      body: ({ self }, scope) =>
        Result.gen(function* () {
          yield* demand(
            [self.sealed, "a distribution opens once it is sealed"],
            [!self.open, "the distribution is open"]
          )
          return made(yield* scope.create(Templates.Distribution, { ...self, open: true }))
        })
    },
    Close: {
      controllers: ["venue"],
      guards: ["the distribution is not open"],
      body: ({ self }, scope) =>
        Result.gen(function* () {
          yield* demand([self.open, "the distribution is not open"])
          return made(yield* scope.create(Templates.Distribution, { ...self, open: false }))
        })
    }
  }
})

const addLines = (scope: Scope, self: Distribution, { expectedCount, lines }: LineAddition) =>
  Result.gen(function* () {
    yield* demand(
      [!self.sealed, "the distribution is sealed"],
      [expectedCount === self.lineCount, "the distribution has another number of lines"],
      [lines.length > 0, "no line to add"],
      [lines.length <= Templates.batchLinesMax, `at most ${Templates.batchLinesMax} lines at once`],
      [
        lines.every(({ number }, index) => number === expectedCount + index + 1),
        "lines are numbered from 1 without a gap"
      ],
      [new Set(lines.map(({ holder }) => holder)).size === lines.length, "a holder has two lines"]
    )
    for (const line of lines) yield* demandFigures(self, line)
    const totals = yield* added(self.totals, lines)
    const { venue, distributionId, instrument, registrar } = self
    const created: Array<{ readonly number: number; readonly contractId: string }> = []
    for (const line of lines) {
      if (line.carried !== null) continue
      const { number, holder, custodian, units, gross, withheld, net, payoutUnits, waits } = line
      const contractId = yield* scope.create(Templates.DistributionLine, {
        venue,
        distributionId,
        lineId: `${distributionId}.${number}`,
        instrument,
        registrar,
        holder,
        custodian,
        units,
        gross,
        withheld,
        net,
        payoutUnits,
        waits
      })
      created.push({ number, contractId })
    }
    return {
      distribution: yield* scope.create(Templates.Distribution, {
        ...self,
        lineCount: self.lineCount + lines.length,
        totals
      }),
      lines: created
    }
  })

/** Checks that a line's figures fit each other, whatever they were computed from. */
const demandFigures = (self: Distribution, line: Templates.DistributedLine) =>
  demand(
    [!Decimal.isNegative(line.units), "a line's units are below 0"],
    [!Decimal.isNegative(line.gross), "a line's gross is below 0"],
    [
      Decimal.isZero(line.gross) === (line.carried !== null),
      "a line is carried where its gross is 0, and there alone"
    ],
    [isPart(line.equalisation, line.gross), "a line's equalisation is no part of its gross"],
    [isFraction(line.rate), "a line's rate is no fraction"],
    [isPart(line.withheld, line.gross), "a line withholds more than its gross, or less than 0"],
    [
      Decimal.equals(line.net, Decimal.subtract(line.gross, line.withheld)),
      "a line's net is not its gross without what is withheld"
    ],
    [
      (line.payoutUnits !== null) === (self.payout === "units"),
      "a line has units to pay where the distribution pays units, and there alone"
    ],
    [isWorth(self, line), "a line's units to pay are worth more than its net, or nothing of it"]
  )

const isPart = (part: Decimal.Decimal, whole: Decimal.Decimal): boolean =>
  !Decimal.isNegative(part) && Decimal.atMost(part, whole)

/** Checks that a payout in units is worth at most the net, and above 0 where the net is. */
const isWorth = (
  { payoutPrice }: Distribution,
  { net, payoutUnits: units }: Templates.DistributedLine
): boolean =>
  units === null ||
  payoutPrice === null ||
  (Decimal.isPositive(units) === Decimal.isPositive(net) &&
    !Decimal.isNegative(units) &&
    Rational.atMost(worth({ units, price: payoutPrice }), Rational.of(net)))

const totalled = [
  "entitlement",
  "carryIn",
  "gross",
  "equalisation",
  "withheld",
  "net",
  "carryOut",
  "payoutUnits"
] as const satisfies ReadonlyArray<keyof Templates.DistributionTotals>

const largest = 10n ** 38n

/** Sums the figures of more lines; a sum past the range of decimals is refused. */
const added = (before: Templates.DistributionTotals, lines: LineAddition["lines"]) =>
  Result.gen(function* () {
    const after = { ...before }
    for (const figure of totalled) {
      const atoms = lines.reduce(
        (sum, line) => sum + Decimal.atoms(line[figure] ?? Decimal.zero),
        Decimal.atoms(before[figure])
      )
      yield* demand([
        -largest < atoms && atoms < largest,
        "the lines sum up to more than can be counted"
      ])
      after[figure] = Decimal.fromAtoms(atoms)
    }
    return after
  })

const seal = (scope: Scope, self: Distribution, { lineCount, totals }: DistributionSeal) =>
  Result.gen(function* () {
    yield* demand(
      [!self.sealed, "the distribution is sealed"],
      [lineCount === self.lineCount, "the distribution has another number of lines"],
      [
        totalled.every((figure) => Decimal.equals(self.totals[figure], totals[figure])),
        "the lines sum up to other totals"
      ]
    )
    return made(yield* scope.create(Templates.Distribution, { ...self, sealed: true }))
  })

export const distributionLine = define(Templates.DistributionLine, {
  signatories: ["venue"],
  observers: ["registrar"],
  ensure: [
    ["the registrar is the instrument's own", (self) => self.instrument.admin === self.registrar],
    ["the gross is above 0", (self) => Decimal.isPositive(self.gross)],
    ["the net is not below 0", (self) => !Decimal.isNegative(self.net)]
  ],
  choices: {
    Deliver: {
      controllers: ["registrar"],
      guards: [
        "the line is of another distribution",
        "the distribution is not sealed",
        "the distribution is not open",
        "the distribution is not payable yet",
        "the line waits",
        "a payment of cash has its evidence",
        "what pays no cash has no evidence",
        "the day of the payment has not begun",
        "the payment has no reference",
        "units are delivered to a credential",
        "what pays no units takes no credential",
        "the credential is not the venue's",
        ...admitsGuards
      ],
      body: ({ self, argument }, scope) => deliver(scope, self, argument)
    },
    Direct: {
      controllers: ["venue"],
      body: ({ self, argument }, scope) =>
        Result.map(scope.create(Templates.DistributionLine, { ...self, ...argument }), made)
    },
    Void: { controllers: ["venue"], body: () => Result.succeed({}) }
  }
})

const deliver = (scope: Scope, self: Line, argument: LineDelivery) =>
  Result.gen(function* () {
    const { distributionCid, credentialCid, configurationCid, evidence } = argument
    const distribution = yield* scope.fetch(Templates.Distribution, distributionCid)
    const paysUnits = self.payoutUnits !== null && Decimal.isPositive(self.payoutUnits)
    const paysCash = distribution.payout === "cash" && Decimal.isPositive(self.net)
    yield* demand(
      [
        distribution.venue === self.venue &&
          distribution.distributionId === self.distributionId &&
          sameAsset(distribution.instrument, self.instrument),
        "the line is of another distribution"
      ],
      [distribution.sealed, "the distribution is not sealed"],
      [distribution.open, "the distribution is not open"],
      [
        Instant.atOrAfter(scope.now, distribution.payableFrom),
        "the distribution is not payable yet"
      ],
      [!self.waits, "the line waits"],
      [evidence !== null || !paysCash, "a payment of cash has its evidence"],
      [evidence === null || paysCash, "what pays no cash has no evidence"],
      [
        evidence === null || evidence.paidOn <= latestDay(scope.now),
        "the day of the payment has not begun"
      ],
      [evidence?.reference !== "", "the payment has no reference"],
      [credentialCid !== null || !paysUnits, "units are delivered to a credential"],
      [
        (credentialCid === null && configurationCid === null) || paysUnits,
        "what pays no units takes no credential"
      ]
    )
    const holding =
      credentialCid === null ? null : yield* mint(scope, self, { credentialCid, configurationCid })
    const { waits: _, ...line } = self
    return {
      delivered: yield* scope.create(Templates.DeliveredLine, {
        ...line,
        evidence,
        holdingCid: holding,
        deliveredAt: scope.now
      }),
      holding
    }
  })

/** Returns the day in UTC+14, the zone in which each day begins first. */
const latestDay = (now: Instant.Instant) => Instant.date(Instant.add(now, Duration.of("PT14H")))

/** Mints the payout to the credential of the line's holder. */
const mint = (
  scope: Scope,
  { venue, holder, instrument, payoutUnits, distributionId }: Line,
  by: { readonly credentialCid: string; readonly configurationCid: string | null }
) =>
  Result.gen(function* () {
    const credential = yield* scope.fetch(Templates.Credential, by.credentialCid)
    yield* demand([credential.issuer === venue, "the credential is not the venue's"])
    yield* admits(credential, { holder, instrument, now: scope.now })
    const { holding } = yield* scope.exercise(Templates.Credential, by.credentialCid, "Receive", {
      amount: payoutUnits ?? Decimal.zero,
      reference: { kind: "distribution", id: distributionId },
      configurationCid: by.configurationCid
    })
    return holding
  })

export const deliveredLine = define(Templates.DeliveredLine, {
  signatories: ["venue", "registrar"],
  observers: ["holder", "custodian"],
  choices: {
    Roll: { controllers: ["venue"], body: () => Result.succeed({}) }
  }
})
