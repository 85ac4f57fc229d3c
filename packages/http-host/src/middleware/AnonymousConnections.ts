/** Limit of connections without a signed-in caller. */

export interface AnonymousConnections<Socket extends object> {
  /** Reserves a place for a new connection, if there is room. */
  readonly admit: (socket: Socket) => "in" | "full"
  /** Releases the place of a connection on which a caller has signed in. */
  readonly signedIn: (socket: Socket) => void
  /** Releases the place of a connection that has ended. */
  readonly closed: (socket: Socket) => void
}

/**
 * Largest number of connections that have not signed in
 * (docs/contract/rate-limits.md#connections-without-sign-in).
 */
export const anonymousMax = 256

export const make = <Socket extends object>(): AnonymousConnections<Socket> => {
  const places = new Set<Socket>()
  return {
    admit: (socket) => {
      if (places.size >= anonymousMax) return "full"
      places.add(socket)
      return "in"
    },
    signedIn: (socket) => void places.delete(socket),
    closed: (socket) => void places.delete(socket)
  }
}
