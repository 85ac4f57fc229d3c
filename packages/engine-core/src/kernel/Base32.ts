/**
 * Encoding of the ids that the engine makes: Crockford base 32, which sorts by the millisecond of
 * making.
 */

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
const MILLIS_MAX = 2 ** 48 - 1
const RANDOM_BYTES = 10

/** An id: 26 characters, no I, L, O or U. */
export const pattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/

/** 10 characters of time, 16 of chance: 48 bit milliseconds and the 80 random bits given. */
export const encode = (millis: number, random: Uint8Array): string => {
  if (!Number.isInteger(millis) || millis < 0 || millis > MILLIS_MAX) {
    throw new RangeError(`Base32: ${millis} is no 48 bit millisecond time`)
  }
  if (random.length !== RANDOM_BYTES) {
    throw new RangeError(`Base32: ${RANDOM_BYTES} random bytes are needed, not ${random.length}`)
  }
  return time(millis) + chance(random)
}

/** Parses the millisecond at which an id was made; undefined for a text that is no such id. */
export const millis = (id: string): number | undefined => {
  if (!pattern.test(id)) return undefined
  let value = 0
  for (let i = 0; i < 10; i++) value = value * 32 + ALPHABET.indexOf(id.charAt(i))
  return value
}

const time = (millis: number): string => {
  let out = ""
  let rest = millis
  for (let i = 0; i < 10; i++) {
    out = ALPHABET.charAt(rest % 32) + out
    rest = Math.floor(rest / 32)
  }
  return out
}

/** The 80 random bits as 16 characters of five bits each. */
const chance = (random: Uint8Array): string => {
  let out = ""
  let bits = 0
  let held = 0
  for (const byte of random) {
    held = (held << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      out += ALPHABET.charAt((held >> bits) & 31)
    }
    held &= (1 << bits) - 1
  }
  return out
}
