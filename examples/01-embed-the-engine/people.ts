/** The venue's own people, and the writes that one or two of them make. */
import { Venue } from "@bursar/engine-core"
import { Console, Effect } from "effect"

// #region two people
/** The people of the engine that the program is given. */
export const people = Effect.map(Venue.make, (venue) => ({
  olive: venue.as({ sub: "olive", roles: ["operator"] }),
  anna: venue.as({ sub: "anna", roles: ["approver"] })
}))

/** A four-eyes write: one person requests it, another approves it, then it runs. */
export const agreed = <K extends Venue.WriteKind>(kind: K, body: Venue.WriteBody<K>) =>
  Effect.gen(function* () {
    const { anna, olive } = yield* people
    const action = yield* olive.write(kind, body)
    yield* Console.log(`${action.maker} asks for ${action.kind}; it is ${action.state}`)
    yield* anna.approve(action)
    yield* Console.log(`${anna.sub} agrees`)
    return yield* olive.done(action)
  })
// #endregion

/** A write that one person makes alone. */
export const alone = <K extends Venue.WriteKind>(kind: K, body: Venue.WriteBody<K>) =>
  people.pipe(
    Effect.flatMap(({ olive }) => Effect.flatMap(olive.write(kind, body), olive.done)),
    Effect.tap(({ actor, offset }) => Console.log(`${actor} did ${kind} at offset ${offset}`))
  )
