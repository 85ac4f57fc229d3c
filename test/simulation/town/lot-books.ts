/** Lots of each party kept by hand from the ledger's transactions alone: when their units came, and the price of the point that they were bought at. */
import { holds } from "../books.ts"
import { type Atoms, atoms } from "./figures.ts"
import { inside, type Exercise, type Ended, type LedgerObserver } from "./ledger-observer.ts"
import { member, text } from "./wallets.ts"

/** Units that came to a party together, and what is left of them. */
export interface Lot {
  /** Ledger time in nanoseconds; one that was given on keeps it. */
  readonly at: bigint
  /** Order among lots of one instant: by text. */
  readonly name: string
  /** Price without fees that the units came in at; null: they have none. */
  readonly base: Atoms | null
  readonly left: Atoms
  /** Every party that had them, the first one first, and since when. */
  readonly owners: ReadonlyArray<{ readonly party: string; readonly since: bigint }>
}

/** Units that were minted, given on or burned by one transaction. */
interface Turn {
  readonly at: bigint
  readonly asset: string
  /** Null: they were minted. */
  readonly from: string | null
  /** Null: they were burned. */
  readonly to: string | null
  readonly units: Atoms
  readonly base: Atoms | null
  /** The subscription that they were minted for; null: another act. */
  readonly subscriptionId: string | null
}

type Minted = Omit<Turn, "at" | "from"> & { readonly to: string }

/** An order as an attestor priced it. */
interface Priced {
  readonly asset: string
  readonly party: string
  readonly units: Atoms
  readonly price: Atoms
}

export interface LotBooks {
  /** The lots that each party had of an asset before an instant, oldest first. */
  readonly before: (asset: string, end: bigint) => ReadonlyMap<string, ReadonlyArray<Lot>>
}

const compare = (a: Lot, b: Lot): number =>
  a.at < b.at ? -1 : a.at > b.at ? 1 : a.name < b.name ? -1 : 1

/** Opens books of these assets that hear everything the ledger shows from now on. */
export const make = (
  observer: LedgerObserver,
  claim: {
    readonly assets: ReadonlyArray<string>
    readonly payoutPriceOf: (distributionId: string) => Atoms | null
  }
): LotBooks => {
  const { assets, payoutPriceOf } = claim
  const turns: Array<Turn> = []
  /** Units that the transaction which is being read has minted. */
  let minted: Array<Minted> = []
  /** Orders that are priced and not delivered: an order's units come in at its price once. */
  const priced = new Map<string, Priced>()

  const attests = ({ arg, contract }: Exercise) => {
    if (contract === undefined) throw new Error("audit: an order that the ledger does not show")
    priced.set(member(contract, "subscriptionId"), {
      asset: inside(contract.payload["instrument"], "id"),
      party: member(contract, "holder"),
      units: atoms(text(arg["units"])),
      price: atoms(text(arg["price"]))
    })
  }

  const receives = ({ arg, contract }: Exercise) => {
    if (contract === undefined) throw new Error("audit: a credential that the ledger does not show")
    const asset = member(contract, "instrumentId")
    const to = member(contract, "holder")
    const units = atoms(text(arg["amount"]))
    const [kind, id] = [inside(arg["reference"], "kind"), inside(arg["reference"], "id")]
    const order = kind === "subscription" ? priced.get(id) : undefined
    const isOwn = order?.asset === asset && order.party === to && order.units === units
    if (isOwn) priced.delete(id)
    const base = isOwn ? order.price : kind === "distribution" ? payoutPriceOf(id) : null
    minted.push({ asset, to, units, base, subscriptionId: isOwn ? id : null })
  }

  /** One party at most gives units to others in a transaction of the town, or many have some minted. */
  const ends = ({ at, gained }: Ended) => {
    const left = new Map(gained)
    for (const each of minted) {
      turns.push({ ...each, at, from: null })
      const key = `${each.asset} ${each.to}`
      left.set(key, (left.get(key) ?? 0n) - each.units)
    }
    minted = []
    for (const asset of assets) {
      const ofAsset = [...left].flatMap(
        ([key, units]): ReadonlyArray<readonly [string, Atoms]> =>
          key.startsWith(`${asset} `) && units !== 0n ? [[key.slice(asset.length + 1), units]] : []
      )
      const [giver, ...others] = ofAsset.filter(([, units]) => units < 0n)
      const receivers = ofAsset.filter(([, units]) => units > 0n)
      if (giver === undefined) {
        holds(receivers.length === 0, `${asset} came to ${receivers.length} from nobody`)
        continue
      }
      holds(others.length === 0, `${asset} came from ${1 + others.length} together`)
      const [from, units] = giver
      const named = { at, asset, from, base: null, subscriptionId: null }
      for (const [to, part] of receivers) turns.push({ ...named, to, units: part })
      const burned = -units - receivers.reduce((sum, [, part]) => sum + part, 0n)
      if (burned > 0n) turns.push({ ...named, to: null, units: burned })
    }
  }

  const hears: Readonly<Record<string, (exercise: Exercise) => void>> = {
    "SubscriptionClaim.Attest": attests,
    "Credential.Receive": receives
  }
  observer.hears((exercise) => hears[`${exercise.entity}.${exercise.choice}`]?.(exercise))
  observer.hearsEnds(ends)

  const before = (asset: string, end: bigint) => {
    const books = new Map<string, ReadonlyArray<Lot>>()
    const comes = (party: string, lot: Lot) =>
      books.set(party, [...(books.get(party) ?? []), lot].toSorted(compare))
    for (const [nth, turn] of turns.entries()) {
      if (turn.asset !== asset || turn.at >= end) continue
      const { at, base, from, subscriptionId, to, units } = turn
      const nameOf = (place: number) =>
        [nth, place].map((count) => String(count).padStart(16, "0")).join("/")
      if (from === null) {
        const party = to ?? ""
        const owners = [{ party, since: at }]
        comes(party, { at, base, left: units, name: subscriptionId ?? nameOf(0), owners })
        continue
      }
      let wanted = units
      const kept: Array<Lot> = []
      for (const [place, lot] of (books.get(from) ?? []).entries()) {
        const part = lot.left < wanted ? lot.left : wanted
        wanted -= part
        if (lot.left > part) kept.push({ ...lot, left: lot.left - part })
        if (part > 0n && to !== null) {
          const owners = [...lot.owners, { party: to, since: at }]
          comes(to, { ...lot, left: part, name: nameOf(place), owners })
        }
      }
      holds(wanted === 0n, `${from} gave ${wanted} of ${asset} that no lot of it has`)
      books.set(from, kept)
    }
    return books
  }
  return { before }
}
