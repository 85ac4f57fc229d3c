/** Settings of the demo, from flags or the environment: folder, ports and database. */
import { createServer } from "node:net"
import { DemoFailed } from "./DemoFailed.ts"

export interface Settings {
  readonly data: string
  readonly ports: Readonly<Record<PortName, number>>
  /** Address of an existing PostgreSQL; undefined: the embedded one. */
  readonly databaseUrl: string | undefined
}

/** Port settings: each is the host's own, but for that of the identity provider. */
export const ports = {
  api: { flag: "port", variable: "BURSAR_PORT", usual: 8080, what: "the API" },
  management: {
    flag: "management-port",
    variable: "BURSAR_MANAGEMENT_PORT",
    usual: 9464,
    what: "the management listener"
  },
  ledger: {
    flag: "ledger-port",
    variable: "BURSAR_LEDGER_DOOR_PORT",
    usual: 7575,
    what: "the ledger's door"
  },
  identity: {
    flag: "identity-port",
    variable: "IDENTITY_PORT",
    usual: 9000,
    what: "the identity provider"
  }
} as const
export type PortName = keyof typeof ports

export class WrongSetting extends DemoFailed {
  override readonly name = "WrongSetting"
}

/** Folder and ports that were named on the command line; those that are absent are not. */
export type ChosenSettings = Readonly<Partial<Record<"data" | PortName, string>>>
type Environment = Readonly<Record<string, string | undefined>>

/** Reads the settings: a flag before the environment, the environment before the default. */
export const read = (named: ChosenSettings, environment: Environment): Settings => ({
  data: named.data ?? environment["BURSAR_DATA"] ?? ".data",
  databaseUrl: environment["DATABASE_URL"] || undefined,
  ports: {
    api: portOf("api", named, environment),
    management: portOf("management", named, environment),
    ledger: portOf("ledger", named, environment),
    identity: portOf("identity", named, environment)
  }
})

const portOf = (name: PortName, named: ChosenSettings, environment: Environment): number => {
  const { flag, variable, usual } = ports[name]
  const text = named[name] ?? environment[variable] ?? String(usual)
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  throw new WrongSetting(`${text} is no port; --${flag} (${variable}) is 0 to 65535`)
}

/** Refuses to start, and names the setting, where another process listens on a port of the demo. */
export const demandFree = async (settings: Settings): Promise<void> => {
  for (const [name, port] of Object.entries(settings.ports)) {
    if (port === 0 || (await isFree(port))) continue
    const { flag, variable } = ports[name as PortName]
    throw new WrongSetting(
      `port ${port} is taken: is the venue running already? ` +
        `Choose another with --${flag} or ${variable} (0 takes any that is free).`
    )
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(false)
      else reject(error)
    })
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)))
  })
