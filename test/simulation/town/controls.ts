/** Random controls: restrictions, lifts, pauses and releases, with their signers. */
import { Instant } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import * as Calls from "../../engine/calls.ts"
import { anyFund, anyHolder } from "./joining.ts"
import { beginning, type Hold, type Mode, type Restriction } from "./model.ts"
import * as People from "./people.ts"
import { drop, refusalOf, signs, submit } from "./asking.ts"
import { type Holder, note, tell, type Town } from "./town.ts"

const modes = ["freeze", "receive-only", "redeem-only"] as const
const reasons = [
  "sanctions",
  "court-order",
  "compliance-review",
  "kyc-expired",
  "lost-key",
  "other"
] as const
const ends = ["sanctions", "court-order"]
const order = { authority: "A court", reference: "1/26", documentHash: "ef".repeat(32) }

interface Drawn {
  readonly holderId: string
  readonly instrumentId: string | null
  readonly mode: Mode
  readonly reason: string
  readonly endsAt: number | null
  readonly body: Readonly<Record<string, unknown>>
}

/** A requested restriction; now and then an invalid one. */
const draws = (town: Town, now: number, whose?: Holder): Drawn | undefined => {
  const { die } = town
  const holder = whose ?? anyHolder(town)
  if (holder === undefined) return undefined
  const instrumentId = die.once(2) ? null : anyFund(town).instrumentId
  const mode = die.pick(modes)
  const reason = die.pick(reasons)
  const dated = die.once(ends.includes(reason) ? 15 : 2)
  const endsAt = dated
    ? now + (die.once(15) ? -60_000 : die.pick([30_000, 600_000, 86_400_000]))
    : null
  return {
    holderId: holder.holderId,
    instrumentId,
    mode,
    reason,
    endsAt,
    body: {
      mode,
      reason,
      ...(instrumentId === null ? {} : { instrumentId }),
      ...(endsAt === null ? {} : { autoReleaseAt: new Date(endsAt).toISOString() }),
      ...(reason === "court-order" && !die.once(10) ? { order } : {})
    }
  }
}

/** The books' record of a restriction that somebody asked for. */
const restrictionOf = (town: Town, restrictionId: string, drawn: Drawn): Restriction => {
  const { holderId, instrumentId, mode, reason, endsAt } = drawn
  const span = beginning(town.step)
  return {
    restrictionId,
    holderId,
    instrumentId,
    mode,
    reason,
    endsAt,
    span,
    carried: false,
    ended: null
  }
}

/**
 * Restrictions in the model: possibly in force from the request on, surely after its success, and
 * never after its failure.
 */
const follows = (town: Town, some: ReadonlyArray<Restriction>) => ({
  begins: () => {
    for (const one of some) town.model.restrict(one)
  },
  succeeds: () => {
    for (const { span } of some) span.from = town.step
  },
  fails: () => {
    for (const { span } of some) span.until = -1
  }
})

export const restricts = Effect.fnUntraced(function* (town: Town, whose?: Holder) {
  const now = Number((yield* Instant.now) / 1_000_000n)
  const drawn = draws(town, now, whose)
  if (drawn === undefined) return
  const kind = "holder.restrict"
  const restrictionId = `r${++town.count}`
  const one = restrictionOf(town, restrictionId, drawn)
  yield* submit(town, {
    by: People.maker(town, kind),
    params: { holderId: drawn.holderId },
    body: { restrictionId, ...drawn.body },
    act: { kind, asks: [], ...follows(town, [one]) }
  })
})

export const restrictsMany = Effect.fnUntraced(function* (town: Town) {
  const { die } = town
  const now = Number((yield* Instant.now) / 1_000_000n)
  const drawn = Array.from({ length: 1 + die.roll(die.once(8) ? 60 : 5) }, () => draws(town, now))
  const some = drawn.flatMap((one) => one ?? [])
  if (some.length === 0) return
  const kind = "holder.restrict-batch"
  const restrictionId = `b${++town.count}`
  const records = some.map((one, nth) =>
    restrictionOf(town, nth === 0 ? restrictionId : `${restrictionId}-${nth + 1}`, one)
  )
  yield* submit(town, {
    by: People.maker(town, kind),
    body: { restrictionId, entries: some.map(({ holderId, body }) => ({ holderId, ...body })) },
    act: { kind, asks: [], ...follows(town, records) }
  })
})

const pick = <A>(town: Town, from: ReadonlyArray<A>): A | undefined =>
  from[town.die.roll(Math.max(1, from.length))]

export const lifts = Effect.fnUntraced(function* (town: Town) {
  const all = [...town.model.restrictions.values()]
  const now = Number((yield* Instant.now) / 1_000_000n)
  const open = all.filter(
    ({ ended, endsAt, span }) =>
      ended === null && span.until > town.step && (endsAt === null || endsAt > now)
  )
  const one = pick(town, town.die.once(8) ? all : open)
  if (one === undefined) return
  const kind = "restriction.lift"
  yield* submit(town, {
    by: People.maker(town, kind),
    params: { restrictionId: one.restrictionId },
    body: { reason: "looked into" },
    act: {
      kind,
      asks: [],
      approved: () => {
        one.span.maybeUntil = Math.min(one.span.maybeUntil, town.step)
      },
      succeeds: () => {
        one.ended = "lifted"
        one.span.until = town.step
      }
    }
  })
})

export const pauses = Effect.fnUntraced(function* (town: Town) {
  const kind = "instrument.pause"
  const { instrumentId } = anyFund(town)
  const holdId = `p${++town.count}`
  const one: Hold = { holdId, instrumentId, blocks: "all", span: beginning(town.step) }
  yield* submit(town, {
    by: People.maker(town, kind),
    params: { instrumentId: town.die.once(20) ? "no-fund" : instrumentId },
    body: { holdId, reason: "something is off" },
    act: {
      kind,
      asks: [],
      begins: () => town.model.hold(one),
      succeeds: () => {
        one.span.from = town.step
      },
      fails: () => {
        one.span.until = -1
      }
    }
  })
})

export const releases = Effect.fnUntraced(function* (town: Town) {
  const all = [...town.model.holds.values()]
  const open = all.filter(({ span }) => span.until > town.step)
  const one = pick(town, town.die.once(10) ? all : open)
  if (one === undefined) return
  const kind = "hold.release"
  yield* submit(town, {
    by: People.maker(town, kind),
    params: { holdId: one.holdId },
    body: { reason: "cleared" },
    act: {
      kind,
      asks: [],
      approved: () => {
        one.span.maybeUntil = Math.min(one.span.maybeUntil, town.step)
      },
      succeeds: () => {
        one.span.until = town.step
      }
    }
  })
})

/** Signs or rejects an action that awaits. */
export const decides = Effect.fnUntraced(function* (town: Town) {
  const { awaiting, die } = town
  const some = die.once(3) ? awaiting : awaiting.slice(-6)
  const one = pick(town, some)
  if (one === undefined) return
  const by = People.signer(town)
  if (!die.once(25)) return yield* signs(town, one, by)
  const answer = yield* Effect.result(Calls.reject(one.actionKey, by))
  if (answer._tag === "Failure") {
    const refusal = refusalOf(answer.failure)
    note(town, `refused ${refusal.slug}`)
    tell(town, `${by.sub} rejects ${one.act.kind} -> ${refusal.slug}`)
    return
  }
  note(town, "rejected")
  tell(town, `${by.sub} rejects ${one.act.kind}`)
  drop(town, one)
  one.act.fails?.()
})
