/** Input members that the claims of subscriptions and redemptions share. */
import { Effect, Schema } from "effect"
import { HolderId } from "../../holders/holder/HolderId.ts"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import type * as Decimal from "../../kernel/Decimal.ts"
import * as Field from "../../templates/Field.ts"
import { PaymentMode } from "../../vocabulary/sets.ts"
import * as Amount from "../../kernel/Amount.ts"
import type { PlainNumber } from "../../kernel/PlainNumber.ts"
import { optionally, type Phrase, phrase } from "../../writes/Summary.ts"

export const fields = {
  instrumentId: InstrumentId,
  holderId: HolderId,
  payment: PaymentMode.schema.pipe(Schema.withDecodingDefaultKey(Effect.succeed("wire" as const))),
  amount: Field.optional(Amount.orderCash),
  units: Field.optional(Amount.orderUnits),
  /** Id of the order that the holder signed in its wallet; required for an order paid on the ledger. */
  orderId: Field.optional(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(128)))
} as const

/** Payment mode, size and signed order of a claim. */
export interface ClaimInput {
  readonly payment: PaymentMode
  readonly amount: Decimal.Decimal | null
  readonly units: Decimal.Decimal | null
  readonly orderId: string | null
}

/** Filter: a wire-paid claim names an amount or units, a ledger-paid one the holder's signed order. */
export const isWhole = Schema.makeFilter(({ payment, amount, units, orderId }: ClaimInput) => {
  if (amount !== null && units !== null) return "an amount or units, not both"
  if (payment === "ledger") return orderId === null ? "the holder's orderId" : undefined
  if (orderId !== null) return "no orderId: an order paid by wire is the venue's own"
  return amount === null && units === null ? "an amount or units" : undefined
})

/** Size of a claim for its summary: cash, units, or the order that the holder signed. */
export const sizeOf = ({
  amount,
  orderId,
  units
}: {
  readonly amount?: PlainNumber | null | undefined
  readonly orderId?: string | null | undefined
  readonly units?: PlainNumber | null | undefined
}): Phrase =>
  phrase`${optionally(amount, (cash) => phrase` for ${cash} in cash`)}${optionally(units, (number) => phrase` for ${number} units`)}${optionally(orderId, (id) => phrase` by the signed order ${id}`)}`
