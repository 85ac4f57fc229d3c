/** The rooms: the folders of src, lowest first. A value import goes to a room before its own only. */
export const rooms = {
  vocabulary: "The closed and open word lists of the API.",
  kernel: "The tools of every room: decimal, instant, machine, collection, refusal, codec.",
  ports:
    "What the engine asks of its surroundings: storage, ledger, ids, crypto, screening, webhooks.",
  templates: "The ledger's templates, as they are read and exercised.",
  engine: "Settings, periods of retention and metrics of a running engine.",
  records:
    "Records in one transaction: facts, versions, and the events, audit records and deliveries that follow from them.",
  nouns: "The declaration of a noun: its records, states, writes, reads and judgements.",
  writes: "Operations and four-eyes actions: opened, signed, run, judged.",
  reads: "Reads at a pin: pages, cursors, exports, and the answers about writes.",
  projection: "The ledger's updates, folded into records.",
  feeds: "The event feed, webhooks, the audit log, retention, scheduled tasks.",
  findings: "Differences that reconciliation runs see.",
  instruments: "Instruments, their policies, prices and registers.",
  agreements: "The life of agreements that the venue proposes and parties sign in their wallets.",
  holders: "Holders, their attributes, screening, terms and accounts.",
  admissions: "Which holders may hold which instruments, and by whose consent.",
  restraints: "Holds on instruments and restrictions of holders.",
  statements: "Sources of statements, and what outside parties state of instruments and accounts.",
  orders: "Primary markets, orders, dealing cycles, and what pays for them.",
  powers: "Forced acts of an issuer, and the agreements and consents they rest on.",
  distributions: "Income that is paid out.",
  reserves: "Assets that cover what is issued.",
  reconciliation: "Runs that compare the engine's records with the ledger, and what follows.",
  overviews:
    "Answers that draw on many rooms: the instrument as shown, register, portfolio, open orders, proposals, precheck.",
  "catalogue.ts": "Everything that is declared, gathered room by room.",
  "Engine.ts": "The services, assembled.",
  venue:
    "The engine as a library: typed writes, reads and statements of a venue's people, with and without Effect.",
  rooms:
    "What a package imports that declares a room of its own, and the page that is drawn of it.",
  "index.ts": "What the package offers.",
  testing: "Laws of machines, for the tests of whoever declares one."
} as const satisfies Readonly<Record<string, string>>

/** Lowest first. */
export const order: ReadonlyArray<string> = Object.keys(rooms)

/** The room of a file, by its path below src. */
export const roomOf = (inside: string): string => inside.split("/")[0] ?? ""
