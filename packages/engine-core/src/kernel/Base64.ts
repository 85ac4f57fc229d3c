/** Standard base64 with padding, as headers, keys and secrets carry bytes. */

export const encode = (bytes: Uint8Array): string => {
  let characters = ""
  for (const byte of bytes) characters += String.fromCharCode(byte)
  return btoa(characters)
}

const grammar = /^[A-Za-z0-9+/]*={0,2}$/

/** Decodes a text; undefined unless it is exactly the text that `encode` prints for the bytes. */
export const decode = (text: string): Uint8Array | undefined => {
  if (text.length % 4 !== 0 || !grammar.test(text)) return undefined
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  return encode(bytes) === text ? bytes : undefined
}
