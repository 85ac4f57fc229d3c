/**
 * Title of a route, derived from its name: `holder.register-successor` is "Holder: register
 * successor".
 */

const spelled: Readonly<Record<string, string>> = { openapi: "OpenAPI document" }

/** Splits a part of a name into words. */
const words = (part: string): string =>
  spelled[part] ??
  part
    .replaceAll("-", " ")
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter}`)
    .toLowerCase()

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

/** Title of the route with this name; titles are unique. */
export const of = (name: string): string => {
  const [noun = "", verb = ""] = name.split(".")
  return `${capital(words(noun))}: ${verb === "one" ? "get" : words(verb)}`
}
