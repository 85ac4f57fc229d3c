/** Types of a venue's calls, for every kind of write and every read; checked by `npm run types`, never run. */
import type { Venue } from "@bursar/engine-core"
import type { Decimal } from "@bursar/engine-core/kernel"
import type { Effect } from "effect"
import type { AskedOperationKind } from "#core/vocabulary/OperationKind.ts"

type Same<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false
const holds = <_T extends true>(): void => {}

/** A type that says something: neither any, unknown nor never. */
type IsKnown<T> = 0 extends 1 & T
  ? false
  : [T] extends [never]
    ? false
    : unknown extends T
      ? false
      : true
/** An object each of whose members says something; one without members does. */
type IsKnownWhole<T> = false extends { [M in keyof T]-?: IsKnown<T[M]> }[keyof T]
  ? false
  : IsKnown<T>

// Every kind that a caller can ask for is a kind of a venue's writes, and has all its types: a kind
// whose declaration loses one of them does not compile here.
holds<Same<Venue.WriteKind, AskedOperationKind>>()
type WriteTypesOf<K extends Venue.WriteKind> = readonly [
  body: IsKnownWhole<Venue.WriteBody<K>>,
  result: IsKnownWhole<Venue.WriteResult<K>>,
  refusals: Same<IsWords<Venue.RefusalOf<K>>, true>,
  conditions: IsWords<Venue.ConditionOf<K>>
]
/** A union of words, and not any text. */
type IsWords<T> = string extends T ? false : true
type EveryWrite = { readonly [K in Venue.WriteKind]: WriteTypesOf<K> }
type WholeWrite = readonly [body: true, result: true, refusals: true, conditions: true]
holds<EveryWrite extends { readonly [K in Venue.WriteKind]: WholeWrite } ? true : false>()

// The same of every read.
type ReadTypesOf<R extends Venue.ReadName> = readonly [
  params: IsKnownWhole<Venue.ReadParams<R>>,
  value: IsKnownWhole<Venue.ReadValue<R>>,
  refusals: IsWords<Venue.ReadRefusal<R>>
]
type EveryRead = { readonly [R in Venue.ReadName]: ReadTypesOf<R> }
holds<
  EveryRead extends { readonly [R in Venue.ReadName]: readonly [true, true, true] } ? true : false
>()
type EveryList = { readonly [R in Venue.ListName]: IsKnownWhole<Venue.RowOf<R>> }
holds<EveryList extends { readonly [R in Venue.ListName]: true } ? true : false>()
type EveryRow = { readonly [R in Venue.RowsName]: IsKnownWhole<Venue.RowOf<R>> }
holds<EveryRow extends { readonly [R in Venue.RowsName]: true } ? true : false>()
holds<Same<Venue.ReadName, Venue.ListName | Venue.ValueName>>()

// A decimal is text or a Decimal, never a number, which loses digits; an integer is a number.
type Claim = Venue.WriteBody<"subscription.claim">
declare const amount: Decimal.Decimal
export const claims: ReadonlyArray<Claim> = [
  { instrumentId: "elf", holderId: "h-1", amount: "100000.50" },
  { instrumentId: "elf", holderId: "h-1", amount },
  // @ts-expect-error a number of JavaScript loses digits
  { instrumentId: "elf", holderId: "h-1", amount: 100000.5 },
  // @ts-expect-error there is no such member
  { instrumentId: "elf", holderId: "h-1", amount: "1", colour: "red" },
  // @ts-expect-error the holder is missing
  { instrumentId: "elf", amount: "1" }
]

// A refusal's slug is one of those of its kind.
holds<"rule-refused" extends Venue.RefusalOf<"subscription.claim"> ? true : false>()
holds<"ledger-rejected" extends Venue.RefusalOf<"subscription.claim"> ? true : false>()
// @ts-expect-error no person approves a claim
holds<"same-approver" extends Venue.RefusalOf<"subscription.claim"> ? true : false>()
holds<"same-approver" extends Venue.RefusalOf<"instrument.record"> ? true : false>()
// @ts-expect-error the order's state alone decides about its end
holds<"rule-refused" extends Venue.RefusalOf<"subscription.withdraw"> ? true : false>()
// @ts-expect-error its approvers sign no figures, and no condition judges it
holds<"rule-refused" extends Venue.RefusalOf<"webhook.remove"> ? true : false>()
// Its approvers sign figures, which may have moved.
holds<"rule-refused" extends Venue.RefusalOf<"restriction.lift"> ? true : false>()
holds<Same<Venue.ConditionOf<"restriction.lift">, "figures-moved">>()
holds<Same<Venue.ConditionOf<"redemption.withdraw">, "burn-requested">>()
// @ts-expect-error the ledger has no part in the record of an instrument
holds<"ledger-rejected" extends Venue.RefusalOf<"instrument.record"> ? true : false>()

declare const olive: Venue.Person
// @ts-expect-error no write is called so
olive.write("subscription.clam", {})
// @ts-expect-error no read is called so
olive.read("subscription.get", { subscriptionId: "s-1" })
// @ts-expect-error a list is no value
olive.read("subscriptions.list", {})
// @ts-expect-error a value is no list
olive.list("subscriptions.get")
// @ts-expect-error the id of the path is missing
olive.list("holders.statements")
olive.list("holders.statements", { where: { holderId: "h-1" } })
// @ts-expect-error no finding is ever in this state
olive.list("findings.list", { where: { state: ["shut"] } })
olive.list("findings.list", { where: { state: ["open"] } })

// The result follows from the kind, whether or not people approve the write.
declare const recorded: Venue.Action<"instrument.record">
export const done = olive.done(recorded)
holds<Same<Effect.Success<typeof done>["result"], Venue.WriteResult<"instrument.record">>>()
