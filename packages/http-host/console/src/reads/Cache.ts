/** Cache of reads by name, parameters and point, bound to signals: the one file that knows its library. */
import { signal, useComputed } from "@preact/signals"
import { hashKey, QueryClient, QueryObserver } from "@tanstack/query-core"
import { useEffect, useMemo } from "preact/hooks"
import * as Session from "../shell/Session.ts"
import { againAfter } from "./Api.ts"

/** A read: its key, the kinds of records that it shows, and how it is loaded. */
export interface Read<A> {
  readonly key: ReadonlyArray<unknown>
  /** Kinds of records whose events make it stale; `*`: any. */
  readonly kinds: ReadonlyArray<string>
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

/** Reads for a component, which is drawn again with each answer. */
export const useRead = <A>(read: Read<A>): ReadState<A> => {
  const hash = hashKey(read.key)
  const state = useMemo(() => signal<ReadState<A>>(loading), [hash])
  useEffect(() => {
    const observer = new QueryObserver<A>(cache, {
      queryKey: [...read.key],
      queryFn: ({ signal: ended }) => read.load(ended),
      meta: { kinds: read.kinds }
    })
    const show = () => {
      const { data, error, isFetching } = observer.getCurrentResult()
      state.value = { value: data, error, isLoading: isFetching }
    }
    const leave = observer.subscribe(show)
    show()
    return leave
  }, [hash])
  return useComputed(() => state.value).value
}

/** Marks stale what shows records of these kinds, and reads anew what is on the screen. */
export const markStale = (kinds: ReadonlySet<string>): void => {
  void cache.invalidateQueries({
    predicate: ({ meta }) => {
      const shown = (meta?.["kinds"] ?? []) as ReadonlyArray<string>
      return shown.some((kind) => kind === "*" || kinds.has(kind))
    }
  })
}

/** Reads anew everything that is on the screen. */
export const readAnew = (): void => void cache.invalidateQueries()
