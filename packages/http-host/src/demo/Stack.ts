/** A whole venue on this machine: database, identity provider, host with its ledger, and the wallets. */
import { mkdir, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import * as Child from "./Child.ts"
import { read, write } from "./SecretFiles.ts"
import { audience } from "./People.ts"
import * as Parties from "./Parties.ts"
import { recordedInstruments } from "./RecordedInstruments.ts"
import { demandFree, type Settings } from "./Settings.ts"
import { sources } from "./StatementSources.ts"
import * as Programs from "./Programs.ts"

/** Addresses of a venue for its people, and their secrets at its identity provider. */
export interface Venue {
  /** `http://host:port`, without a trailing slash. */
  readonly api: string
  /** Address of the token endpoint. */
  readonly tokens: string
  /** Client secrets by client id. */
  readonly secrets: Readonly<Record<string, string>>
}

/** Terms of an instrument that the outside parties need and the ledger does not have. */
export interface Instrument {
  readonly instrumentId: string
  readonly unitDecimals: number
  /** Fixed value of a unit of a par instrument. */
  readonly parValue?: string
  /** Issuer of the instrument: its registrar if it is backed; the fund where absent. */
  readonly issuer?: "fund" | "registrar"
}

export interface Options {
  readonly settings: Settings
  /**
   * Instruments that the wallets and the sources of statements are set up for, or a function of the ids
   * of those recorded by earlier starts.
   */
  readonly instruments:
    | ReadonlyArray<Instrument>
    | ((recordedIds: ReadonlySet<string>) => ReadonlyArray<Instrument>)
  /** Called with each act that a wallet reports. */
  readonly heard?: (line: Child.ChildMessage) => void
  /** Whether the investor's wallets accept automatically, or wait for a person's command. */
  readonly investor?: "agrees" | "waits"
  /**
   * Time after its registration from which a successor may be used; the host's default where
   * absent.
   */
  readonly successorCooling?: string
  /** Program of the host, where it is another than `bursar`. */
  readonly hostProgram?: string
}

export interface Stack {
  readonly venue: Venue
  readonly issuer: string
  readonly docs: string
  readonly ledgerDoor: string
  readonly management: string
  /** Address of the database, with the password of the embedded one. */
  readonly databaseUrl: string
  readonly parties: Parties.Parties
  /** Instruments that the wallets and the sources of statements know. */
  readonly instruments: ReadonlyArray<Instrument>
  /** The oracle publishes every line that is added to this file. */
  readonly prices: string
  /** Folder of secrets, tokens and logs. */
  readonly folder: string
  /** Every process that was started: the servers, then the wallets. */
  readonly processes: ReadonlyArray<Child.Child>
  /** Program and environment of the host. */
  readonly host: Omit<Child.ChildProgram, "logs">
  /** Resolves with the reason when a process ends that was not stopped. */
  readonly broken: Promise<string>
  /** Stops the wallets first and the database last. */
  readonly stop: () => Promise<void>
}

/** SHA-256 of the terms that the investor's wallets sign. */
export const termsHash = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"

/** Starts all processes one after another; a failure stops those already started. */
export const start = async (options: Options): Promise<Stack> => {
  const { settings } = options
  const data = resolve(settings.data)
  const folder = join(data, "demo")
  // The database may run under an account of its own, which must be able to enter the folder.
  await mkdir(data, { recursive: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await awaitEarlier(folder)
  await demandFree(settings)
  const children: Array<Child.Child> = []
  const stop = async (): Promise<void> => {
    const [wallets, others] = [children.slice(servers), children.slice(0, servers).reverse()]
    await Promise.all(wallets.map((wallet) => wallet.stop()))
    for (const child of others) await child.stop()
  }
  let noted = Promise.resolve()
  const begin = async (program: Omit<Child.ChildProgram, "logs">): Promise<Child.Child> => {
    const child = await Child.start({ ...program, logs: join(folder, "logs") })
    children.push(child)
    // Wallets start in parallel; the list of processes is written by one at a time.
    noted = noted.then(() =>
      write(join(folder, running), { starter: process.pid, pids: children.map(({ pid }) => pid) })
    )
    await noted
    return child
  }
  try {
    return await all({ ...options, data, folder, begin, stop, children })
  } catch (error) {
    await stop()
    throw error
  }
}

/** Number of servers (database, identity provider, host), which start before the wallets. */
const servers = 3
const running = "running.json"

interface StackStart extends Options {
  readonly data: string
  readonly folder: string
  readonly begin: (program: Omit<Child.ChildProgram, "logs">) => Promise<Child.Child>
  readonly stop: () => Promise<void>
  readonly children: ReadonlyArray<Child.Child>
}

const all = async (starting: StackStart): Promise<Stack> => {
  const { settings, folder, begin, stop, children } = starting
  const { ports } = settings
  const database = await begin({
    name: "database",
    file: Programs.beside("database"),
    args: settings.databaseUrl === undefined ? [starting.data] : [],
    env: settings.databaseUrl === undefined ? {} : { DATABASE_URL: settings.databaseUrl }
  })
  const url = text(database, "url")
  await Parties.demandSecrets({ url, folder })
  const parties = await Parties.make({ url, folder })
  const instruments =
    typeof starting.instruments === "function"
      ? starting.instruments(await recordedInstruments(url))
      : starting.instruments
  const identity = await begin({
    name: "identity",
    file: Programs.beside("identity"),
    args: ["--port", String(ports.identity), "--data", folder]
  })
  const serves: Stack["host"] = {
    name: "host",
    file: starting.hostProgram ?? Programs.host,
    args: ["serve"],
    env: {
      BURSAR_DATA: starting.data,
      DATABASE_URL: url,
      BURSAR_LEDGER_TOKEN: await Parties.tokenOf(folder, "venue"),
      BURSAR_TENANT_ID: Parties.ledgerId,
      BURSAR_ISSUER: text(identity, "issuer"),
      BURSAR_JWKS_URL: text(identity, "keys"),
      BURSAR_AUDIENCE: audience,
      BURSAR_STATEMENTS_SOURCES: JSON.stringify(
        instruments.flatMap(({ instrumentId }) => sources(instrumentId))
      ),
      BURSAR_PORT: String(ports.api),
      BURSAR_MANAGEMENT_PORT: String(ports.management),
      BURSAR_LEDGER_DOOR_PORT: String(ports.ledger),
      ...(starting.successorCooling === undefined
        ? {}
        : { BURSAR_SUCCESSOR_COOLING: starting.successorCooling })
    }
  }
  const served = await begin(serves)
  const ledgerDoor = text(served, "ledgerDoor")
  const prices = await wallets({ ...starting, instruments }, parties, ledgerDoor)
  await Parties.finish(folder)
  const secrets = await read<{ readonly secrets: Venue["secrets"] }>(join(folder, "identity.json"))
  return {
    venue: {
      api: text(served, "api"),
      tokens: text(identity, "tokens"),
      secrets: secrets?.secrets ?? {}
    },
    issuer: text(identity, "issuer"),
    docs: text(served, "docs"),
    management: text(served, "management"),
    databaseUrl: url,
    ledgerDoor,
    parties,
    instruments,
    prices,
    folder,
    processes: children,
    host: serves,
    broken: Promise.race(
      children.map(({ name, ended }) =>
        ended.then((how) => `${name} ${how}; see ${join(folder, "logs", `${name}.log`)}`)
      )
    ),
    stop
  }
}

/** Starts a program for each outside party, each with its own token and a file of its policy. */
const wallets = async (
  {
    folder,
    instruments,
    heard,
    investor,
    begin
  }: StackStart & { readonly instruments: ReadonlyArray<Instrument> },
  parties: Parties.Parties,
  door: string
): Promise<string> => {
  const file = (name: string) => join(folder, name)
  const prices = file("prices.jsonl")
  await writeFile(prices, "", { flag: "a" })
  await write(file("registrar.json"), {
    instruments: instruments.map(({ instrumentId, issuer = "fund" }) => ({
      instrumentId,
      provider: parties.venue,
      issuer: parties[issuer]
    }))
  })
  await write(file("attestor.json"), {
    instruments: instruments.map(({ issuer: _, ...instrument }) => ({
      ...instrument,
      pricing: "historic"
    }))
  })
  await write(file("investor.json"), { terms: termsHash })
  const holder = (signer: Parties.Signer) =>
    ["--policy", file("investor.json"), "--key-file", Parties.keyFile(folder, signer)] as const
  const argumentsOf = {
    registrar: ["--policy", file("registrar.json")],
    fund: [],
    attestor: ["--policy", file("attestor.json")],
    oracle: [
      ...["--prices", prices, "--policy", file("attestor.json")],
      // Points of an asset without a market are seen by these.
      ...["--venue", parties.venue, "--fund", parties.fund, "--registrar", parties.registrar]
    ],
    custodian: [],
    investor: holder("investor"),
    successor: holder("successor")
  } as const
  const left = Object.entries(argumentsOf).filter(
    ([name]) => !Parties.isSigner(name) || investor !== "waits"
  )
  const opened = left.map(([name, args]) =>
    begin({
      name,
      file: Programs.wallet,
      args: [
        Parties.isSigner(name) ? "investor" : name,
        "--door",
        door,
        "--token-file",
        file(`${name}.token`),
        ...args
      ],
      ...(heard === undefined ? {} : { heard })
    })
  )
  // Waits for all, also when one fails: every started process must be known before it can be
  // stopped.
  const failed = (await Promise.allSettled(opened)).find(({ status }) => status === "rejected")
  if (failed?.status === "rejected") throw failed.reason
  return prices
}

const text = ({ name, said }: Child.Child, field: string): string => {
  const value = said[field]
  if (typeof value === "string") return value
  throw new Error(`${name} did not say its ${field}`)
}

const earlierMillis = 20_000

/** Waits until the processes of an earlier start have ended, as they do after their parent. */
const awaitEarlier = async (folder: string): Promise<void> => {
  const earlier = await read<{ readonly starter: number; readonly pids: ReadonlyArray<number> }>(
    join(folder, running)
  )
  if (earlier === undefined || isAlive(earlier.starter)) return
  const tooLate = Date.now() + earlierMillis
  while (earlier.pids.some(isAlive) && Date.now() < tooLate) {
    await new Promise((done) => setTimeout(done, 100))
  }
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}
