/** Packs the built packages and uses them as anybody would: installed, type-checked and run elsewhere. */
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { install, npm, packages, versioned } from "./packed.ts"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = mkdtempSync(join(tmpdir(), "bursar-consumer-"))

const filesOf = (within: string): ReadonlyArray<string> =>
  readdirSync(within, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : []
  )

/** Targets of links in pages that are missing from the package. */
const faultsOf = (within: string): ReadonlyArray<string> => {
  const files = filesOf(within)
  const links = files
    .filter((file) => file.endsWith(".md"))
    .flatMap((file) =>
      [...readFileSync(file, "utf8").matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)]
        .map(([, link = ""]) => link)
        .map((link) => [file, decodeURI(link)] as const)
    )
  const inside = links.filter(([, link]) => !/^[a-z]+:/.test(link))
  const needed = ["README.md", "LICENSE", "NOTICE"].map(
    (name) => [join(within, "package.json"), name] as const
  )
  return [
    ...[...inside, ...needed].filter(([file, to]) => !existsSync(join(dirname(file), to))),
    ...(links.length === 0 ? [[within, "any page"] as const] : [])
  ].map(([file, to]) => `${file} leads to ${to}, which is not packed`)
}

/** The README's first program, whole: at most twenty lines with its imports. */
const firstProgram = (): string => {
  const readme = readFileSync(join(root, "README.md"), "utf8")
  const text = /<!-- region \S+\/first-write\.ts -->\n```ts\n([\s\S]*?)```/.exec(readme)?.[1]
  if (text === undefined) throw new Error("the README has no first program")
  const lines = text.trimEnd().split("\n").length
  if (lines > 20) throw new Error(`the README's first program has ${lines} lines`)
  return text
}

/** Most lines of a newcomer's program that are no business: people, four eyes, the venue and its run. */
const plumbingMax = 20

/** Lines of code, without imports, comments and blank lines. */
const codeOf = (text: string): ReadonlyArray<string> =>
  text
    .replaceAll(/^import [^"]*"[^"]*"\n/gm, "")
    .split("\n")
    .filter((line) => line.trim() !== "" && !/^\s*(?:\/\/|\/?\*)/.test(line))

/**
 * Copies the story of example 01 to the folder, with the bodies of its writes and its statements, and runs it
 * there: an order from its claim to the register, through a bank's statement.
 */
const playStory = (): void => {
  const examples = join(root, "examples")
  const story = join(folder, "story")
  const embedding = "01-embed-the-engine"
  for (const path of [embedding, "statements.ts", "story.ts"]) {
    cpSync(join(examples, path), join(story, path), { recursive: true })
  }
  for (const name of ["Instrument.ts", "StatementSources.ts"]) {
    cpSync(join(root, "packages/http-host/src/demo", name), join(story, "demo", name))
  }
  const imports = { "#demo/*": "./demo/*" }
  writeFileSync(join(story, "package.json"), JSON.stringify({ type: "module", imports }))
  const [people, main] = ["people.ts", "main.ts"].map((name) =>
    codeOf(readFileSync(join(story, embedding, name), "utf8"))
  )
  const started = main?.filter((line) => /^(?:const statementSources|await )/.test(line)) ?? []
  const plumbing = (people?.length ?? 0) + started.length
  if (started.length !== 2 || plumbing > plumbingMax) {
    throw new Error(`the story of example 01 has ${plumbing} lines of plumbing`)
  }
  const said = execFileSync(process.execPath, [join(embedding, "main.ts")], {
    cwd: story,
    encoding: "utf8"
  })
  if (!said.endsWith("of a supply of 95812.9730760000 on the ledger\n")) {
    throw new Error(`the story of example 01 prints something else: ${said}`)
  }
  console.log(`the story of example 01 runs, with ${plumbing} lines of plumbing`)
}

/** Printed lines of the first program: the write awaits a second person, who signed it in the end. */
const firstProgramPrints = [/^awaiting One approver other than the maker/, /^elf \[ 'anna' \]$/]

/**
 * Largest number of bytes of each package once it is unpacked: a tarball holds what a program needs, and
 * neither sources nor maps. Whoever raises one says in the change what it is for.
 */
const bytesMax: { readonly [name in (typeof packages)[number]]: number } = {
  "engine-core": 5_000_000,
  "storage-adapters": 2_400_000,
  // Of these 700 KB are the console: each of its files in three encodings.
  "http-host": 3_700_000
}

const oversized = (): ReadonlyArray<string> =>
  packages.flatMap((name) => {
    const files = filesOf(join(folder, "node_modules", "@bursar", name))
    const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0)
    console.log(`${name}: ${bytes} bytes in ${files.length} files`)
    return bytes > bytesMax[name]
      ? [`${name} has ${bytes} bytes unpacked, more than ${bytesMax[name]}`]
      : []
  })

/** Runs a command of the packed host in the folder and answers what it printed. */
const bursar = (...words: ReadonlyArray<string>): string =>
  execFileSync(process.execPath, [join(folder, "node_modules", ".bin", "bursar"), ...words], {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024
  })

/** Reads the console as the packed host serves it: the page, and each file that the page names. */
const demandConsole = async (api: string): Promise<void> => {
  const page = await fetch(`${api}/console/`)
  const files = [...(await page.text()).matchAll(/(?:src|href)="(\.\/[^"]+)"/g)]
  const read = await Promise.all(
    files.map(async ([, file = ""]) => (await fetch(new URL(file, page.url))).status)
  )
  if (page.status !== 200 || read.length < 3 || read.some((status) => status !== 200)) {
    throw new Error(`the packed host serves the console: ${page.status}, its files ${read.join()}`)
  }
}

/** Plays `bursar demo` as it is packed: it starts, one person signs in and reads, and it is stopped. */
const playDemo = async (): Promise<void> => {
  const ports = ["--port", "--management-port", "--ledger-port", "--identity-port"]
  const program = join(folder, "node_modules", ".bin", "bursar")
  const words = ["demo", "--data", join(folder, "venue"), ...ports.flatMap((port) => [port, "0"])]
  const child = spawn(process.execPath, [program, ...words], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"]
  })
  const ended = once(child, "close")
  let screen = ""
  try {
    await new Promise<void>((up, failed) => {
      child.stdout.on("data", (part) => {
        screen += String(part)
        if (screen.includes("Ctrl-C stops everything")) up()
      })
      child.once("close", (code) => failed(new Error(`the demo ended with ${code}: ${screen}`)))
    })
    const [api = "", issuer = ""] = ["API", "sign-in"].map(
      (name) => new RegExp(`^  ${name} +(http\\S+)$`, "m").exec(screen)?.[1]
    )
    const secrets = join(folder, "venue", "demo")
    const token = bursar("token", "operator", "--issuer", issuer, "--folder", secrets).trim()
    const headers = { authorization: `Bearer ${token}` }
    const { status } = await fetch(`${api}/v1/instruments`, { headers })
    if (status !== 200) throw new Error(`the demo's operator reads instruments: ${status}`)
    await demandConsole(api)
  } finally {
    child.kill("SIGTERM")
  }
  const [code] = await ended
  if (code !== 0 || !screen.endsWith("\nStopping: the wallets first …\nStopped.\n")) {
    throw new Error(`the demo ended with ${code}: ${screen}`)
  }
  console.log("the packed demo starts, signs a person in, answers and stops")
}

try {
  cpSync(join(root, "test", "package", "consumer"), folder, { recursive: true })
  // The page's program, which is checked without Node's types.
  cpSync(join(root, "test", "package", "browser", "page.ts"), join(folder, "page.ts"))
  writeFileSync(join(folder, "first-write.ts"), firstProgram())
  install(folder, ...["typescript", "@types/node"].map(versioned))
  const faults = [
    ...packages.flatMap((name) => faultsOf(join(folder, "node_modules", "@bursar", name))),
    ...oversized()
  ]
  if (faults.length > 0) throw new Error(faults.join("\n"))
  // Every declaration is checked too, ours and those it leans on.
  execFileSync("npm", ["run", "--silent", "check"], { cwd: folder, stdio: "inherit" })
  const said = npm(folder, "run", "--silent", "start").trim()
  console.log(said)
  const { third, operations, entries } = JSON.parse(said)
  if (third !== "0.3333333333" || operations === 0 || entries !== true) {
    throw new Error("the packed packages answer something else")
  }
  const first = npm(folder, "run", "--silent", "first-write").trim().split("\n")
  console.log(first.join("\n"))
  if (!firstProgramPrints.every((line, index) => line.test(first[index] ?? ""))) {
    throw new Error("the README's first program prints something else")
  }
  if (!bursar("openapi").startsWith("{")) throw new Error("the bin prints no document")
  playStory()
  await playDemo()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
