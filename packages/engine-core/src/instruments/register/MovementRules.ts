/**
 * Pure rules of movements: nets the holdings that each act of an update created and archived.
 */
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Party from "../../kernel/Party.ts"
import type { MovementKind } from "../../vocabulary/sets.ts"
import type { Movement } from "./Movement.ts"

/** A holding that a node of the update created (`came`) or archived (`went`). */
export interface Touch {
  readonly nodeId: number
  readonly on: "came" | "went"
  /** Key of the instrument on the ledger (`assetKeyOf`). */
  readonly asset: string
  readonly owner: Party.Party
  readonly amount: Decimal.Decimal
  readonly lock: "locked" | "free"
  /** `restricted`: who receives the units needs a credential of the venue. */
  readonly transfer: "restricted" | "free"
}

/** An act: a node with its consequences up to the node `until`, and the kinds of its movements. */
export interface MovementClaim {
  readonly nodeId: number
  readonly until: number
  readonly kinds: Kinds
  readonly reference: Movement["reference"]
}

export interface Kinds {
  /** Kind of minted units. */
  readonly into: MovementKind
  /** Kind of burned units. */
  readonly outOf: MovementKind
  /** Kind of units that changed their owner. */
  readonly across: MovementKind
}

export const plain: Kinds = { into: "mint", outOf: "burn", across: "transfer" }

export type UnitMovement = Pick<
  Movement,
  "kind" | "from" | "to" | "units" | "reference" | "restricted"
> & {
  readonly asset: string
}

/**
 * The movements of one update, in the order of its nodes. Each act counts by the net of its
 * consequences, so that splits, merges and intermediate owners are no movements. An act inside
 * another belongs to the outer one, and a touch outside every act is an act by itself. Unlocks come
 * before the units leave and locks after they have arrived, so that a party's locks less its
 * unlocks are its locked units.
 */
export const movementsOf = (update: {
  readonly touches: ReadonlyArray<Touch>
  readonly claims: ReadonlyArray<MovementClaim>
}): ReadonlyArray<UnitMovement> => acts(update).flatMap(movesOf)

/**
 * The touches of a gap of the history with one claim for each party of an asset: which acts moved the
 * units is unknown, so that what a party has more was minted and what it has less was burned, and no
 * giver is paired with a receiver.
 */
export const eachParty = (
  touches: ReadonlyArray<Touch>
): { readonly touches: ReadonlyArray<Touch>; readonly claims: ReadonlyArray<MovementClaim> } => {
  const byParty = Map.groupBy(touches, ({ asset, owner }) => `${asset} ${owner}`)
  const numbered: Array<Touch> = []
  const claims: Array<MovementClaim> = []
  for (const group of byParty.values()) {
    const nodeId = numbered.length
    for (const touch of group) numbered.push({ ...touch, nodeId: numbered.length })
    claims.push({ nodeId, until: numbered.length - 1, kinds: plain, reference: null })
  }
  return { touches: numbered, claims }
}

interface Act extends Pick<MovementClaim, "kinds" | "reference"> {
  readonly touches: Array<Touch>
}

const acts = (update: Parameters<typeof movementsOf>[0]): ReadonlyArray<Act> => {
  const claims = update.claims.toSorted((a, b) => a.nodeId - b.nodeId)
  const found: Array<Act> = []
  let next = 0
  let until = -1
  let current: Act | undefined
  for (const touch of update.touches.toSorted((a, b) => a.nodeId - b.nodeId)) {
    for (let claim = claims[next]; claim !== undefined; claim = claims[next]) {
      if (claim.nodeId > touch.nodeId) break
      next += 1
      // Skips an act inside the one before it, and an act that touched no holding.
      if (claim.nodeId <= until || claim.until < touch.nodeId) continue
      until = claim.until
      current = { kinds: claim.kinds, reference: claim.reference, touches: [] }
      found.push(current)
    }
    if (current === undefined || touch.nodeId > until) {
      current = { kinds: plain, reference: null, touches: [] }
      found.push(current)
      until = touch.nodeId
    }
    current.touches.push(touch)
  }
  return found
}

interface Net {
  readonly asset: string
  readonly party: Party.Party
  units: Decimal.Decimal
  locked: Decimal.Decimal
  /** Whether restricted units came to the party. */
  restricted: boolean
}

const movesOf = ({ kinds, reference, touches }: Act): ReadonlyArray<UnitMovement> => {
  const nets = netsOf(touches)
  const locking = (kind: "lock" | "unlock", net: Net): UnitMovement => ({
    asset: net.asset,
    kind,
    from: net.party,
    to: net.party,
    units: Decimal.abs(net.locked),
    restricted: net.restricted,
    reference
  })
  return [
    ...nets.filter(({ locked }) => Decimal.isNegative(locked)).map((net) => locking("unlock", net)),
    ...[...new Set(nets.map(({ asset }) => asset))].flatMap((asset) =>
      exchanged(nets.filter((net) => net.asset === asset)).map((moved) => ({
        asset,
        ...moved,
        kind: kindOf(moved, kinds),
        reference
      }))
    ),
    ...nets.filter(({ locked }) => Decimal.isPositive(locked)).map((net) => locking("lock", net))
  ]
}

const netsOf = (touches: ReadonlyArray<Touch>): ReadonlyArray<Net> => {
  const nets = new Map<string, Net>()
  for (const { on, asset, owner, amount, lock, transfer } of touches) {
    const key = `${asset} ${owner}`
    const net = nets.get(key) ?? {
      asset,
      party: owner,
      units: Decimal.zero,
      locked: Decimal.zero,
      restricted: false
    }
    nets.set(key, net)
    if (on === "came" && transfer === "restricted") net.restricted = true
    const signed = on === "came" ? amount : Decimal.negate(amount)
    net.units = Decimal.add(net.units, signed)
    if (lock === "locked") net.locked = Decimal.add(net.locked, signed)
  }
  return [...nets.values()]
}

/** Pairs givers and receivers of one asset, each in the order of their first touch. */
const exchanged = (
  nets: ReadonlyArray<Net>
): ReadonlyArray<Pick<Movement, "from" | "to" | "units" | "restricted">> => {
  const givers = nets
    .filter(({ units }) => Decimal.isNegative(units))
    .map(({ party, units }) => ({ party, left: Decimal.abs(units) }))
  const moves: Array<Pick<Movement, "from" | "to" | "units" | "restricted">> = []
  for (const { party: to, restricted, units } of nets) {
    let wanted = units
    while (Decimal.isPositive(wanted)) {
      const giver = givers[0]
      const part = giver === undefined ? wanted : Decimal.min(wanted, giver.left)
      moves.push({ from: giver?.party ?? null, to, units: part, restricted })
      wanted = Decimal.subtract(wanted, part)
      if (giver === undefined) continue
      giver.left = Decimal.subtract(giver.left, part)
      if (Decimal.isZero(giver.left)) givers.shift()
    }
  }
  for (const { party: from, left } of givers) {
    moves.push({ from, to: null, units: left, restricted: false })
  }
  return moves
}

const kindOf = (moved: Pick<Movement, "from" | "to">, kinds: Kinds): MovementKind => {
  if (moved.from === null) return kinds.into
  return moved.to === null ? kinds.outOf : kinds.across
}
