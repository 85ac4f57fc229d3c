/** The books of dealing days kept by hand: whole numbers of smallest parts, written without the engine. */

/** A currency's cents; units and prices in the ten places of the ledger; ten-thousandths of a rate. */
export type Cents = bigint
export type Atoms = bigint
export type Price = bigint
export type Rate = bigint

export interface Order {
  readonly id: string
  readonly kind: "subscription" | "redemption"
  readonly payment: "ledger" | "wire"
  readonly holderId: string
  /** The dealing day it is of, counted from the first. */
  readonly day: number
  cycleId: string | null
  readonly amount: Cents | null
  readonly ordered: Atoms | null
  readonly feeRate: Rate
  /** Set once it is priced, and again where a gate deals a part of it. */
  priced: { price: Price; units: Atoms; cash: Cents; refund: Cents } | null
  state: string
}

const floor = (a: bigint, b: bigint): bigint => a / b
const ceiling = (a: bigint, b: bigint): bigint => (a + b - 1n) / b
const one = 10_000n
/** A cent, as units of ten places times a price of ten places. */
const perCent = 10n ** 18n

/** Units for an amount, after a fee in the fund's favour, down to a whole atom of units. */
export const bought = (amount: Cents, price: Price, feeRate: Rate, atom: Atoms = 1n): Atoms =>
  floor((amount - ceiling(amount * feeRate, one)) * perCent, price * atom) * atom

/** The whole cents of an amount that its fee and its units leave over: they go back to the holder. */
export const refunded = (amount: Cents, price: Price, feeRate: Rate, units: Atoms): Cents =>
  floor((amount - ceiling(amount * feeRate, one)) * perCent - units * price, perCent)

/** Cash for units, after the fee, the last cent kept by the fund. */
export const paid = (units: Atoms, price: Price, feeRate: Rate): Cents =>
  floor(units * price * (one - feeRate), perCent * one)

/** Units that go for exactly so much cash, up to a whole atom of units, which the fund keeps. */
export const sold = (amount: Cents, price: Price, feeRate: Rate, atom: Atoms = 1n): Atoms =>
  ceiling(amount * perCent * one, price * (one - feeRate) * atom) * atom

/** Cash for units bought: the price and the fee on it, each rounded up in the fund's favour. */
export const costs = (units: Atoms, price: Price, feeRate: Rate): Cents =>
  ceiling(units * price, perCent) + ceiling(units * price * feeRate, perCent * one)

/** Units and cash of an order at a price, and the refund of a subscription. */
export const comesTo = (
  { amount, feeRate, kind, ordered }: Order,
  { price, atom }: { readonly price: Price; readonly atom: Atoms }
): { readonly units: Atoms; readonly cash: Cents; readonly refund: Cents } => {
  if (amount === null) {
    const units = ordered ?? 0n
    return { units, cash: paid(units, price, feeRate), refund: 0n }
  }
  if (kind === "redemption") {
    return { units: sold(amount, price, feeRate, atom), cash: amount, refund: 0n }
  }
  const units = bought(amount, price, feeRate, atom)
  return { units, cash: amount, refund: refunded(amount, price, feeRate, units) }
}

export interface Swing {
  readonly threshold: Rate
  readonly up: Rate
  readonly down: Rate
}

/** The price that a day's orders deal at: up on net inflow, down on net outflow above the threshold. */
export const swung = (
  price: Price,
  order: {
    readonly orders: ReadonlyArray<Order>
    readonly outstanding: Atoms
    readonly swing: Swing | null
  }
): Price => {
  const { orders, outstanding, swing } = order
  if (swing === null || outstanding === 0n) return price
  // Exact, in atoms of units times atoms of the price: a unit's worth needs no rounding.
  const worth = (units: Atoms) => units * price
  const flow = orders.reduce((sum, { amount, kind, ordered }) => {
    const size = amount === null ? worth(ordered ?? 0n) : amount * perCent
    return kind === "subscription" ? sum + size : sum - size
  }, 0n)
  const size = flow < 0n ? -flow : flow
  if (size * one <= swing.threshold * worth(outstanding)) return price
  const factor = flow > 0n ? one + swing.up : one - swing.down
  return floor(2n * price * factor + one, 2n * one)
}

/** Pro rata to the last atom of units: each its floor, what is left over to the largest remainders. */
export const gated = (
  orders: ReadonlyArray<{ readonly id: string; readonly units: Atoms }>,
  capacity: Atoms,
  atom: Atoms = 1n
): ReadonlyMap<string, Atoms> => {
  if (atom > 1n) {
    const counted = orders.map(({ id, units }) => ({ id, units: floor(units, atom) }))
    const filled = gated(counted, floor(capacity, atom))
    return new Map([...filled].map(([id, atoms]) => [id, atoms * atom]))
  }
  const total = orders.reduce((sum, { units }) => sum + units, 0n)
  if (total <= capacity) return new Map(orders.map(({ id, units }) => [id, units]))
  const shares = orders.map(({ id, units }) => ({
    id,
    share: floor(units * capacity, total),
    rest: (units * capacity) % total
  }))
  let over = capacity - shares.reduce((sum, { share }) => sum + share, 0n)
  const filled = new Map<string, Atoms>()
  for (const { id, rest, share } of shares.toSorted((a, b) =>
    a.rest === b.rest ? (a.id < b.id ? -1 : 1) : a.rest > b.rest ? -1 : 1
  )) {
    filled.set(id, rest > 0n && over > 0n ? share + 1n : share)
    if (rest > 0n && over > 0n) over -= 1n
  }
  return filled
}

/** Balances of all parties: cents of the currency, atoms of the fund's units. */
export class Books {
  readonly cash = new Map<string, Cents>()
  readonly units = new Map<string, Atoms>()
  readonly orders = new Map<string, Order>()
  /** Totals: cents that the bank issued, units minted and units burned. */
  given: Cents = 0n
  minted: Atoms = 0n
  burned: Atoms = 0n

  gives(to: string, cents: Cents) {
    this.given += cents
    add(this.cash, to, cents)
  }

  /** An order has settled as it was priced; by wire its cash moves elsewhere. */
  settles(order: Order, fund: string) {
    const priced = order.priced
    if (priced === null) throw new Error(`audit: ${order.id} was settled unpriced`)
    const buys = order.kind === "subscription"
    if (order.payment === "ledger") {
      const moved = priced.cash - priced.refund
      add(this.cash, buys ? order.holderId : fund, -moved)
      add(this.cash, buys ? fund : order.holderId, moved)
    }
    if (buys) this.minted += priced.units
    else if (order.state !== "burned") this.burned += priced.units
    if (order.state !== "burned") {
      add(this.units, order.holderId, buys ? priced.units : -priced.units)
    }
    order.state = buys ? "closed" : "settled"
  }

  /** The registrar burned what its holder asked it to. */
  burns(order: Order) {
    const units = order.priced?.units ?? 0n
    this.burned += units
    add(this.units, order.holderId, -units)
    order.state = "burned"
  }

  ordersOf(day: number): ReadonlyArray<Order> {
    return [...this.orders.values()].filter((order) => order.day === day && isAlive(order))
  }

  /** Cash comes from the bank alone, and units from minting and burning alone. */
  audit() {
    holds(total(this.cash) === this.given, "the cash does not add up")
    holds(total(this.units) === this.minted - this.burned, "the units do not add up")
    for (const [name, amount] of [...this.cash, ...this.units]) {
      holds(amount >= 0n, `${name} holds ${amount}`)
    }
  }
}

const ended = ["closed", "settled", "released", "withdrawn"]
export const isAlive = ({ state }: Order): boolean => !ended.includes(state)

const add = (to: Map<string, bigint>, key: string, amount: bigint) =>
  to.set(key, (to.get(key) ?? 0n) + amount)
const total = (amounts: ReadonlyMap<string, bigint>): bigint =>
  [...amounts.values()].reduce((sum, one) => sum + one, 0n)

export const holds = (condition: boolean, what: string) => {
  if (!condition) throw new Error(`audit: ${what}`)
}

const text = (value: unknown) =>
  JSON.stringify(value, (_, member: unknown) =>
    typeof member === "bigint" ? `${member}n` : member
  )

export const same = (got: unknown, expected: unknown, what: string) =>
  holds(text(got) === text(expected), `${what}: ${text(got)}, not ${text(expected)}`)
