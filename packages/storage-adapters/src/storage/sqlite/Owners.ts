/**
 * Owners of bulk rows and of chunks of files. They lie in a file of their own, so that they are written
 * apart from an open transaction, which has the lock of the records. The seal of an owner lies with the
 * records: it comes with its transaction.
 */
import type { StorageUnavailable } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import * as Columns from "./Columns.ts"
import type { Database } from "./Database.ts"
import * as Faults from "./Faults.ts"
import type { Flushes } from "./Flushes.ts"
import type { SqliteTransactions } from "./Transactions.ts"

type Kind = "bulk" | "file"

interface OwnerName {
  readonly kind: Kind
  readonly owner: string
}

/** State of an owner in the file of rows. */
export interface Owner {
  readonly number: number
  /** Rises with every discard. */
  readonly state: number
  /** Number of rows or chunks. */
  readonly parts: number
  /** True: a transaction has sealed it, is about to, or was and failed. */
  readonly isClosing: boolean
}

export interface Owners {
  /** The file of rows, which answers what is committed. */
  readonly db: Database
  /** Appends parts of an owner that is not sealed, durable when it answers; answers how many were new. */
  readonly append: (
    name: OwnerName,
    insert: (owner: number) => number
  ) => Effect.Effect<void, StorageUnavailable>
  /** Deletes parts of an owner, and hides it from the first on; answers how many. */
  readonly discard: (
    name: OwnerName,
    deletion: { readonly sparesSealed: boolean; readonly remove: (owner: number) => number }
  ) => Effect.Effect<number, StorageUnavailable>
  /** Seals an owner of so many parts within the caller's transaction. */
  readonly seal: (
    name: OwnerName,
    expected: { readonly parts: number; readonly mayBeEmpty: boolean; readonly what: string }
  ) => Effect.Effect<void, StorageUnavailable>
  /** The owner, if the records of `records` have its seal. */
  readonly sealed: (records: Database, name: OwnerName) => Owner | undefined
  readonly find: (name: OwnerName) => Owner | undefined
}

export const make = ({
  db,
  flushes,
  transactions,
  lockMillis
}: {
  readonly db: Database
  readonly flushes: Flushes
  readonly transactions: SqliteTransactions
  readonly lockMillis: number
}): Owners => {
  const find = ({ kind, owner }: OwnerName): Owner | undefined => {
    const row = db.get(
      "select number, state, parts, closing from owner where kind = ? and owner = ?",
      [kind, owner]
    )
    if (row === undefined) return undefined
    return {
      number: Columns.number(row, "number"),
      state: Columns.number(row, "state"),
      parts: Columns.number(row, "parts"),
      isClosing: Columns.number(row, "closing") === 1
    }
  }

  const sealed: Owners["sealed"] = (records, name) => {
    const found = find(name)
    if (found === undefined) return undefined
    const seal = records.get(
      "select 1 from sealed where kind = ? and owner = ? and number = ? and state = ?",
      [name.kind, name.owner, found.number, found.state]
    )
    return seal === undefined ? undefined : found
  }

  /** Makes an owner where it is missing. */
  const opened = (name: OwnerName): Owner => {
    db.run("insert into owner (kind, owner) values (?, ?) on conflict do nothing", [
      name.kind,
      name.owner
    ])
    const found = find(name)
    if (found === undefined) throw new Error(`the owner ${name.owner} is not there`)
    return found
  }

  /** Runs statements on the file of rows in one transaction of its own. */
  const written = <A>(f: () => A): A => {
    db.run("begin immediate")
    try {
      const answer = f()
      db.run("commit")
      return answer
    } finally {
      if (db.isInTransaction()) db.run("rollback")
    }
  }

  /**
   * Changes an owner apart from an open transaction. One that may be sealed by a transaction which has
   * not ended is changed once that has: under the lock of the records, which nobody has then.
   */
  const change = <A>(name: OwnerName, f: (isSealed: boolean) => A) =>
    Effect.gen(function* () {
      const isOpen = (yield* transactions.current) !== undefined
      const early = isOpen
        ? undefined
        : yield* Faults.untilUnlocked(
            Faults.attempt(() =>
              written(() => (find(name)?.isClosing === true ? undefined : { answer: f(false) }))
            ),
            lockMillis
          )
      if (early !== undefined) {
        yield* flushes.settle
        return early.answer
      }
      const settled = isOpen
        ? transactions.read((records) => written(() => f(sealed(records, name) !== undefined)))
        : transactions.write((transaction) =>
            written(() => f(sealed(transaction.db, name) !== undefined))
          )
      const answer = yield* settled
      yield* flushes.settle
      return answer
    })

  return {
    db,
    find,
    sealed,
    append: (name, insert) =>
      change(name, (isSealed) => {
        if (isSealed)
          throw new Error(`${name.owner} is sealed, and takes no more of its ${name.kind}`)
        const { number } = opened(name)
        db.run("update owner set parts = parts + ?, closing = 0 where number = ?", [
          insert(number),
          number
        ])
      }),
    discard: (name, { remove, sparesSealed }) =>
      change(name, (isSealed) => {
        const found = find(name)
        if (found === undefined || (sparesSealed && isSealed)) return 0
        const { number } = found
        const gone = remove(number)
        db.run(
          "update owner set parts = parts - ?, state = state + 1, closing = 0 where number = ?",
          [gone, number]
        )
        db.run("delete from owner where number = ? and parts = 0", [number])
        return gone
      }),
    seal: (name, { mayBeEmpty, parts, what }) =>
      transactions.run(
        Effect.gen(function* () {
          const closing = yield* transactions.write((transaction) =>
            written(() => {
              const found = mayBeEmpty && parts === 0 ? opened(name) : find(name)
              if (
                found === undefined ||
                found.parts !== parts ||
                sealed(transaction.db, name) !== undefined
              ) {
                throw new Error(`${what}: ${name.owner} is sealed, or has not ${parts} parts`)
              }
              db.run("update owner set closing = 1 where number = ?", [found.number])
              return found
            })
          )
          // On disk before the seal: no append after a crash may take the owner for an open one.
          yield* flushes.settle
          yield* transactions.write((transaction) => {
            transaction.db.run(
              "insert or replace into sealed (kind, owner, number, state) values (?, ?, ?, ?)",
              [name.kind, name.owner, closing.number, closing.state]
            )
          })
        })
      )
  }
}

/** Deletes seals of owners that are gone, which are left behind when these are discarded. */
export const sweep = (records: Database, rows: Database): void => {
  const seals = records.iterate("select kind, owner, number from sealed")
  const gone: Array<readonly [kind: string, owner: string, number: number]> = []
  for (let next = seals.next(); next.done !== true; next = seals.next()) {
    const number = Columns.number(next.value, "number")
    if (rows.get("select 1 from owner where number = ?", [number]) !== undefined) continue
    gone.push([Columns.text(next.value, "kind"), Columns.text(next.value, "owner"), number])
  }
  if (gone.length === 0) return
  records.run("begin immediate")
  try {
    for (const seal of gone) {
      records.run("delete from sealed where kind = ? and owner = ? and number = ?", seal)
    }
    records.run("commit")
  } finally {
    if (records.isInTransaction()) records.run("rollback")
  }
}
