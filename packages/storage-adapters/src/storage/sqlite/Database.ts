/** Connection to one database file of SQLite, with a cache of its prepared statements. */
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"
import type { Row } from "./Columns.ts"

export type Value = string | number | bigint | null | Uint8Array

/** Values of a statement: in the order of its `?`, or by the names of its `:name`. */
export type Values = ReadonlyArray<Value> | Readonly<Record<string, Value>>

export interface Database {
  readonly all: (sql: string, values?: Values) => ReadonlyArray<Row>
  readonly get: (sql: string, values?: Values) => Row | undefined
  /** Answers the number of rows that were changed. */
  readonly run: (sql: string, values?: Values) => number
  /** Reads row by row, on a statement of its own. */
  readonly iterate: (sql: string, values?: Values) => Iterator<Row>
  readonly isInTransaction: () => boolean
  readonly close: () => void
  /** Adds an aggregate of texts. */
  readonly aggregate: (
    name: string,
    step: (total: string | null, value: string | null) => string | null
  ) => void
  /** Adds a pure function of texts. */
  readonly define: (
    name: string,
    f: (...values: ReadonlyArray<string | null>) => string | null
  ) => void
}

/** Statements that a connection keeps prepared; the one that was used longest ago leaves first. */
const STATEMENTS_MAX = 500

const isList = (values: Values): values is ReadonlyArray<Value> => Array.isArray(values)

export const open = (file: string): Database => {
  const connection = new DatabaseSync(file, { enableForeignKeyConstraints: false, timeout: 0 })
  const statements = new Map<string, StatementSync>()
  /** A statement that was put together may leave out some of its parts, with their values. */
  const prepare = (sql: string): StatementSync => {
    const statement = connection.prepare(sql)
    statement.setAllowUnknownNamedParameters(true)
    return statement
  }
  const prepared = (sql: string): StatementSync => {
    const statement = statements.get(sql) ?? prepare(sql)
    statements.delete(sql)
    statements.set(sql, statement)
    if (statements.size > STATEMENTS_MAX) {
      const [oldest = ""] = statements.keys()
      statements.delete(oldest)
    }
    return statement
  }
  return {
    all: (sql, values = []) => {
      const statement = prepared(sql)
      return isList(values) ? statement.all(...values) : statement.all({ ...values })
    },
    get: (sql, values = []) => {
      const statement = prepared(sql)
      return isList(values) ? statement.get(...values) : statement.get({ ...values })
    },
    run: (sql, values = []) => {
      const statement = prepared(sql)
      const { changes } = isList(values) ? statement.run(...values) : statement.run({ ...values })
      return Number(changes)
    },
    iterate: (sql, values = []) => {
      const statement = prepare(sql)
      return isList(values) ? statement.iterate(...values) : statement.iterate({ ...values })
    },
    isInTransaction: () => connection.isTransaction,
    close: () => {
      statements.clear()
      connection.close()
    },
    aggregate: (name, step) => {
      connection.aggregate(name, {
        start: null,
        step: (total: SQLInputValue, value: SQLInputValue) =>
          step(textOrNull(total), textOrNull(value))
      })
    },
    define: (name, f) => {
      connection.function(name, { deterministic: true, varargs: true }, (...values) =>
        f(...values.map(textOrNull))
      )
    }
  }
}

const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null)
