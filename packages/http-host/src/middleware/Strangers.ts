/** Limit of connections without a signed-in caller. */

export interface Strangers<Socket extends object> {
  /** Reserves a place for a new connection, if there is room. */
  readonly admit: (socket: Socket) => "in" | "full"
  /** Releases the place of a connection on which a caller has signed in. */
  readonly known: (socket: Socket) => void
  /** Releases the place of a connection that has ended. */
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
