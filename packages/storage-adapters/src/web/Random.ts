/** Random bytes of the web platform, which Node has as well. */

/** Most bytes that the platform gives in one call. */
const callMax = 65_536

/** Returns so many random bytes, fit for keys. */
export const bytes = (count: number): Uint8Array => {
  const drawn = new Uint8Array(count)
  for (let from = 0; from < count; from += callMax) {
    globalThis.crypto.getRandomValues(drawn.subarray(from, from + callMax))
  }
  return drawn
}
