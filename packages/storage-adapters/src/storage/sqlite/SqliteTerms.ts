/** Search terms in SQLite: one table in the order of its pages, of which each range is read by itself. */
import type { TermRow, Terms } from "@bursar/engine-core/ports"
import * as TermTexts from "../TermTexts.ts"
import * as Columns from "./Columns.ts"
import type { SqliteTransactions } from "./Transactions.ts"

export const make = (transactions: SqliteTransactions): Terms["Service"] => ({
  store: transactions.store,
  put: (rows) =>
    transactions.write(({ db }) => {
      for (const { collection, rank, recordId, shown, text } of rows) {
        db.run(
          `insert into term (collection, rank, text, record_id, shown) values (?, ?, ?, ?, ?)
           on conflict do nothing`,
          [collection, rank, text, recordId, shown]
        )
      }
    }),
  delete: (places) =>
    transactions.write(({ db }) => {
      for (const { collection, rank, recordId, text } of places) {
        db.run(
          "delete from term where collection = ? and rank = ? and text = ? and record_id = ?",
          [collection, rank, text, recordId]
        )
      }
    }),
  forget: ({ collection, limit, recordId }) =>
    transactions.write(({ db }) =>
      db.run(
        `delete from term where (collection, rank, text, record_id) in (
           select collection, rank, text, record_id from term
           where collection = ? and record_id = ? and shown is not null limit ?)`,
        [collection, recordId, Math.max(0, limit)]
      )
    ),
  page: ({ limit, ...query }) =>
    transactions.read((db) => {
      const most = Math.max(0, limit)
      const end = TermTexts.endOf(query.prefix)
      const found = TermTexts.startsOf(query).flatMap(({ collection, rank, recordId, text }) =>
        db
          .all(
            `select text, record_id, shown from term
             where collection = ? and rank = ? and (text, record_id) > (?, ?) and text < ?
             order by text, record_id limit ?`,
            [collection, rank, text, recordId, end, most]
          )
          .map(
            (row): TermRow => ({
              ...{ collection, rank },
              text: Columns.text(row, "text"),
              recordId: Columns.text(row, "record_id"),
              shown: Columns.textOrNull(row, "shown")
            })
          )
      )
      return found.toSorted(TermTexts.compare).slice(0, most)
    }),
  marks: transactions.read((db) =>
    db.all("select mark from term_mark order by mark", []).map((row) => Columns.text(row, "mark"))
  ),
  mark: (mark) =>
    transactions.write(({ db }) => {
      db.run("insert into term_mark (mark) values (?) on conflict do nothing", [mark])
    })
})
