/** Random histories of every kind of movement, and their lots as a person would keep them by hand. */
import { Decimal, Instant, Party } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import type { Acquisition, Lot } from "#core/instruments/lot/Lot.ts"
import type * as LotRules from "#core/instruments/lot/LotRules.ts"
import { idOf } from "#core/instruments/register/RegisterEntry.ts"
import { MovementKind } from "#core/vocabulary/sets.ts"

export const party = (hint: string) => Party.make({ hint, fingerprint: `1220${"ab".repeat(32)}` })
export const parties = ["alice", "bob", "carol"].map(party)
export const funds = ["fund", "bond"].map((instrumentId) => ({
  registrar: party("reg"),
  instrumentId
}))

/** Direction of each kind of movement; `rebase` is shown in statements and moves nothing. */
const directions: Readonly<Record<MovementKind, "in" | "out" | "across" | "stays">> = {
  mint: "in",
  subscription: "in",
  distribution: "in",
  burn: "out",
  redemption: "out",
  transfer: "across",
  "forced-transfer": "across",
  recovery: "across",
  lock: "stays",
  unlock: "stays",
  rebase: "stays"
}

interface Command {
  readonly kind: MovementKind
  readonly fund: number
  readonly party: number
  readonly other: number
  /** Units that come in. */
  readonly units: bigint
  /** Thousandths of a holder's units that leave, rounded up to a whole atom. */
  readonly part: bigint
  /** Cost in hundredths; null: the units come without a price. */
  readonly cost: bigint | null
  /** Seconds since the movement before. */
  readonly later: number
}

const commands = fc.array(
  fc.record<Command>({
    kind: fc.constantFrom(...MovementKind.members),
    fund: fc.nat(funds.length - 1),
    party: fc.nat(parties.length - 1),
    other: fc.nat(parties.length - 1),
    units: fc.oneof(
      fc.bigInt({ min: 1n, max: 30n }),
      fc.bigInt({ min: 1n, max: 10n ** 24n }),
      fc.constant(10n ** 10n)
    ),
    part: fc.oneof(fc.constant(1000n), fc.bigInt({ min: 1n, max: 1000n })),
    cost: fc.option(
      fc.oneof(fc.bigInt({ min: 0n, max: 9n }), fc.bigInt({ min: 0n, max: 10n ** 12n }))
    ),
    later: fc.constantFrom(0, 0, 1, 86_400)
  }),
  { maxLength: 40, size: "max" }
)

export const hundredths = (count: bigint) => Decimal.fromAtoms(count * 10n ** 8n)
export const begin = Instant.of("2026-07-01T00:00:00Z")

/** Plays commands into movements that every party can cover. */
const played = (all: ReadonlyArray<Command>): ReadonlyArray<LotRules.Step> => {
  const balances = new Map<string, bigint>()
  const counts = new Map<string, number>()
  let now: bigint = begin
  return all.flatMap(({ kind, later, ...command }): ReadonlyArray<LotRules.Step> => {
    now += BigInt(later) * 10n ** 9n
    const asset = funds[command.fund]
    if (asset === undefined) return []
    const direction = directions[kind]
    const heldBy = (owner: Party.Party) => balances.get(idOf({ ...asset, party: owner })) ?? 0n
    const able = direction === "in" ? parties : parties.filter((owner) => heldBy(owner) > 0n)
    const self = able[command.party % able.length]
    if (self === undefined) return []
    const others = parties.filter((owner) => owner !== self)
    const that = others[command.other % others.length] ?? self
    const add = (to: Party.Party, units: bigint) => {
      const id = idOf({ ...asset, party: to })
      balances.set(id, (balances.get(id) ?? 0n) + units)
    }
    const units = direction === "in" ? command.units : (heldBy(self) * command.part + 999n) / 1000n
    if (direction === "in") add(self, units)
    if (direction === "out" || direction === "across") add(self, -units)
    if (direction === "across") add(that, units)
    const seq = (counts.get(asset.instrumentId) ?? 0) + 1
    counts.set(asset.instrumentId, seq)
    const origin = { resourceKind: "subscription", id: `sub-${seq}` } as const
    const acquisition: Acquisition | null =
      direction === "in" && command.cost !== null
        ? {
            lotId: kind === "subscription" ? origin.id : null,
            origin,
            basePrice: Decimal.fromAtoms(command.units),
            cost: hundredths(command.cost),
            currency: "USD"
          }
        : null
    const movement = {
      ...asset,
      ...{ seq, kind },
      from: direction === "in" ? null : self,
      to: direction === "out" ? null : direction === "across" ? that : self,
      units: Decimal.fromAtoms(units),
      ledgerTime: Instant.fromNanos(now),
      reference: null
    }
    return [{ movement, acquisition }]
  })
}

export const histories = commands.map(played)

/** Units of a party by its movements alone. */
export const heldBy = (steps: ReadonlyArray<LotRules.Step>, id: string): Decimal.Decimal =>
  Decimal.sum(
    steps.flatMap(({ movement }) => [
      ...(movement.to !== null && idOf({ ...movement, party: movement.to }) === id
        ? [movement.units]
        : []),
      ...(movement.from !== null && idOf({ ...movement, party: movement.from }) === id
        ? [Decimal.negate(movement.units)]
        : [])
    ])
  )

/** Kind of a movement that neither pays nor recovers anything. */
export const plainKind = ({ from, to }: Pick<LotRules.LotMovement, "from" | "to">): MovementKind =>
  from === null ? "mint" : to === null ? "burn" : from === to ? "lock" : "transfer"

/** A lot as text. */
export const shownLot = (lot: Lot): string =>
  `${idOf(lot)} ${lot.lotId} ${lot.acquiredAt} ${lot.receivedAt} ${lot.remaining}/${lot.units} ${lot.costLeft}/${lot.cost} ${lot.basePrice} ${lot.origin?.id}`

// ---- the same again, as a person would do it with a list of papers for each lot

interface Paper {
  readonly owner: string
  readonly id: string
  readonly at: bigint
  /** When it came from another holder, or one that this party succeeded; null: from nobody. */
  readonly given: bigint | null
  readonly came: bigint
  left: bigint
  readonly paid: bigint | null
  unspent: bigint | null
  readonly base: bigint | null
  readonly from: string | undefined
}

const padded = (count: number) => String(count).padStart(16, "0")

export const byHand = (steps: ReadonlyArray<LotRules.Step>): ReadonlyArray<string> => {
  const papers: Array<Paper> = []
  const put = (paper: Omit<Paper, "left" | "unspent">) =>
    papers.push({ ...paper, left: paper.came, unspent: paper.paid })
  for (const { movement, acquisition } of steps) {
    const { from, to, units, seq } = movement
    if (from === to) continue
    const owned = (owner: Party.Party) => idOf({ ...movement, party: owner })
    if (from === null && to !== null) {
      put({
        owner: owned(to),
        id: acquisition?.lotId ?? `${padded(seq)}/${padded(0)}`,
        at: movement.ledgerTime,
        given: null,
        came: units,
        paid: acquisition === null ? null : acquisition.cost / 10n ** 8n,
        base: acquisition?.basePrice ?? null,
        from: acquisition?.origin?.id
      })
    }
    if (from === null) continue
    let wanted: bigint = units
    for (let place = 0; wanted > 0n; place += 1) {
      const [oldest] = papers
        .filter(({ owner, left }) => owner === owned(from) && left > 0n)
        .sort((a, b) => (a.at !== b.at ? (a.at < b.at ? -1 : 1) : a.id < b.id ? -1 : 1))
      if (oldest === undefined) throw new Error("a party gave what it does not hold")
      const taken = oldest.left < wanted ? oldest.left : wanted
      // Half up is the floor of twice the quotient and one, halved.
      const cost =
        oldest.unspent === null
          ? null
          : (2n * oldest.unspent * taken + oldest.left) / (2n * oldest.left)
      oldest.left -= taken
      if (oldest.unspent !== null && cost !== null) oldest.unspent -= cost
      wanted -= taken
      if (to === null) continue
      const { at, base, from: origin } = oldest
      const id = `${padded(seq)}/${padded(place)}`
      const given = movement.kind === "recovery" ? oldest.given : movement.ledgerTime
      put({ owner: owned(to), id, at, given, came: taken, paid: cost, base, from: origin })
    }
  }
  const cents = (count: bigint | null) => (count === null ? null : count * 10n ** 8n)
  return papers
    .filter(({ left }) => left > 0n)
    .map(
      ({ owner, id, at, given, came, left, paid, unspent, base, from }) =>
        `${owner} ${id} ${at} ${given} ${left}/${came} ${cents(unspent)}/${cents(paid)} ${base} ${from}`
    )
    .toSorted()
}
