/** Records of a room as its interface has them: their path, their view, the reads of all and of one. */
import { Effect, Option, Schema } from "effect"
import { opened } from "../agreements/ProposalSteps.ts"
import { type Refused, refused, type Unavailable } from "../kernel/Refusal.ts"
import * as Read from "../reads/Read.ts"
import { Records, type Stored } from "../records/Records.ts"
import * as RecordView from "../records/RecordView.ts"
import type { OwnWord } from "../vocabulary/OwnWord.ts"
import type { Role } from "../vocabulary/Role.ts"
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
  /**
   * Roles that read them, each every record of them. A role that reads its own alone needs a list with a
   * scope and a read that looks at the sight: `Read.list` and `Read.one`.
   */
  readonly audience: WholeAudience
}

/** Roles that see every record. */
export type WholeAudience = { readonly [R in Role]?: "all" }

/** Members of a view with those that every view has. */
type Fields<F extends Members> = F & typeof RecordView.fields
type View<F extends Members> = Schema.Struct<Fields<F>>["Type"]

/** Input that names a record by its id. */
type Id<K extends string> = { readonly [M in K]: unknown }

/** Parameters of the list: the states that are asked for. */
interface ListParams<S extends string> {
  readonly state?: ReadonlyArray<S>
}

/** How records of a room are read, and what the writes on them share. */
export interface Resource<
  S extends string,
  N extends OwnWord,
  F extends Members,
  K extends keyof F & string
> {
  /** Members that every write on the ledger of such a record has, whose result is the record's view. */
  readonly written: {
    readonly resource: {
      readonly kind: OwnWord
      readonly id: (input: Id<K>) => string
      readonly href: (input: Id<K>) => string
    }
    readonly result: Schema.Struct<Fields<F>>
    readonly finish: (input: Id<K>) => Effect.Effect<View<F>, Unavailable, Records>
  }
  /** Refuses an id that is taken. */
  readonly vacant: (
    id: string
  ) => Effect.Effect<void, Refused<"already-exists"> | Unavailable, Records>
  readonly list: Read.TypedList<ListParams<S>, ListParams<S>, View<F>, `${N}.list`>
  readonly get: Read.TypedOne<
    Schema.Struct<Pick<F, K>>["Type"],
    Schema.Struct<Pick<F, K>>["Encoded"],
    View<F>,
    "not-found",
    `${N}.get`
  >
}

/** Throws where a role is to see less than every record, which these reads would show it nevertheless. */
const demandWhole = (name: string, audience: Read.Audience): void => {
  for (const [role, sight] of Object.entries(audience)) {
    if (sight === "all") continue
    throw new Error(
      `the reads of ${name} show ${role} every record, and its sight is ${JSON.stringify(sight)}: declare them by Read.list with a scope, and by Read.one`
    )
  }
}

/**
 * Declares how records of a machine are read, in all and one by one, at any point of time. Throws where a
 * role's sight is another than `all`.
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
): Resource<S, N, F, K> => {
  demandWhole(name, audience)
  const schema: Schema.Struct<Fields<F>> = RecordView.schemaOf(members, view)
  // Casts: the members are those of the record, and the id is a text.
  const viewOf = (record: Stored<R>) =>
    RecordView.of<R, unknown, never>(collection as never, members as never, record) as View<F>
  const params = Schema.Struct({ [idMember]: members[idMember] } as Pick<F, K>)
  const idOf = (input: Id<K>) => input[idMember] as string
  const reads = { audience, pinned: true } as const
  return {
    written: {
      resource: {
        kind: collection.name as OwnWord,
        id: idOf,
        href: (input: Id<K>) => `/v1/${name}/${idOf(input)}`
      },
      result: schema,
      finish: (input: Id<K>) => Effect.map(opened(collection, idOf(input)), viewOf)
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
