/** The auditor's own small model of what refuses an act, from acknowledged requests alone. */
import type { Contract, LedgerObserver } from "./ledger-observer.ts"

/** Steps between which something surely began, and surely ended. */
export interface Span {
  maybeFrom: number
  from: number
  maybeUntil: number
  until: number
}

const never = Number.POSITIVE_INFINITY
export const beginning = (step: number): Span => ({
  maybeFrom: step,
  from: never,
  maybeUntil: never,
  until: never
})

export type Mode = "freeze" | "receive-only" | "redeem-only"
export type Passing = "order-in" | "units-in" | "units-out" | "units-back" | "cash-in"

/**
 * Table of the directions that each mode of a restriction lets pass
 * (docs/domain/restraints.md#restriction-modes); no mode lets the holder order more.
 */
const lets: Readonly<Record<Mode, ReadonlyArray<Passing>>> = {
  freeze: [],
  "receive-only": ["units-in", "cash-in"],
  "redeem-only": ["units-back", "cash-in"]
}

export interface Restriction {
  readonly restrictionId: string
  readonly holderId: string
  readonly instrumentId: string | null
  readonly mode: Mode
  readonly reason: string
  /** Milliseconds; null: it does not end by itself. */
  readonly endsAt: number | null
  readonly span: Span
  /** Whether the restriction came to this holder from another one, by a recovery. */
  readonly carried: boolean
  ended: "lifted" | "lapsed" | "carried" | null
}

export interface Hold {
  readonly holdId: string
  readonly instrumentId: string
  /** A hold of findings stops distributions alone (docs/domain/restraints.md#what-a-hold-blocks). */
  readonly blocks: "all" | "distribution"
  readonly span: Span
}

/** Between which steps and instants an act was judged. */
export interface When {
  readonly since: number
  readonly until: number
  readonly sinceAt: number
  readonly untilAt: number
  /** The last step at which the engine had read all of the ledger before the act was asked for. */
  readonly level: number
}

/** A holder, and who it named to come after it. */
interface Followed {
  readonly successor: { readonly holderId: string } | null
}

/** Gates that an act has to pass, by the rules of the venue. */
export interface Asks {
  readonly instrumentId: string
  readonly hold?: "deal" | "distribution"
  readonly passing?: { readonly holderId: string; readonly what: Passing }
  /**
   * The former holder: once it is succeeded, restrictions of its successor may stop the act too.
   */
  readonly followed?: Followed
  /** A live credential of this party for the instrument. */
  readonly admitted?: string
  readonly screened?: string
  /** A live consent of this party to issuer powers on the instrument. */
  readonly consent?: string
  readonly window?: true
  /**
   * The holder must have no restriction of its own; one carried to it by a recovery does not count.
   */
  readonly unrestricted?: string
  readonly differs?: readonly [string, string]
}

/** A window as it was set, and between which steps it came to hold. */
export interface Window {
  readonly instrumentId: string
  readonly opensAt: number | null
  readonly closesAt: number | null
  readonly span: Span
}

interface Answered {
  readonly step: number
  readonly isClear: boolean
}

const surely = ({ from, maybeUntil }: Span, { since, until }: When): boolean =>
  from < since && maybeUntil > until
const possibly = ({ maybeFrom, until: ended }: Span, { since, until }: When): boolean =>
  maybeFrom <= until && ended >= since

export class Model {
  readonly restrictions = new Map<string, Restriction>()
  private readonly byHolder = new Map<string, Array<Restriction>>()
  readonly holds = new Map<string, Hold>()
  private readonly onInstrument = new Map<string, Array<Hold>>()
  private readonly answers = new Map<string, Array<Answered>>()
  readonly windows: Array<Window> = []
  private readonly observer: LedgerObserver
  /** The successor that a holder named. */
  private readonly heirs: (holderId: string) => Followed["successor"] | undefined
  constructor(
    observer: LedgerObserver,
    heirs: (holderId: string) => Followed["successor"] | undefined
  ) {
    this.observer = observer
    this.heirs = heirs
  }

  restrict(one: Restriction) {
    this.restrictions.set(one.restrictionId, one)
    push(this.byHolder, one.holderId, one)
  }

  hold(one: Hold) {
    this.holds.set(one.holdId, one)
    push(this.onInstrument, one.instrumentId, one)
  }

  /** A hold that a run may open for what the books know of; its id is the engine's own. */
  suspect(one: Hold) {
    push(this.onInstrument, one.instrumentId, one)
  }

  answered(holderId: string, one: Answered) {
    push(this.answers, holderId, one)
  }

  restrictionsOf(holderId: string): ReadonlyArray<Restriction> {
    return this.byHolder.get(holderId) ?? []
  }

  holdsOf(instrumentId: string): ReadonlyArray<Hold> {
    return this.onInstrument.get(instrumentId) ?? []
  }

  /** Whether a restriction may be in force now. */
  restricted(holderId: string, at: { readonly step: number; readonly millis: number }): boolean {
    return this.restrictionsOf(holderId).some(
      ({ endsAt, span }) => span.until > at.step && (endsAt === null || endsAt > at.millis)
    )
  }

  private stops(asks: Asks, when: When, how: "surely" | "possibly"): boolean {
    const { passing } = asks
    if (passing === undefined) return false
    return this.restrictionsOf(passing.holderId).some(({ endsAt, instrumentId, mode, span }) => {
      if (instrumentId !== null && instrumentId !== asks.instrumentId) return false
      if (lets[mode].includes(passing.what)) return false
      return how === "surely"
        ? surely(span, when) && (endsAt === null || endsAt > when.untilAt)
        : possibly(span, when) && (endsAt === null || endsAt > when.sinceAt)
    })
  }

  private bound({ instrumentId, unrestricted }: Asks, when: When): boolean {
    if (unrestricted === undefined) return false
    return this.restrictionsOf(unrestricted).some(
      (one) =>
        !one.carried &&
        (one.instrumentId === null || one.instrumentId === instrumentId) &&
        surely(one.span, when) &&
        (one.endsAt === null || one.endsAt > when.untilAt)
    )
  }

  private held(asks: Asks, when: When, how: "surely" | "possibly"): boolean {
    const test = how === "surely" ? surely : possibly
    return (
      asks.hold !== undefined &&
      this.holdsOf(asks.instrumentId).some(
        ({ blocks, span }) => (blocks === "all" || asks.hold === "distribution") && test(span, when)
      )
    )
  }

  private lived(contracts: Iterable<Contract>, when: When, isMeant: (one: Contract) => boolean) {
    for (const one of contracts) {
      if (isMeant(one) && one.from <= when.until && one.until >= when.level) return true
    }
    return false
  }

  /** The observer saw no such contract of the party at any time while the act was judged. */
  private lacks(
    party: string | undefined,
    entity: string,
    when: When,
    isMeant: (one: Contract) => boolean
  ) {
    if (party === undefined) return false
    return !this.lived(this.observer.ever(party, entity), when, isMeant)
  }

  private unscreened(holderId: string | undefined, when: When): boolean {
    if (holderId === undefined) return false
    const answers = this.answers.get(holderId) ?? []
    let clear = false
    for (const one of answers) {
      if (one.step > when.until) break
      if (one.isClear) clear = true
      // A finding from before the request was recorded by then, or the holder is screened again.
      else if (one.step < when.level) clear = false
    }
    return !clear
  }

  private shut(asks: Asks, when: When): boolean {
    if (asks.window === undefined) return false
    const windows = this.windows.filter(({ instrumentId }) => instrumentId === asks.instrumentId)
    const may = windows.filter(
      ({ span }) => span.maybeFrom <= when.until && span.until >= when.since
    )
    return (
      may.length > 0 &&
      may.every(
        ({ closesAt, opensAt }) =>
          (opensAt !== null && when.untilAt < opensAt) ||
          (closesAt !== null && when.sinceAt >= closesAt)
      )
    )
  }

  /** Why the act cannot have been allowed at any time while it was judged; null: it may have been. */
  forbids(asks: Asks, when: When): string | null {
    if (this.held(asks, when, "surely")) return "hold"
    if (this.stops(asks, when, "surely")) return "restriction"
    const onIt = (one: Contract) => one.payload["instrumentId"] === asks.instrumentId
    if (this.bound(asks, when)) return "restriction of its own"
    if (this.lacks(asks.admitted, "Credential", when, onIt)) return "admission"
    if (this.unscreened(asks.screened, when)) return "screening"
    const consented = (one: Contract) => {
      const asset = one.payload["instrument"] as { readonly id?: unknown } | null | undefined
      return asset === null || asset === undefined || asset.id === asks.instrumentId
    }
    if (this.lacks(asks.consent, "IssuerPowersConsent", when, consented)) return "consent"
    if (this.shut(asks, when)) return "window"
    if (asks.differs !== undefined && asks.differs[0] === asks.differs[1]) return "self-transfer"
    return null
  }

  /** Successors of a holder, one after another. */
  private after(holder: Followed | undefined): ReadonlyArray<string> {
    const ids: Array<string> = []
    let next = holder?.successor?.holderId
    while (next !== undefined && !ids.includes(next)) {
      ids.push(next)
      next = this.heirs(next)?.holderId
    }
    return ids
  }

  /**
   * Whether a gate can have refused an act while it was judged, as far as the model covers the
   * gate.
   */
  mayRefuse(gate: string, asks: Asks, when: When): boolean {
    if (gate === "hold") return this.held(asks, when, "possibly")
    if (gate !== "restriction" || asks.passing === undefined) return true
    if (this.stops(asks, when, "possibly")) return true
    const { what } = asks.passing
    return this.after(asks.followed).some((holderId) =>
      this.stops({ ...asks, passing: { holderId, what } }, when, "possibly")
    )
  }
}

const push = <K, V>(to: Map<K, Array<V>>, key: K, one: V) => {
  const values = to.get(key)
  if (values === undefined) to.set(key, [one])
  else values.push(one)
}
