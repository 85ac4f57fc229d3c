/** Opens a record from a ledger fact, which cannot exist yet, because each fact is read once. */
import { Effect } from "effect"
import type { Collection } from "../kernel/Collection.ts"
import { Records, type Stored } from "../records/Records.ts"
import type { Node } from "./Reading.ts"

/** Opens the record; one that is there already means that a fact was read twice, a bug. */
export const open = <R, F>(
  collection: Collection<R, F>,
  record: NoInfer<R>,
  node: Pick<Node, "act">
) =>
  Effect.flatMap(Records, (records) => records.open(collection, record, node.act)).pipe(
    Effect.catchTag(
      "Refused",
      (again): Effect.Effect<Stored<R>> =>
        Effect.die(new Error(`the same ledger fact was read twice: ${again.slug}`))
    )
  )
