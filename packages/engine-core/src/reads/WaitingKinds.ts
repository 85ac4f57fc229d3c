/** The kinds of record whose waits are indexed, derived from the lists whose views show them. */
import { SchemaAST } from "effect"
import type { Collection } from "../kernel/Collection.ts"
import type { WaitingKind, WaitSubject } from "../records/Waits.ts"
import { ResourceKind } from "../vocabulary/ResourceKind.ts"
import { type Approval, approvals, signedBy } from "../writes/Approval.ts"
import { pathNames } from "../writes/Operation.ts"
import type { List, Read } from "./Read.ts"
import { isWhole } from "./WholeLists.ts"

/** Roles of people whose work the list of waiting records shows; an auditor reads theirs. */
export const workRoles = ["operator", "approver", "risk", "compliance"] as const

/** A role whose work the list shows. */
export type WorkRole = (typeof workRoles)[number]

const showsWaits = ({ item: { ast } }: List): boolean =>
  SchemaAST.isObjects(ast) && ast.propertySignatures.some(({ name }) => name === "waitingOn")

const isList = (read: Read): read is List => read.shape === "list"

/**
 * The kinds of these reads: of every collection that a pinned list shows with what its records wait for,
 * the list that has a read of one record beside it, else its first. Records that are listed nowhere are in
 * no list of work either.
 */
export const of = ({
  ownWords,
  queries
}: {
  readonly queries: ReadonlyArray<Read>
  readonly ownWords: ReadonlyMap<string, ReadonlyArray<string>>
}): ReadonlyMap<string, WaitingKind> => {
  const found = new Map<string, { readonly list: List; readonly hasOne: boolean }>()
  for (const read of queries) {
    if (!isList(read) || !read.pinned || !showsWaits(read)) continue
    const hasOne = queries.some((each) => each.shape === "one" && isOneOf(each.route, read.route))
    for (const collection of [read.collection, ...(read.beside ?? [])]) {
      const before = found.get(collection.name)
      if (before !== undefined && (before.hasOne || !hasOne)) continue
      found.set(collection.name, { list: { ...read, collection }, hasOne })
    }
  }
  const kinds = [...found].map(([name, kind]) => [name, kindOf(kind)] as const)
  return new Map([...kinds, [approvals.name, actionsOf(queries, ownWords)] as const])
}

/** Checks whether a route is that of one record of a list. */
const isOneOf = (route: string, list: string): boolean =>
  route.startsWith(`${list}/{`) && !route.slice(list.length + 1).includes("/")

const textOf = (record: unknown, member: string): string | null => {
  const value =
    typeof record === "object" && record !== null
      ? (record as Readonly<Record<string, unknown>>)[member]
      : undefined
  return typeof value === "string" ? value : null
}

/** A kind's rows name each record by the path of its own read, or by that of its list if it has none. */
const kindOf = ({
  hasOne,
  list
}: {
  readonly hasOne: boolean
  readonly list: List
}): WaitingKind => {
  const { collection, route } = list
  const path = route.slice(route.indexOf(" ") + 1)
  const names = pathNames(route)
  return {
    collection,
    roles: new Set(workRoles.filter((role) => isWhole(list, role))),
    resourceKinds: [collection.name],
    subjectOf: (record): WaitSubject => {
      const id = collection.id(record)
      const listPath = names.reduce(
        (text, name) => text.replace(`{${name}}`, textOf(record, name) ?? ""),
        path
      )
      return {
        resource: { kind: collection.name, id, href: hasOne ? `${listPath}/${id}` : listPath },
        state: textOf(record, "state"),
        instrumentId: textOf(record, "instrumentId"),
        holderId: textOf(record, "holderId"),
        actionKey: null,
        hiddenFrom: []
      }
    }
  }
}

/** Four-eyes actions: rows about the records that they act on, not for those who made or signed them. */
const actionsOf = (
  queries: ReadonlyArray<Read>,
  ownWords: ReadonlyMap<string, ReadonlyArray<string>>
): WaitingKind => ({
  collection: approvals as Collection,
  roles: new Set(
    workRoles.filter((role) =>
      queries.some(
        (read) => isList(read) && read.collection.name === approvals.name && isWhole(read, role)
      )
    )
  ),
  resourceKinds: [...ResourceKind.members, ...(ownWords.get(ResourceKind.name) ?? [])],
  subjectOf: (record): WaitSubject => {
    const self = record as Approval
    return {
      resource: self.resource,
      state: self.state,
      instrumentId: self.instrumentId,
      holderId: self.holderId,
      actionKey: self.actionKey,
      hiddenFrom: [self.maker, ...signedBy(self)]
    }
  }
})
