/** Raw bytes in SQLite: blobs by their hash beside the records, and files in chunks in a file of their own. */
import type { Blobs } from "@bursar/engine-core/ports"
import { Option } from "effect"
import * as Columns from "./Columns.ts"
import type { Owners } from "./Owners.ts"
import type { SqliteTransactions } from "./Transactions.ts"

export const make = ({
  transactions,
  owners
}: {
  readonly transactions: SqliteTransactions
  readonly owners: Owners
}): Blobs["Service"] => {
  const named = (file: string) => ({ kind: "file", owner: file }) as const
  return {
    store: transactions.store,
    put: ({ hash, bytes }) =>
      transactions.write(({ db }) => {
        db.run("insert into blob (hash, bytes) values (?, ?) on conflict do nothing", [hash, bytes])
      }),
    get: (hash) =>
      transactions.read((db) =>
        Option.map(
          Option.fromUndefinedOr(db.get("select bytes from blob where hash = ?", [hash])),
          (row) => Columns.bytes(row, "bytes")
        )
      ),
    append: ({ file, chunk, bytes }) =>
      owners.append(named(file), (owner) =>
        owners.db.run(
          "insert into chunk (owner, chunk, bytes) values (?, ?, ?) on conflict do nothing",
          [owner, chunk, bytes]
        )
      ),
    chunk: ({ file, chunk }) =>
      transactions.read(() => {
        const row = owners.db.get(
          `select c.bytes from owner o join chunk c on c.owner = o.number
           where o.kind = 'file' and o.owner = ? and c.chunk = ?`,
          [file, chunk]
        )
        return Option.map(Option.fromUndefinedOr(row), (found) => Columns.bytes(found, "bytes"))
      }),
    seal: ({ file, chunks }) =>
      owners.seal(named(file), { parts: chunks, mayBeEmpty: false, what: "Blobs.seal" }),
    discard: ({ file, limit, sparesSealed = false }) =>
      owners.discard(named(file), {
        sparesSealed,
        remove: (owner) =>
          owners.db.run(
            `delete from chunk where id in (
               select id from chunk where owner = ? order by chunk limit ?)`,
            [owner, Math.max(0, limit)]
          )
      })
  }
}
