/** Members, facts, filters and invariants that the records of mints and reserve redemptions share. */
import { Effect, Schema } from "effect"
import { match } from "ts-pattern"
import { HolderId } from "../../holders/holder/HolderId.ts"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import type * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as Party from "../../kernel/Party.ts"
import * as HoldRules from "../../restraints/hold/HoldRules.ts"
import * as OpenOrder from "../../orders/order/OpenOrder.ts"
import * as Field from "../../templates/Field.ts"

export const ReserveOrderMachine = Machine.declare("ReserveOrderState", {
  doc: "A mint against a reserve or a redemption from it; the engine itself settles a ready one.",
  states: {
    started: "Asked; nothing is allocated yet.",
    ready: "The depositor's asset, or the holder's units, are allocated.",
    settled: "Locked and minted, or burned and paid, in one transaction.",
    cancelled: "Ended before it settled: taken back, declined, or past its deadline.",
    expired: "Its deadline passed; what was allocated is held until the engine cancels it."
  },
  triggers: {
    allocate: { by: ["ledger"] },
    reallocate: { by: ["ledger"] },
    settle: {
      by: ["mint.settle", "reserve-redemption.settle"],
      announces: ["reserve.minted", "reserve.redeemed"]
    },
    cancel: { by: ["mint.cancel", "reserve-redemption.cancel"] },
    release: { by: ["ledger", "mint.cancel", "reserve-redemption.cancel"] },
    decline: { by: ["ledger"] },
    expire: { by: ["clock"] }
  },
  initial: "started",
  // A projection that begins from a snapshot opens an order that was accepted before it as ready.
  opensIn: ["started", "ready"],
  opens: { by: ["mint.start", "reserve-redemption.start", "ledger"] },
  moves: {
    started: { allocate: "ready", cancel: "cancelled", decline: "cancelled", expire: "expired" },
    ready: {
      reallocate: "ready",
      settle: "settled",
      cancel: "cancelled",
      decline: "cancelled",
      expire: "expired"
    },
    settled: {},
    cancelled: {},
    expired: { release: "cancelled" }
  },
  forward: ["allocate", "settle", "release"]
})

const { NullOr, String: Text } = Schema

export const members = {
  reserveId: Text,
  /** The backed instrument. */
  instrumentId: InstrumentId,
  registrar: Party.schema,
  /** Party that owns every holding of the reserve. */
  holder: Party.schema,
  state: ReserveOrderMachine.schema,
  endedAs: NullOr(Schema.Literals(["settled", "cancelled", "declined", "expired"])),
  holderId: HolderId,
  /** The depositor of a mint, or the owner of the units that are redeemed. */
  party: Party.schema,
  /** Asset that is deposited or paid out. */
  asset: Field.asset,
  /** Units of the instrument, fixed at the start. */
  units: Decimal.schema,
  /** Price of the asset at the start; null: unknown, as after a snapshot. */
  price: NullOr(Decimal.schema),
  /** Point of that price; null: the asset is always worth 1, or the point is unknown. */
  pointCid: NullOr(Field.contractId),
  /** Share price at the start, rounded up for a mint and down for a redemption; null: unknown. */
  sharePrice: NullOr(Decimal.schema),
  /** Places that the units of a mint and a payout round to. */
  decimals: Integer.schema,
  /** The reserve's unit of account. */
  unit: Text,
  coverBefore: NullOr(Decimal.schema),
  coverAfter: NullOr(Decimal.schema),
  deadline: Instant.schema,
  readyAt: NullOr(Instant.schema),
  endedAt: NullOr(Instant.schema),
  /** The ledger update that settled it. */
  updateId: NullOr(Text),
  /** Its contract on the ledger; null once it has ended. */
  orderCid: NullOr(Field.contractId),
  /**
   * The depositor's allocation, or the owner's locked units; null: none is named, or it has ended.
   */
  heldCid: NullOr(Field.contractId),
  /**
   * True where a new ledger epoch began without the contract of the open order: it ended meanwhile, and
   * how is unknown (docs/domain/ledger-epochs.md#lost-records).
   */
  lost: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false)))
} as const

const Members = Schema.Struct(members)
export type Members = typeof Members.Type

const at = { at: Instant.schema } as const
const accepted = { orderCid: Field.contractId, heldCid: Field.contractId, ...at } as const

export const Fact = Schema.Union([
  Schema.Struct({ on: Schema.Literal("allocate"), ...accepted }),
  Schema.Struct({ on: Schema.Literal("reallocate"), ...accepted }),
  /** The allocation or the locked units ended before the order. */
  Schema.Struct({ on: Schema.Literal("lose") }),
  /** The venue asked the depositor's wallet for the deposit; null: the request ended. */
  Schema.Struct({ on: Schema.Literal("request"), intentCid: NullOr(Field.contractId) }),
  Schema.Struct({
    on: Schema.Literal("settle"),
    coverBefore: NullOr(Decimal.schema),
    coverAfter: NullOr(Decimal.schema),
    updateId: Text,
    ...at
  }),
  Schema.Struct({ on: Schema.Literal("cancel"), ...at }),
  Schema.Struct({ on: Schema.Literal("release"), ...at }),
  Schema.Struct({ on: Schema.Literal("decline"), ...at }),
  Schema.Struct({ on: Schema.Literal("expire") })
])
export type Fact = typeof Fact.Type

const endedAs = {
  settle: "settled",
  cancel: "cancelled",
  release: "expired",
  decline: "declined"
} as const

/** Fold: the order after `fact`; the request for a deposit is a mint's own. */
export const evolve = <R extends Members>(
  self: R,
  fact: Exclude<Fact, { readonly on: "request" }>
): R =>
  match(fact)
    .with({ on: "allocate" }, { on: "reallocate" }, ({ on, orderCid, heldCid, at: readyAt }) => ({
      ...moved(self, on),
      orderCid,
      heldCid,
      readyAt
    }))
    .with({ on: "lose" }, () => ({ ...self, heldCid: null }))
    .with({ on: "settle" }, ({ on, at: endedAt, coverBefore, coverAfter, updateId }) => ({
      ...ended(moved(self, on), on, endedAt),
      coverBefore,
      coverAfter,
      updateId
    }))
    .with({ on: "cancel" }, { on: "release" }, { on: "decline" }, ({ on, at: endedAt }) =>
      ended(moved(self, on), on, endedAt)
    )
    .with({ on: "expire" }, ({ on }) => moved(self, on))
    .exhaustive()

const moved = <R extends Members>(
  self: R,
  on: Machine.TriggerOf<typeof ReserveOrderMachine>
): R => ({ ...self, state: Machine.follow(ReserveOrderMachine, self.state, on) })

const ended = <R extends Members>(
  self: R,
  on: keyof typeof endedAs,
  endedAt: Instant.Instant
): R => ({ ...self, endedAs: endedAs[on], endedAt, orderCid: null, heldCid: null })

/** The order after a snapshot without its contract: it has its last known state, and waits for nobody. */
export const lost = <R extends Members>(self: R): R => ({ ...self, lost: true })

const hasEnded = ({ state }: Pick<Members, "state">): boolean =>
  Machine.isTerminal(ReserveOrderMachine, state)

/**
 * An order is open until it has settled or is cancelled, or is lost; one past its deadline is open too.
 */
export const isOpen = (self: Pick<Members, "state" | "lost">): boolean =>
  !hasEnded(self) && !self.lost

type Ready = Pick<Members, "state" | "heldCid" | "lost">

/** Checks whether the engine settles the order by itself, if no hold stops it. */
export const isReady = ({ heldCid, lost, state }: Ready): boolean =>
  state === "ready" && heldCid !== null && !lost

/** Waits of a ready order that a hold stops: a role releases the hold, until the order's deadline. */
export const releases = ({ deadline }: Pick<Members, "deadline">) =>
  (["operator", "risk"] as const).map((role) => ({
    role,
    action: "hold.release" as const,
    by: deadline
  }))

/** Acts of gate `hold` by which the orders of each kind settle. */
export const settlementActs = { mint: "mint", "reserve-redemption": "deal" } as const

/**
 * Waits of an order in the index of waiting records: people are waited for where a hold stops a ready one,
 * since the engine does the rest.
 */
export const indexedWaits =
  (kind: keyof typeof settlementActs) =>
  (self: Members): ReadonlyArray<Collection.IndexedWait> => {
    if (!isReady(self)) return []
    const condition = {
      key: HoldRules.stopKey(settlementActs[kind], self.instrumentId),
      holds: true
    }
    return releases(self).map((wait) => ({ ...wait, condition }))
  }

/** Key of a reserve's asset, for the index of open orders in it. */
export const assetKeyOf = ({ reserveId, asset }: Pick<Members, "reserveId" | "asset">): string =>
  `${reserveId}/${asset.admin}/${asset.id}`

const filters = {
  reserveId: (self: Members) => self.reserveId,
  instrumentId: (self: Members) => self.instrumentId,
  registrar: (self: Members) => self.registrar,
  holderId: (self: Members) => self.holderId,
  state: (self: Members) => self.state,
  /** The reserve while the order is open. */
  openOf: (self: Members) => (isOpen(self) ? self.reserveId : null),
  /** The reserve's asset while the order is open. */
  openIn: (self: Members) => (isOpen(self) ? assetKeyOf(self) : null),
  /** Allocation or locked units of a ready order, to see when they end. */
  heldCid: (self: Members) => (self.lost ? null : self.heldCid)
} as const

/** Filter columns of the orders of a kind; an order is in the list of open orders until it has ended. */
export const filtersOf = (kind: "mint" | "reserve-redemption") => ({
  ...filters,
  open: ({ lost, state }: Members) => (lost ? null : OpenOrder.open({ kind, state })),
  openUntil: ({ lost, state }: Members) =>
    lost ? null : OpenOrder.openUntil({ kind, state, until: null })
})

/** Filter columns that the clock moves: past its deadline an order is still open. */
export const ripens: ReadonlyArray<string> = ["state", "open"]

/** The clock expires an order that has not settled by its deadline. */
export const due = ({
  state,
  deadline,
  lost
}: Members): Collection.DueMove<Extract<Fact, { readonly on: "expire" }>> | undefined =>
  (state === "started" || state === "ready") && !lost
    ? { at: deadline, fact: { on: "expire" } }
    : undefined

/** States that only a ready order reaches. */
const wasReady: ReadonlySet<Members["state"]> = new Set(["ready", "settled"])

export const invariants = {
  "an order that ended says when and how": (self: Members) =>
    hasEnded(self) === (self.endedAt !== null) && hasEnded(self) === (self.endedAs !== null),
  "an open order stands on its contract": (self: Members) =>
    hasEnded(self) === (self.orderCid === null),
  "an order is for units": ({ units }: Members) => Decimal.isPositive(units),
  "an order says since when it was ready, once it was": ({ readyAt, state }: Members) =>
    state === "started" ? readyAt === null : readyAt !== null || !wasReady.has(state),
  "a settled order names its update": ({ state, updateId }: Members) =>
    (state === "settled") === (updateId !== null)
} as const
