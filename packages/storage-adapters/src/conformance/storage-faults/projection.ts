/** Faults of the projection log. */
import { ProjectionLog } from "@bursar/engine-core/ports"
import { Effect, Option } from "effect"
import { type Fault, replace } from "./Fault.ts"

export const faults = {
  "horizon-as-asked": {
    does: "moves the horizon down, and past the head",
    noticedBy: ["moves the horizon up to what was pruned"],
    spoil: replace(ProjectionLog, ({ head, prune }) => {
      let prunedOffset: number | undefined
      return {
        prune: (point) =>
          Effect.suspend(() => {
            prunedOffset = point.offset
            return prune(point)
          }),
        head: Effect.map(head, (at) => ({ ...at, horizonOffset: prunedOffset ?? at.horizonOffset }))
      }
    })
  },
  "horizon-without-its-time": {
    does: "does not move the first instant an asOf may name",
    noticedBy: ["moves the horizon up to what was pruned"],
    spoil: replace(ProjectionLog, ({ head, prune }) => {
      let time: string | null | undefined
      return {
        prune: (point) =>
          Effect.andThen(
            Effect.map(head, (at) => {
              time ??= at.horizonTime
            }),
            prune(point)
          ),
        head: Effect.map(head, (at) => ({ ...at, horizonTime: time ?? at.horizonTime }))
      }
    })
  },
  "updates-pruned-too-far": {
    does: "prunes updates after the horizon",
    noticedBy: ["moves the horizon up to what was pruned"],
    spoil: replace(ProjectionLog, ({ prune }) => ({
      prune: ({ offset, limit }) => prune({ offset: offset + 1, limit })
    }))
  },
  "time-of-the-horizon-lost": {
    does: "no longer knows the ledger time at the horizon",
    noticedBy: ["moves the horizon up to what was pruned"],
    spoil: replace(ProjectionLog, ({ head, ledgerTimeAt, prune }) => {
      let pruned = false
      return {
        prune: (point) =>
          Effect.suspend(() => {
            pruned = true
            return prune(point)
          }),
        ledgerTimeAt: (offset) =>
          Effect.flatMap(head, ({ horizonOffset }) =>
            pruned && offset === horizonOffset
              ? Effect.succeed(Option.none())
              : ledgerTimeAt(offset)
          )
      }
    })
  },
  "writer-not-fenced": {
    does: "lets a projection go on that was taken over",
    noticedBy: ["refuses a writer that was taken over"],
    spoil: replace(ProjectionLog, ({ advance, head }) => ({
      advance: (step) =>
        Effect.flatMap(head, ({ writerEpoch }) => advance({ ...step, epoch: writerEpoch }))
    }))
  },
  "place-not-checked": {
    does: "lets a projection write from a place it does not stand at",
    noticedBy: ["refuses a writer that was taken over", "lets one of 20 parallel moves"],
    spoil: replace(ProjectionLog, ({ advance, head }) => ({
      advance: (step) =>
        Effect.flatMap(head, ({ offset }) =>
          offset === step.from
            ? advance(step)
            : advance({ ...step, from: offset, to: offset, updates: [] })
        )
    }))
  },
  "before-as-answered": {
    does: "takes the offset that was answered with for the last one before an instant",
    noticedBy: ["tells the last offset before an instant"],
    spoil: replace(ProjectionLog, ({ offsetAsOf }) => ({
      offsetBefore: ({ instant }) =>
        Effect.map(offsetAsOf(instant), (found) => Option.map(found, ({ offset }) => offset))
    }))
  },
  "before-beyond": {
    does: "takes a later offset than the one asked for as the last",
    noticedBy: ["tells the last offset before an instant"],
    spoil: replace(ProjectionLog, ({ offsetBefore }) => ({
      offsetBefore: ({ instant }) => offsetBefore({ instant })
    }))
  },
  "time-of-the-head": {
    does: "answers every question for a ledger time with the head's",
    noticedBy: ["tells the ledger time at an offset"],
    spoil: replace(ProjectionLog, ({ head }) => ({
      ledgerTimeAt: () => Effect.map(head, ({ ledgerTime }) => Option.fromNullOr(ledgerTime))
    }))
  }
} satisfies Record<string, Fault>
