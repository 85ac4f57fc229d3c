/** Files of `operate/` for those who run a venue: each names only what the host has, and its own tools accept it. */
import { execFileSync } from "node:child_process"
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, describe, expect, it } from "vitest"
import { measured, prometheusName } from "#host/Metrics.ts"
import * as HostConfig from "#host/HostConfig.ts"

const folder = fileURLToPath(new URL("../../packages/http-host/operate/", import.meta.url))
const read = (name: string): string => readFileSync(join(folder, name), "utf8")
const runbook = readFileSync(join(folder, "../docs/runbook.md"), "utf8")

const hasProgram = (name: string): boolean =>
  (process.env["PATH"] ?? "").split(delimiter).some((path) => existsSync(join(path, name)))

/** Runs a program in the folder, and throws with what it printed where it finds a fault. */
const run = (program: string, ...args: ReadonlyArray<string>): string =>
  execFileSync(program, [...args], { cwd: folder, encoding: "utf8", stdio: "pipe" })

/** Label names by the Prometheus name of each metric, each with the values it may have. */
const labelled = new Map(
  measured.map(({ labels, metric }) => [
    prometheusName(metric),
    new Map(Object.entries(labels).map(([name, values]) => [name.replaceAll(".", "_"), values]))
  ])
)

/** Prometheus adds these by itself, or they are its own. */
const ownLabels = new Set(["instance", "job", "le"])

/** Metrics that an expression names, each with its matchers. */
const selectorsOf = (expression: string) =>
  [
    ...expression
      .replaceAll(/\bby \([^)]*\)/gu, "")
      .matchAll(/\b(?<name>(?:bursar|http)_[a-z0-9_]+)(?:\{(?<matchers>[^}]*)\})?/gu)
  ].map(({ groups }) => ({
    name: (groups?.["name"] ?? "").replace(/_seconds_(?:bucket|count|sum)$/u, "_seconds"),
    matchers: [
      ...(groups?.["matchers"] ?? "").matchAll(/(?<label>\w+)(?<by>=~|!~|!=|=)"(?<value>[^"]*)"/gu)
    ].map(({ groups: matcher }) => ({
      label: matcher?.["label"] ?? "",
      by: matcher?.["by"] ?? "",
      value: matcher?.["value"] ?? ""
    }))
  }))

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`)

/** Metrics, labels and values of an expression that the host does not have. */
const faultsOf = (expression: string): ReadonlyArray<string> => [
  ...selectorsOf(expression).flatMap(({ matchers, name }) => {
    const labels = labelled.get(name)
    if (labels === undefined) return [name]
    return matchers.flatMap(({ by, label, value }) => {
      if (ownLabels.has(label)) return []
      const values = labels.get(label)
      if (values === undefined) return [`${name} has no label ${label}`]
      const pattern = new RegExp(`^(?:${by.endsWith("~") ? value : escaped(value)})$`, "u")
      return values.some((one) => pattern.test(one)) ? [] : [`${name} never has ${label}=${value}`]
    })
  }),
  ...[...expression.matchAll(/\bby \((?<labels>[^)]*)\)/gu)]
    .flatMap(({ groups }) => (groups?.["labels"] ?? "").split(/,\s*/u))
    .filter((label) => !ownLabels.has(label))
    .filter(
      (label) =>
        !selectorsOf(expression).some(({ name }) => labelled.get(name)?.has(label) === true)
    )
    .map((label) => `by ${label}`)
]

const alerts = [
  ...read("alerts.yaml").matchAll(
    /- alert: (?<name>\w+)\n\s+expr: (?<expression>.+)\n(?<rest>(?:\s{8,}.*\n)*)/gu
  )
].map(({ groups }) => ({
  name: groups?.["name"] ?? "",
  expression: groups?.["expression"] ?? "",
  rest: groups?.["rest"] ?? ""
}))

interface Dashboard {
  readonly panels: ReadonlyArray<{
    readonly title: string
    readonly targets: ReadonlyArray<{ readonly expr: string }>
  }>
}
const dashboard: Dashboard = JSON.parse(read("dashboard.json"))
const drawn = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))

describe("alerts and dashboard", () => {
  it("name no metric, label or value that the host does not have", () => {
    expect(alerts.length).toBeGreaterThan(15)
    expect([...alerts.map(({ expression }) => expression), ...drawn].flatMap(faultsOf)).toEqual([])
  })

  it.each([
    ["a metric that is gone", "rate(bursar_gone_total[5m])"],
    ["a label that a metric lacks", 'bursar_feed_head{kind="x"}'],
    ["a value that a label never has", 'bursar_worker_jobs_total{outcome="fails"}'],
    ["a pattern that meets no value", 'bursar_worker_jobs_total{outcome=~"fails|dies"}'],
    ["a sum by a label that no metric has", "sum by (worker) (bursar_feed_head)"]
  ])("would be refused with %s", (_fault, expression) => {
    expect(faultsOf(expression)).toHaveLength(1)
  })

  it("leave no metric unseen: the dashboard draws each", () => {
    const seen = new Set(drawn.flatMap(selectorsOf).map(({ name }) => name))
    expect([...labelled.keys()].filter((name) => !seen.has(name))).toEqual([])
  })

  it("say of each alert what to do first, under its name in the runbook, and have no other there", () => {
    const headings = [...runbook.matchAll(/^### (?<name>.+)$/gmu)].map(
      ({ groups }) => groups?.["name"] ?? ""
    )
    expect(alerts.map(({ name }) => name)).toEqual(headings)
    for (const { name, rest } of alerts) {
      expect(rest).toContain(`runbook: docs/runbook.md#${name.toLowerCase()}`)
    }
  })

  it("have a case in which each alert fires, and one in which it does not", () => {
    const cases = read("alerts.test.yaml")
    for (const { name } of alerts) {
      expect(cases).toMatch(new RegExp(`eval_time: \\w+, alertname: ${name} \\}`, "u"))
      expect(cases).toMatch(new RegExp(`alertname: ${name}\\n\\s+exp_alerts:`, "u"))
    }
  })

  it.skipIf(!hasProgram("promtool"))(
    "are rules that Prometheus reads, and fire as their cases say",
    () => {
      expect(run("promtool", "check", "config", "prometheus.yaml")).toContain("SUCCESS")
      expect(run("promtool", "test", "rules", "alerts.test.yaml")).toContain("SUCCESS")
    }
  )
})

describe("the unit, the image and the compose file", () => {
  it("set only variables that the host reads", () => {
    const settings = new Set(
      Object.entries(HostConfig.settings).map(([name, setting]) =>
        HostConfig.variableOf(name, setting)
      )
    )
    const named = ["Containerfile", "bursar.service", "compose.yaml"].flatMap((file) =>
      [...read(file).matchAll(/\b(?:BURSAR_[A-Z_]+|DATABASE_URL)\b/gu)].map(([name]) => name)
    )
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter((name) => !settings.has(name))).toEqual([])
  })

  it("name only files that are there", () => {
    const mounted = [...read("compose.yaml").matchAll(/- \.\/(?<file>[\w.-]+):/gu)].map(
      ({ groups }) => groups?.["file"] ?? ""
    )
    expect(mounted.length).toBeGreaterThan(3)
    expect(mounted.filter((file) => !existsSync(join(folder, file)))).toEqual([])
    expect(read("bursar.service")).toContain("/docs/runbook.md")
  })

  it.skipIf(!hasProgram("systemd-analyze"))("give systemd a unit without a fault", () => {
    const parts = mkdtempSync(join(tmpdir(), "bursar-unit-"))
    // The program that it starts is not installed here: one that is there stands for it.
    writeFileSync(
      join(parts, "bursar.service"),
      read("bursar.service").replace(/^ExecStart=\S+/mu, `ExecStart=${process.execPath}`)
    )
    try {
      expect(run("systemd-analyze", "verify", join(parts, "bursar.service"))).toBe("")
    } finally {
      rmSync(parts, { recursive: true, force: true })
    }
  })
})

const certificates = mkdtempSync(join(tmpdir(), "bursar-certificates-"))
afterAll(() => rmSync(certificates, { recursive: true, force: true }))

describe("the proxy of the compose file", () => {
  it.skipIf(!hasProgram("openssl"))(
    "gets a certificate for both names that its authority vouches for, once",
    () => {
      run("sh", "certificates.sh", certificates)
      const made = readFileSync(join(certificates, "proxy.pem"), "utf8")
      run(
        "openssl",
        "verify",
        "-CAfile",
        join(certificates, "authority.pem"),
        join(certificates, "proxy.pem")
      )
      const text = run("openssl", "x509", "-in", join(certificates, "proxy.pem"), "-noout", "-text")
      expect(text).toContain("DNS:venue.example, DNS:identity.venue.example")
      run("sh", "certificates.sh", certificates)
      expect(readFileSync(join(certificates, "proxy.pem"), "utf8")).toBe(made)
    }
  )

  it.skipIf(!hasProgram("nginx") || !hasProgram("openssl"))("has settings that nginx reads", () => {
    const settings = join(certificates, "nginx.conf")
    run("sh", "certificates.sh", certificates)
    cpSync(join(folder, "nginx.conf"), settings)
    writeFileSync(
      settings,
      // Names of the compose network are known there alone.
      readFileSync(settings, "utf8")
        .replaceAll(/\b(?:host-1|host-2|identity):8080/gu, "127.0.0.1:8080")
        .replaceAll("/certificates/", `${certificates}/`)
    )
    run(
      "nginx",
      "-t",
      "-p",
      certificates,
      "-e",
      "stderr",
      "-g",
      `pid ${certificates}/pid;`,
      "-c",
      settings
    )
  })
})
