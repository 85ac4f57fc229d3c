/** Records of a room as its interface has them: their path, their view, the reads of all and of one. */
import { Effect, Option, Schema } from "effect"
import { opened } from "../agreements/ProposalSteps.ts"
import { refused } from "../kernel/Refusal.ts"
import * as Read from "../reads/Read.ts"
import { Records, type Stored } from "../records/Records.ts"
import * as RecordView from "../records/RecordView.ts"
import type { OwnWord } from "../vocabulary/OwnWord.ts"
import type { MachineCollection } from "./MachineRecords.ts"

/** Members of a view, each with its schema. */
type Members = Readonly<Record<string, Schema.Codec<unknown, unknown>>>

interface Declaration<N extends OwnWord, F extends Members, K extends keyof F> {
  /** The plural of the kind: `x-loans` has the path `/v1/x-loans`, and the reads x-loans.list and x-loans.get. */
  readonly name: N
  /** The sentence of the list. */
  readonly list: string
  /** Member that holds the record's id. */
  readonly idMember: K
  /** Members that are shown; stored members that are not listed are withheld. */
  readonly members: F
  readonly view: { readonly identifier: string; readonly description: string }
  readonly audience: Read.Audience
}

/**
 * Declares how records of a machine are read: `list` and `get`, at any point of time. `written` has the members
 * that every write on the ledger of such a record shares, whose result is the record's view; `vacant` refuses an
 * id that is taken.
 */
export const declare = <
  R extends { readonly state: S },
  S extends string,
  T extends string,
  const N extends OwnWord,
  F extends Members,
  const K extends keyof F & string
>(
  collection: MachineCollection<R, S, T>,
  { audience, idMember, list, members, name, view }: Declaration<N, F, K>
) => {
  const schema = RecordView.schemaOf(members, view)
  type View = typeof schema.Type
  // Casts: the members are those of the record, and the id is a text.
  const viewOf = (record: Stored<R>) =>
    RecordView.of<R, unknown, never>(collection as never, members as never, record) as View
  const params = Schema.Struct({ [idMember]: members[idMember] } as { readonly [M in K]: F[K] })
  const idOf = (input: { readonly [M in K]: unknown }) => input[idMember] as string
  const reads = { audience, pinned: true } as const
  return {
    written: {
      resource: {
        kind: collection.name as OwnWord,
        id: idOf,
        href: (input: { readonly [M in K]: unknown }) => `/v1/${name}/${idOf(input)}`
      },
      result: schema,
      finish: (input: { readonly [M in K]: unknown }) =>
        Effect.map(opened(collection, idOf(input)), viewOf)
    },
    vacant: (id: string) =>
      Effect.flatMap(Records, (records) => records.find(collection, id)).pipe(
        Effect.filterOrFail(Option.isNone, () =>
          refused("already-exists", { detail: `A ${collection.name} of this id exists.` })
        ),
        Effect.asVoid
      ),
    list: Read.list({
      ...reads,
      name: `${name}.list`,
      doc: list,
      route: `GET /v1/${name}`,
      collection,
      params: Schema.Struct({
        state: Schema.optionalKey(Schema.Array(collection.machine.schema))
      }),
      item: schema,
      direction: "asc",
      order: "by id",
      changes: true,
      where: ({ state }) => (state === undefined ? {} : { state }),
      view: (found) => Effect.succeed(found.map(viewOf))
    }),
    get: Read.one({
      ...reads,
      name: `${name}.get`,
      doc: collection.doc,
      route: `GET /v1/${name}/{${idMember}}`,
      params,
      value: schema,
      refuses: ["not-found"],
      run: (input, { pin }) =>
        Effect.flatMap(Records, (records) =>
          Effect.map(records.get(collection, idOf(input as never), pin), viewOf)
        )
    })
  }
}
