/** Addresses of the page and of its host, relative to the page's own files, whatever a proxy has added. */

/** Folder of the page: every file of it lies one folder below. */
const page = new URL(/* @vite-ignore */ "..", import.meta.url)

/** Path of the console, such as `/console/`, with its slash. */
export const consolePath = page.pathname

/** Address of the interface, without its slash. */
export const apiAddress = new URL("..", page).href.replace(/\/$/u, "")

/** Address to which the identity provider returns whoever has signed in. */
export const returnAddress = new URL("sign-in", page).href

/** Path of a page of the console. */
export const linkTo = (path: string): string => consolePath + path.replace(/^\//u, "")
