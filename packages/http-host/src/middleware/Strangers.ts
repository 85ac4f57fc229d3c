/** Limit of connections without a signed-in caller. */

export interface Strangers<Socket extends object> {
  /** Whether there is room for another connection; if there is, it has its place. */
  readonly admit: (socket: Socket) => "in" | "full"
  /** A caller has signed in on the connection, which no longer counts. */
  readonly known: (socket: Socket) => void
  /** The connection has ended. */
  readonly gone: (socket: Socket) => void
}

/**
 * Largest number of connections that have not signed in
 * (docs/contract/rate-limits.md#connections-without-sign-in).
 */
export const strangersMax = 256

export const make = <Socket extends object>(): Strangers<Socket> => {
  const places = new Set<Socket>()
  return {
    admit: (socket) => {
      if (places.size >= strangersMax) return "full"
      places.add(socket)
      return "in"
    },
    known: (socket) => void places.delete(socket),
    gone: (socket) => void places.delete(socket)
  }
}
