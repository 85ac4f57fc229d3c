/** Checks of Blobs: the bytes that were put, under their hash, once. */
import { Blobs } from "@bursar/engine-core/ports"
import { Option } from "effect"
import { type Check, check, fresh, same } from "../Check.ts"
import { hash } from "./rows.ts"

export const blobs: ReadonlyArray<Check> = [
  check("Blobs", "gives back the bytes of a hash, also when they were put twice", function* () {
    const { get, put } = yield* Blobs
    const name = hash(yield* fresh("blob"))
    const bytes = new Uint8Array(300_000).map((_, n) => n % 256)
    yield* put({ hash: name, bytes })
    yield* put({ hash: name, bytes })
    const found = Option.getOrThrow(yield* get(name))
    yield* same("the size", found.length, bytes.length)
    yield* same("the bytes", Buffer.compare(found, bytes), 0)
    yield* same("of another hash", yield* get(hash(`${name}x`)), Option.none())
  }),
  check(
    "Blobs",
    "keeps the bytes as they were put, whatever the caller does to its own",
    function* () {
      const { get, put } = yield* Blobs
      const name = hash(yield* fresh("blob"))
      const bytes = new Uint8Array([1, 2, 3])
      yield* put({ hash: name, bytes })
      bytes[0] = 9
      Option.getOrThrow(yield* get(name))[1] = 9
      yield* same("the bytes", [...Option.getOrThrow(yield* get(name))], [1, 2, 3])
    }
  )
]
