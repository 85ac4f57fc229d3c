/**
 * Title of a route, made of its name: `holder.register-successor` is "Holder: register successor".
 */

const spelled: Readonly<Record<string, string>> = { openapi: "OpenAPI document" }

/** A name's part in words. */
const words = (part: string): string =>
  spelled[part] ??
  part
    .replaceAll("-", " ")
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter}`)
    .toLowerCase()

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

/** The title of the route of this name: no two routes have one. */
export const of = (name: string): string => {
  const [noun = "", verb = ""] = name.split(".")
  return `${capital(words(noun))}: ${verb === "one" ? "get" : words(verb)}`
}
