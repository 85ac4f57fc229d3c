/**
 * Failure isolation of batches: a subject whose part has a defect is set aside by name, and the others of
 * its batch go on (docs/domain/stopping-payments.md#what-one-of-many-can-stop).
 */
import { Effect, Exit } from "effect"

/**
 * Runs the part of a turn that is about one subject. A defect of it is logged with what it was about and
 * left to a later turn, so that one subject never stops those that come after it; a lost lease and a
 * port that is unavailable end the turn, since they are the same for all. False after a defect.
 */
export const byItself = <A, E, R>(
  part: Effect.Effect<A, E, R>,
  about: string
): Effect.Effect<boolean, E, R> =>
  part.pipe(
    Effect.as(true),
    Effect.catchDefect((defect) =>
      Effect.as(Effect.logError(`${about} failed, and is left to a later turn`, defect), false)
    )
  )

/**
 * Runs the part of a turn that is about a batch of subjects, in one go; where that has a defect, the same
 * for each subject by itself (`byItself`), so that one of them never stops the others of its batch.
 */
export const together = <S, A, E, R>(
  batch: ReadonlyArray<S>,
  run: (some: ReadonlyArray<S>) => Effect.Effect<A, E, R>,
  nameOf: (subject: S) => string
): Effect.Effect<void, E, R> =>
  run(batch).pipe(
    Effect.asVoid,
    Effect.catchDefect(() =>
      Effect.forEach(batch, (subject) => byItself(run([subject]), nameOf(subject)), {
        discard: true
      })
    )
  )

/** Runs every part to its end, whichever fails; then fails as the first of those did that failed. */
export const eachToItsEnd = <E, R>(
  parts: ReadonlyArray<Effect.Effect<unknown, E, R>>
): Effect.Effect<void, E, R> =>
  Effect.flatMap(
    Effect.forEach(parts, (part) => Effect.exit(Effect.asVoid(part))),
    (exits) => exits.find(Exit.isFailure) ?? Effect.void
  )
