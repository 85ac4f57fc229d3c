/**
 * Table of what is searched: each kind of record that has a list and a read of one, with the texts by which
 * its records are found. Reasons, orders, evidence and numbers of accounts are never among them.
 */
import { dealingCycles } from "../../orders/dealing-cycle/DealingCycle.ts"
import { redemptions } from "../../orders/redemption/Redemption.ts"
import { subscriptions } from "../../orders/subscription/Subscription.ts"
import { distributions } from "../../distributions/distribution/Distribution.ts"
import { externalAccounts } from "../../holders/external-account/ExternalAccount.ts"
import { holders } from "../../holders/holder/Holder.ts"
import { instruments, isOnRegistry, isRecorded } from "../../instruments/instrument/Instrument.ts"
import type { Collection } from "../../kernel/Collection.ts"
import * as Party from "../../kernel/Party.ts"
import type { List, Read } from "../../reads/Read.ts"
import { isWhole } from "../../reads/WholeLists.ts"
import type {
  FoundSubject,
  SearchField,
  SearchedKind,
  SearchedKinds
} from "../../records/SearchTerms.ts"
import { isActive, webhooks } from "../../records/webhook/Webhook.ts"
import { reserveReports } from "../../reserves/report/ReserveReport.ts"
import { mints } from "../../reserves/reserve-order/Mint.ts"
import { reserveRedemptions } from "../../reserves/reserve-order/ReserveRedemption.ts"
import type { Role } from "../../vocabulary/Role.ts"
import { approvals } from "../../writes/Approval.ts"
import { pathNames } from "../../writes/Operation.ts"
import { operations } from "../../writes/OperationRecord.ts"

/** Roles that search: the venue's own people. */
export const searchRoles = ["operator", "approver", "risk", "compliance", "auditor"] as const

type Text = string | null | undefined

/** Texts of a kind of record beside its id. */
interface Texts {
  readonly collection: string
  /** Names, which are found by their words. */
  names?(record: unknown): Readonly<Record<string, Text>>
  /** Codes and references, which are found from their beginning. */
  codes?(record: unknown): ReadonlyArray<readonly [field: string, text: Text]>
  /** Readable title; absent: the id. */
  title?(record: unknown): Text
  /** Whether the list shows the record; absent: it shows every one. */
  isListed?(record: unknown): boolean
  readonly ripens?: boolean
}

/** A row of the table, typed by the records of its collection. */
const texts = <R, F>(
  { name }: Collection<R, F>,
  row: {
    names?(record: R): Readonly<Record<string, Text>>
    codes?(record: R): ReadonlyArray<readonly [field: string, text: Text]>
    title?(record: R): Text
    isListed?(record: R): boolean
    readonly ripens?: boolean
  }
): Texts => ({ collection: name, ...row }) as Texts

const contractsOf = (...ids: ReadonlyArray<Text>) => ids.map((id) => ["contractId", id] as const)

/** The texts of the kinds that are found by more than their id, as their lists show them. */
const table: ReadonlyArray<Texts> = [
  texts(instruments, {
    names: ({ manifest }) => ({ displayName: manifest?.display.displayName }),
    codes: ({ manifest }) => [
      ["symbol", manifest?.display.symbol],
      ["isin", manifest?.identifiers.isin],
      ["cusip", manifest?.identifiers.cusip],
      ["figi", manifest?.identifiers.figi]
    ],
    title: ({ manifest }) => manifest?.display.displayName,
    isListed: (self) => isOnRegistry(self) || isRecorded(self),
    ripens: true
  }),
  texts(holders, {
    names: ({ legalName }) => ({ legalName }),
    codes: ({ lei, party }) => [
      ["lei", lei],
      ["party", party],
      ["fingerprint", Party.fingerprint(party)]
    ],
    title: ({ legalName }) => legalName
  }),
  texts(subscriptions, { codes: ({ pointCid }) => contractsOf(pointCid) }),
  texts(redemptions, {
    codes: ({ burnRequestCid, pointCid }) => contractsOf(pointCid, burnRequestCid)
  }),
  texts(dealingCycles, {
    codes: ({ pointCid, uid }) => [...contractsOf(pointCid), ["updateId", uid]]
  }),
  texts(distributions, { codes: ({ pointCids }) => contractsOf(...pointCids) }),
  texts(mints, {
    codes: ({ heldCid, pointCid, updateId }) => [
      ...contractsOf(pointCid, heldCid),
      ["updateId", updateId]
    ]
  }),
  texts(reserveRedemptions, {
    codes: ({ heldCid, pointCid, updateId }) => [
      ...contractsOf(pointCid, heldCid),
      ["updateId", updateId]
    ]
  }),
  texts(reserveReports, { codes: ({ cid }) => contractsOf(cid) }),
  texts(operations, {
    codes: ({ updateId }) => [["updateId", updateId]],
    title: ({ kind }) => kind
  }),
  texts(approvals, { title: ({ kind }) => kind }),
  texts(webhooks, { isListed: isActive })
]

const isList = (read: Read): read is List => read.shape === "list"

/** Checks whether a route is that of one record of a list. */
const isOneOf = (route: string, list: string): boolean =>
  route.startsWith(`${list}/{`) && !route.slice(list.length + 1).includes("/")

/**
 * The kinds of these reads: every collection whose list has a read of one record beside it, and external
 * accounts, which have a list alone. A kind is searched by the roles to which its list shows every record. A room's own kinds are found by their ids.
 */
export const of = ({ queries }: { readonly queries: ReadonlyArray<Read> }): SearchedKinds => {
  const lists = queries.filter(
    (read): read is List =>
      isList(read) &&
      searchRoles.some((role) => isWhole(read, role)) &&
      (read.collection.name === externalAccounts.name ||
        queries.some(({ route }) => isOneOf(route, read.route)))
  )
  return new Map(lists.map((list) => [list.collection.name, kindOf(list)]))
}

const textOf = (record: unknown, member: string): string | null => {
  const value =
    typeof record === "object" && record !== null
      ? (record as Readonly<Record<string, unknown>>)[member]
      : undefined
  return typeof value === "string" ? value : null
}

const kindOf = (list: List): SearchedKind => {
  const { collection, route } = list
  const { name } = collection
  const row = table.find((each) => each.collection === name)
  const path = route.slice(route.indexOf(" ") + 1)
  const parents = pathNames(route)
  const hasOwnPath = name !== externalAccounts.name
  return {
    collection,
    kind: name,
    roles: new Set<Role>(searchRoles.filter((role) => isWhole(list, role))),
    hasNames: row?.names !== undefined,
    ripens: row?.ripens ?? false,
    fieldsOf: (record) => {
      const fields: Array<SearchField> = [{ field: "id", text: collection.id(record), by: "whole" }]
      for (const [field, text] of row?.codes?.(record) ?? []) {
        if (text !== null && text !== undefined) fields.push({ field, text, by: "whole" })
      }
      for (const [field, text] of Object.entries(row?.names?.(record) ?? {})) {
        if (text !== null && text !== undefined) fields.push({ field, text, by: "word" })
      }
      return fields
    },
    isListed: (record) => row?.isListed?.(record) ?? true,
    subjectOf: (record): FoundSubject => {
      const id = collection.id(record)
      const listPath = parents.reduce(
        (text, parent) => text.replace(`{${parent}}`, textOf(record, parent) ?? ""),
        path
      )
      return {
        resource: { kind: name, id, href: hasOwnPath ? `${listPath}/${id}` : listPath },
        title: row?.title?.(record) ?? id,
        state: textOf(record, "state"),
        instrumentId: textOf(record, "instrumentId"),
        holderId: textOf(record, "holderId")
      }
    }
  }
}
