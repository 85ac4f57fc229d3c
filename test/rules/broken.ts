/**
 * Table of an act's gates: the act as its gates see it, with one way to make each of its checks
 * refuse.
 */
import { Date, Decimal, Instant, PlainJson } from "@bursar/engine-core/kernel"
import { Result, Schema } from "effect"
import type { OpenHold } from "#core/restraints/hold/HoldRules.ts"
import type { RestrictionInForce } from "#core/restraints/restriction/RestrictionRules.ts"
import { Body } from "#core/instruments/instrument/Manifest.ts"
import type { RecordedInstrument } from "#core/instruments/instrument/Instrument.ts"
import { defaults } from "#core/instruments/policy/PolicyTerms.ts"
import type { Judgement } from "#core/kernel/Gates.ts"
import type { HolderOrder } from "#core/orders/order/HolderOrder.ts"
import { id, party } from "../machines/subscriptions.ts"
import { bodyOf } from "../operations/instrumentBody.ts"

/** `gate check`, as the tables name a row. */
export type Check = string

/** An act whose checks can be made to refuse, one by one or together. */
export interface Act {
  readonly name: string
  /** Its checks in the order in which they refuse. */
  readonly checks: ReadonlyArray<Check>
  /** Pairs of which only one can refuse: where the first does, the second cannot be judged. */
  readonly never: ReadonlyArray<readonly [Check, Check]>
  /** The rows of the act once these checks were made to refuse. */
  broken(checks: ReadonlyArray<Check>): ReadonlyArray<Judgement>
}

/** Breaks one check of a standing, and leaves alone what the other checks ask. */
export type Faults<S> = Readonly<Record<Check, (facts: S) => S>>

export const act = <S>(context: {
  readonly name: string
  readonly sound: S
  readonly rows: (facts: S) => ReadonlyArray<Judgement>
  readonly faults: Faults<S>
  readonly never?: ReadonlyArray<readonly [Check, Check]>
}): Act & { readonly sound: S } => ({
  name: context.name,
  sound: context.sound,
  checks: Object.keys(context.faults),
  never: context.never ?? [],
  broken: (checks) =>
    context.rows(
      checks.reduce((facts, check) => context.faults[check]?.(facts) ?? facts, context.sound)
    )
})

export const now = Instant.of("2026-08-01T00:00:00Z")
export const past = Instant.of("2026-01-01T00:00:00Z")
export const nextMonth = Instant.of("2026-09-01T00:00:00Z")
export const settleBy = Instant.of("2026-08-05T20:00:00Z")
export const valueDate = Date.of("2026-08-03")
export const kept = { version: 1, createdAt: now, updatedAt: now }

export const instrumentId = id<"InstrumentId">("fund-1")
export const cash = { admin: party("bank"), id: "USD" }
export const units = { admin: party("registrar"), id: "fund-1" }

export const instrument = (): RecordedInstrument => {
  const body = { ...bodyOf(), instrumentId, registrar: party("registrar") }
  const plain = Result.getOrThrow(PlainJson.parse(JSON.stringify(body)))
  const { instrumentId: named, registrar, ...manifest } = Schema.decodeUnknownSync(Body)(plain)
  return {
    instrumentId: named,
    registrar,
    manifest: { ...manifest, ...defaults },
    policyVersion: 1,
    termsSince: null,
    next: null,
    backedBy: null,
    configurations: ["00aa"]
  }
}

export const onAll: OpenHold = { holdId: "hold-1", instrumentId, blocks: ["all"] }
export const freeze = (holderId: string): RestrictionInForce => ({
  restrictionId: `rst-${holderId}`,
  holderId,
  instrumentId: null,
  mode: "freeze"
})
export const review = {
  state: "review",
  screenedAt: now,
  listVersion: "1",
  validUntil: null
} as const

export const holder = {
  holderId: id<"HolderId">("holder-1"),
  state: "active",
  screening: null,
  party: party("holder")
} as const

/** Holds and restrictions that every act on one holder's order is judged by. */
interface Controlled {
  readonly holds: ReadonlyArray<OpenHold>
  readonly restrictions: ReadonlyArray<RestrictionInForce>
}
export const free: Controlled = { holds: [], restrictions: [] }

export const held = <S extends Pick<Controlled, "holds">>(facts: S): S => ({
  ...facts,
  holds: [onAll]
})
export const frozen =
  (holderId: string) =>
  <S extends Controlled>(facts: S): S => ({
    ...facts,
    restrictions: [...facts.restrictions, freeze(holderId)]
  })
export const offRegistry = <S extends { readonly instrument: RecordedInstrument }>(
  facts: S
): S => ({
  ...facts,
  instrument: { ...facts.instrument, configurations: [] }
})

export const backed = <S extends { readonly instrument: RecordedInstrument }>(facts: S): S => ({
  ...facts,
  instrument: { ...facts.instrument, backedBy: "res-1" }
})

/** An order that its holder signed to the market, for what is asked. */
export const signed = (
  kind: HolderOrder["kind"],
  holderOrder: Pick<HolderOrder, "amount" | "units">
): HolderOrder => ({
  kind,
  orderId: "mine-1",
  party: holder.party,
  state: "signed",
  claimedAs: null,
  cid: "00dd",
  instrument: units,
  fund: party("fund"),
  paymentAsset: cash,
  expiresAt: null,
  ...holderOrder
})

export const market = {
  state: "agreed",
  fund: party("fund"),
  paymentAsset: cash,
  marketCid: "00cc"
} as const

/** A line of a bank statement; then split in two of one name, and of a little more or less. */
export const line = (amount: string) => ({
  statementId: id<"ExternalStatementId">("stmt-1"),
  line: 1,
  amount: Decimal.of(amount)
})
type Line = ReturnType<typeof line>
type Lines = ReadonlyArray<Line>
const half = (amount: Decimal.Decimal) =>
  Decimal.divideRounded(amount, Decimal.of("2"), { places: 2, rounding: "floor" })
export const twice = (lines: Lines): Lines =>
  lines.flatMap((one) => {
    const first = half(one.amount)
    return [
      { ...one, amount: first },
      { ...one, amount: Decimal.subtract(one.amount, first) }
    ]
  })
export const more = (lines: Lines): Lines =>
  lines.map((one) => ({ ...one, amount: Decimal.add(one.amount, Decimal.of("1")) }))
export const less = (lines: Lines): Lines =>
  lines.map((one) => ({ ...one, amount: Decimal.subtract(one.amount, Decimal.of("3")) }))
