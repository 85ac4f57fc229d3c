/** Settings of `npm start`, and its messages when it cannot listen on a given address. */
import { createServer } from "node:http"
import { once } from "node:events"
import { expect, it } from "vitest"
import * as Settings from "#host/demo/Settings.ts"

it("never takes the environment before a flag, or what is usual before either", () => {
  expect(Settings.read({}, {}).ports.api).toBe(8080)
  expect(Settings.read({}, { BURSAR_PORT: "1" }).ports.api).toBe(1)
  expect(Settings.read({ api: "2" }, { BURSAR_PORT: "1" }).ports.api).toBe(2)
  expect(Settings.read({ data: "a" }, { BURSAR_DATA: "b" }).data).toBe("a")
  expect(Settings.read({}, { DATABASE_URL: "" }).databaseUrl).toBeUndefined()
})

it("never starts on a port that is none", () => {
  for (const text of ["65536", "-1", "8080x", ""]) {
    expect(() => Settings.read({ ledger: text }, {})).toThrow(/--ledger-port/)
  }
})

it("never does not name the setting whose port somebody else has", async () => {
  const other = createServer()
  other.listen(0, "127.0.0.1")
  await once(other, "listening")
  const address = other.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const free = { api: 0, management: 0, ledger: 0, identity: 0 }
  const settings = { data: ".data", databaseUrl: undefined, ports: free }
  try {
    await expect(Settings.demandFree(settings)).resolves.toBeUndefined()
    await expect(
      Settings.demandFree({ ...settings, ports: { ...free, identity: port } })
    ).rejects.toThrow(`port ${port} is taken`)
    await expect(
      Settings.demandFree({ ...settings, ports: { ...free, identity: port } })
    ).rejects.toThrow(/--identity-port or IDENTITY_PORT/)
  } finally {
    other.close()
  }
})
