/**
 * Plan of a registrar that delivers the lines of distributions: units by a mint, cash by the
 * evidence of its payment.
 */
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import { Date, Decimal, Duration, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Schema } from "effect"
import * as Agreements from "./Agreements.ts"
import * as Policy from "./Policy.ts"
import * as World from "./World.ts"

/** A payment of cash at the registrar's bank. */
export const Payment = Schema.Struct({
  /** Id of the line that was paid, or of the distribution whose lines were paid together. */
  paid: Schema.String,
  /** Reference of the payment at the bank. */
  reference: Schema.NonEmptyString.check(Schema.isMaxLength(256)),
  paidOn: Date.schema
})
export type Payment = typeof Payment.Type

/**
 * Payments that the registrar made; `as-delivered` for a demo without a bank, in which each line
 * counts as paid on the day of its delivery, with its id as the reference.
 */
export const Payments = Schema.Union([Schema.Literal("as-delivered"), Schema.Array(Payment)])
export type Payments = typeof Payments.Type

/** Options of a program that delivers the lines of distributions. */
export interface Options {
  /** Lines are named by lineId, distributionId, instrumentId, holder and contract. */
  readonly policy: Policy.Policy
  readonly payments: Payments
}

type Distribution = World.FoundContract<typeof Templates.Distribution>
type Line = World.FoundContract<typeof Templates.DistributionLine>

/** Largest number of lines in one submission: two contracts each, below CIP-56's 100 inputs. */
const linesMax = 40

/**
 * Delivers every line that the ledger permits: of an open and payable distribution, not waiting, to
 * a valid credential or with evidence. All other lines wait; a line can not be rejected.
 */
export const plan =
  (options: Options): World.Plan =>
  (world) => {
    const open = openDistributions(world)
    const deliverable = World.find(world, Templates.DistributionLine).flatMap((line) => {
      const { registrar, waits } = line.payload
      const distribution = open.get(keyOf(line.payload))
      if (registrar !== world.party || waits || distribution === undefined) return []
      const command = deliver(world, { options, line, distribution })
      return command === null ? [] : [{ line, distribution, command }]
    })
    // Blocks by line number keep their members while lines of other blocks come and go.
    const blocks = Map.groupBy(
      deliverable,
      ({ line: { payload } }) =>
        `${keyOf(payload)} ${Math.floor((numberOf(payload) - 1) / linesMax)}`
    )
    return [...blocks.values()].flatMap((block) =>
      delivery(block.toSorted((a, b) => numberOf(a.line.payload) - numberOf(b.line.payload)))
    )
  }

interface Deliverable {
  readonly line: Line
  readonly distribution: Distribution
  readonly command: Templates.Command
}

const keyOf = ({
  venue,
  instrument,
  distributionId
}: Pick<Line["payload"], "venue" | "instrument" | "distributionId">): string =>
  JSON.stringify([venue, instrument.admin, instrument.id, distributionId])

const numberOf = ({ lineId, distributionId }: Line["payload"]): number =>
  Number(lineId.slice(distributionId.length + 1))

const openDistributions = (world: World.World): ReadonlyMap<string, Distribution> =>
  new Map(
    World.find(world, Templates.Distribution)
      .filter(
        ({ payload: { sealed, open, payableFrom } }) =>
          sealed && open && Instant.atOrBefore(payableFrom, world.now)
      )
      .map((distribution) => [keyOf(distribution.payload), distribution])
  )

/** Returns the delivery of a line, or null where it lacks a credential, evidence or a consent. */
const deliver = (
  world: World.World,
  {
    options: { policy, payments },
    line: { contractId, payload },
    distribution
  }: { readonly options: Options; readonly line: Line; readonly distribution: Distribution }
): Templates.Command | null => {
  const { venue, lineId, distributionId, holder, instrument, net, payoutUnits } = payload
  const ids = [contractId, lineId, distributionId, instrument.id, holder]
  if (Policy.judge(policy, ids) !== "accept") return null
  const exercise = (
    by: Partial<Templates.Argument<typeof Templates.DistributionLine, "Deliver">>
  ): Templates.Command =>
    Templates.exercise(Templates.DistributionLine, contractId, "Deliver", {
      distributionCid: distribution.contractId,
      credentialCid: null,
      configurationCid: null,
      evidence: null,
      ...by
    })
  if (payoutUnits !== null && Decimal.isPositive(payoutUnits)) {
    const credentialCid = Agreements.credentialOf(world, { holder, instrument, issuer: venue })
    const configurationCid = Agreements.configurationOf(world, instrument.id)?.contractId ?? null
    return credentialCid === null ? null : exercise({ credentialCid, configurationCid })
  }
  if (distribution.payload.payout !== "cash" || Decimal.isZero(net)) return exercise({})
  const evidence = evidenceOf(payments, payload, world.now)
  return evidence === null ? null : exercise({ evidence })
}

/** Returns the evidence of a line's payment; a payment of a day that has begun nowhere waits. */
const evidenceOf = (
  payments: Payments,
  { lineId, distributionId }: Line["payload"],
  now: Instant.Instant
): Pick<Payment, "reference" | "paidOn"> | null => {
  if (payments === "as-delivered") return { reference: lineId, paidOn: Instant.date(now) }
  const payment =
    payments.find(({ paid }) => paid === lineId) ??
    payments.find(({ paid }) => paid === distributionId)
  return payment === undefined || payment.paidOn > latestDay(now)
    ? null
    : { reference: payment.reference, paidOn: payment.paidOn }
}

/** Returns the day in UTC+14, the zone in which each day begins first. */
const latestDay = (now: Instant.Instant): Date.Date =>
  Instant.date(Instant.add(now, Duration.of("PT14H")))

/**
 * Delivers lines in one submission. Where the ledger refuses it, each line is delivered by itself,
 * so that one that cannot be delivered does not keep the others.
 */
const delivery = (block: ReadonlyArray<Deliverable>): ReadonlyArray<World.Act> => {
  const [first, ...others] = block
  if (first === undefined) return []
  const alone = actOf([first])
  return others.length === 0
    ? [alone]
    : [{ ...actOf([first, ...others]), parts: block.map((part) => actOf([part])) }]
}

const actOf = ([first, ...others]: readonly [
  Deliverable,
  ...ReadonlyArray<Deliverable>
]): World.Act => {
  const lines = [first, ...others]
  const contractIds = lines.map(({ line }) => line.contractId)
  const { distributionId, lineId } = first.line.payload
  return {
    name: "deliver-lines",
    about: first.line.contractId,
    change: {
      commandId: `deliver-lines:${bytesToHex(sha256(utf8ToBytes(contractIds.join(" "))))}`,
      commands: [first.command, ...others.map(({ command }) => command)],
      notBefore: first.distribution.payload.payableFrom
    },
    details:
      others.length === 0 ? { lineId } : { distributionId, lineId, lines: String(lines.length) }
  }
}
