/** Checks of Blobs: the bytes that were put, under their hash, once; and files in chunks. */
import { Atomically, Blobs } from "@bursar/engine-core/ports"
import { Effect, Option } from "effect"
import { type Check, check, ends, fresh, same } from "../Check.ts"
import { hash } from "./rows.ts"

const bytesOf = (...numbers: ReadonlyArray<number>): Uint8Array => new Uint8Array(numbers)

/** The chunks of a file that are there, up to the first that is not. */
const chunksOf = Effect.fnUntraced(function* (file: string) {
  const { chunk } = yield* Blobs
  const found: Array<ReadonlyArray<number>> = []
  for (let number = 0; ; number++) {
    const bytes = yield* chunk({ file, chunk: number })
    if (Option.isNone(bytes)) return found
    found.push([...bytes.value])
  }
})

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
  ),
  check("Blobs", "gives back each chunk of a file as it was appended first", function* () {
    const { append, chunk, seal } = yield* Blobs
    const file = yield* fresh("file")
    const large = new Uint8Array(1_048_604).map((_, n) => n % 251)
    yield* append({ file, chunk: 0, bytes: large })
    const small = bytesOf(1, 2, 3)
    yield* append({ file, chunk: 1, bytes: small })
    small[0] = 9
    yield* append({ file, chunk: 1, bytes: small })
    for (const state of ["before the seal", "after the seal"]) {
      const first = Option.getOrThrow(yield* chunk({ file, chunk: 0 }))
      yield* same(`the large chunk ${state}`, Buffer.compare(first, large), 0)
      yield* same(`the chunk ${state}`, (yield* chunksOf(file)).slice(1), [[1, 2, 3]])
      if (state === "before the seal") yield* seal({ file, chunks: 2 })
    }
    yield* same("another file", yield* chunksOf(yield* fresh("file")), [])
  }),
  check("Blobs", "appends a chunk apart from an open transaction", function* () {
    const { append } = yield* Blobs
    const { run } = yield* Atomically
    const file = yield* fresh("file")
    const appending = append({ file, chunk: 0, bytes: bytesOf(1) })
    yield* ends("the run", run(Effect.andThen(appending, Effect.fail("no"))), "no")
    yield* same("the chunks", yield* chunksOf(file), [[1]])
  }),
  check("Blobs", "seals a file of so many chunks, once, with its transaction", function* () {
    const { append, seal } = yield* Blobs
    const { run } = yield* Atomically
    const file = yield* fresh("file")
    yield* append({ file, chunk: 0, bytes: bytesOf(1) })
    for (const chunks of [0, 2]) yield* ends(`${chunks}`, seal({ file, chunks }), "defect")
    const sealing = seal({ file, chunks: 1 })
    yield* ends("the run", run(Effect.andThen(sealing, Effect.fail("no"))), "no")
    yield* run(sealing)
    yield* ends("a second seal", sealing, "defect")
    yield* ends("no chunk", seal({ file: yield* fresh("file"), chunks: 0 }), "defect")
    yield* ends("an append", append({ file, chunk: 1, bytes: bytesOf(2) }), "defect")
    yield* same("the chunks", yield* chunksOf(file), [[1]])
  }),
  check("Blobs", "discards a file in parts, and seals none of it any more", function* () {
    const { append, discard, seal } = yield* Blobs
    const files = [yield* fresh("file"), yield* fresh("file")] as const
    for (const file of files) {
      for (const chunk of [0, 1, 2]) yield* append({ file, chunk, bytes: bytesOf(chunk) })
      yield* seal({ file, chunks: 3 })
    }
    const [file, other] = files
    yield* same("the first part", yield* discard({ file, limit: 2 }), 2)
    yield* ends("a seal", seal({ file, chunks: 3 }), "defect")
    yield* same("the second part", yield* discard({ file, limit: 2 }), 1)
    yield* same("of a file that is gone", yield* discard({ file, limit: 2 }), 0)
    yield* same("its chunks", yield* chunksOf(file), [])
    yield* same("another file", yield* chunksOf(other), [[0], [1], [2]])
  }),
  check("Blobs", "spares a sealed file from a discard that is to spare it", function* () {
    const { append, discard, seal } = yield* Blobs
    const file = yield* fresh("file")
    const sparing = { file, limit: 1, sparesSealed: true }
    for (const chunk of [0, 1, 2]) yield* append({ file, chunk, bytes: bytesOf(chunk) })
    yield* seal({ file, chunks: 3 })
    yield* same("of a sealed file", yield* discard(sparing), 0)
    yield* same("its chunks", yield* chunksOf(file), [[0], [1], [2]])
    const open = yield* fresh("file")
    yield* append({ file: open, chunk: 0, bytes: bytesOf(0) })
    yield* same("of a file that is not sealed", yield* discard({ ...sparing, file: open }), 1)
  })
]
