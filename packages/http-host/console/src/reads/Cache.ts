/** Cache of reads by name, parameters and point, bound to signals: the one file that knows its library. */
import { signal } from "@preact/signals"
import { hashKey, QueryClient, QueryObserver } from "@tanstack/query-core"
import { useEffect, useMemo } from "preact/hooks"
import * as Session from "../shell/Session.ts"
import { againAfter } from "./Api.ts"

/** A read: its key, the kinds of records that it shows, and how it is loaded. */
export interface Read<A> {
  readonly key: ReadonlyArray<unknown>
  /** Kinds of records whose events make it stale; `*`: any. */
  readonly kinds: ReadonlyArray<string>
  /** True: the page shows the past, of which this read has none. */
  readonly isOfNow?: boolean
  readonly load: (signal: AbortSignal) => Promise<A>
}

/** State of a read on a page. */
export interface ReadState<A> {
  /** The last answer, also while a newer one is loaded; undefined: there is none yet. */
  readonly value: A | undefined
  readonly error: unknown
  readonly isLoading: boolean
}

const retriesMax = 3

const cache = new QueryClient({
  defaultOptions: {
    queries: {
      // The feed says when an answer is stale; a role without a feed reads by time.
      staleTime: Infinity,
      gcTime: 300_000,
      networkMode: "always",
      refetchOnWindowFocus: false,
      retry: (count, error) => count < retriesMax && againAfter(error) !== null,
      retryDelay: (_, error) => (againAfter(error) ?? 1) * 1000
    }
  }
})

Session.onEnd(() => cache.clear())

const loading: ReadState<never> = { value: undefined, error: null, isLoading: true }

/** Shows each state of a read until the returned function is called. */
export const watch = <A>(read: Read<A>, show: (state: ReadState<A>) => void): (() => void) => {
  const observer = new QueryObserver<A>(cache, {
    queryKey: [...read.key],
    queryFn: ({ signal: ended }) => read.load(ended),
    meta: { kinds: read.kinds }
  })
  const tell = () => {
    const { data, error, isFetching } = observer.getCurrentResult()
    show({ value: data, error, isLoading: isFetching })
  }
  const leave = observer.subscribe(tell)
  tell()
  return leave
}

/** Reads on the screen that show the present on a page of the past, by name with their number. */
export const ofNow = signal<ReadonlyMap<string, number>>(new Map())

const countOfNow = (name: string, step: 1 | -1): void => {
  const count = (ofNow.value.get(name) ?? 0) + step
  const others = [...ofNow.value].filter(([other]) => other !== name)
  ofNow.value = new Map(count > 0 ? [...others, [name, count]] : others)
}

/** Reads for a component, which is drawn again with each answer. */
export const useRead = <A>(read: Read<A>): ReadState<A> => {
  const hash = hashKey(read.key)
  const { isOfNow = false } = read
  const state = useMemo(() => signal<ReadState<A>>(loading), [hash])
  useEffect(
    () =>
      watch(read, (next) => {
        state.value = next
      }),
    [hash]
  )
  useEffect(() => {
    if (!isOfNow) return
    const name = String(read.key[0])
    countOfNow(name, 1)
    return () => countOfNow(name, -1)
  }, [hash, isOfNow])
  // The signal itself: a computed one would go on with the signal of the key before.
  return state.value
}

/** Reads in flight without an answer yet, which an event found: each is read once more when it has one. */
const toReadAgain = new WeakSet<object>()

const readStale = (kinds: ReadonlySet<string>): void => {
  const predicate = ({ meta }: { readonly meta: Record<string, unknown> | undefined }) => {
    const shown = (meta?.["kinds"] ?? []) as ReadonlyArray<string>
    return shown.some((kind) => kind === "*" || kinds.has("*") || kinds.has(kind))
  }
  for (const query of cache.getQueryCache().findAll({ predicate })) {
    const { data, fetchStatus } = query.state
    if (fetchStatus === "idle" || data !== undefined || toReadAgain.has(query)) continue
    // Its answer may be of before the event, and nothing would say so.
    toReadAgain.add(query)
    const again = () => {
      toReadAgain.delete(query)
      void cache.invalidateQueries({ queryKey: query.queryKey, exact: true })
    }
    void query.promise?.then(again, () => toReadAgain.delete(query))
  }
  void cache.invalidateQueries({ predicate })
}

/** Milliseconds between two reads of what events make stale; the first is read at once. */
const staleEvery = 1_000

let last = -Infinity
let waiting: Set<string> | null = null

/** Marks stale what shows records of these kinds, and reads anew what is on the screen. */
export const markStale = (kinds: ReadonlySet<string>): void => {
  if (kinds.size === 0) return
  if (waiting !== null) {
    for (const kind of kinds) waiting.add(kind)
    return
  }
  const left = last + staleEvery - performance.now()
  const read = (all: ReadonlySet<string>) => {
    last = performance.now()
    readStale(all)
  }
  if (left <= 0) {
    read(kinds)
    return
  }
  const all = new Set(kinds)
  waiting = all
  setTimeout(() => {
    waiting = null
    read(all)
  }, left)
}

/** Reads anew everything that is on the screen and not of a point of the past. */
export const readAnew = (): void => readStale(new Set(["*"]))
