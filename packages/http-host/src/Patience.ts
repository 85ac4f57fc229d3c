/**
 * Timeout that counts turns of the event loop: an answer that has arrived, and that a busy process
 * has not read yet, is not taken for silence.
 */
import { Duration, Effect } from "effect"

/** Longest part of a timeout that a single turn of the event loop counts for. */
const turn = Duration.millis(50)

/**
 * Runs an effect, and another in its place once it has not answered for a time. The time is counted
 * in turns of 50 ms: a turn that the process comes to late, because its loop was blocked or because
 * the machine ran others, counts 50 ms all the same. Between two turns the process has read whatever
 * had arrived.
 */
export const within =
  <B, E2, R2>(time: Duration.Duration, orElse: () => Effect.Effect<B, E2, R2>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A | B, E | E2, R | R2> => {
    const turns = Math.ceil(Duration.toMillis(time) / Duration.toMillis(turn))
    const waited = Effect.sleep(turn).pipe(Effect.repeat({ times: turns - 1 }))
    const orElsewhere: Effect.Effect<Effect.Effect<A | B, E2, R2>> = Effect.as(
      waited,
      Effect.suspend(orElse)
    )
    const answered = Effect.map(
      effect,
      (answer): Effect.Effect<A | B, E2, R2> => Effect.succeed(answer)
    )
    return Effect.flatten(Effect.raceFirst(answered, orElsewhere))
  }
