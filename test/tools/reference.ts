/**
 * `npm run reference`: the reference of the packages' public entries, as pages under `reference/`.
 * Typedoc needs a TypeScript with an API, which the workspace's own has not.
 */
import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { Application, Comment, Converter, type Context, type DeclarationReflection } from "typedoc"
import ts from "typescript"

const root = fileURLToPath(new URL("../..", import.meta.url))

const { values } = parseArgs({ options: { out: { type: "string" } } })

interface Manifest {
  readonly exports: Readonly<Record<string, string>>
}

/** Public entries: those of every package but its sources, which are no promise. */
const entries = globSync("packages/*/package.json", { cwd: root })
  .toSorted()
  .flatMap((path) => {
    const { exports } = JSON.parse(readFileSync(join(root, path), "utf8")) as Manifest
    return Object.entries(exports)
      .filter(([key]) => !key.includes("*"))
      .map(([, file]) => join(root, dirname(path), file))
  })

const isSentence = (node: ts.Node): node is ts.StringLiteral =>
  ts.isStringLiteral(node) && /^[A-Z]\w* /u.test(node.text)

/** The sentence that a declaration has as data, as a set of words or a metric does. */
const sentenceOf = (symbol: ts.Symbol | undefined): string | null => {
  for (const declaration of symbol?.declarations ?? []) {
    if (!ts.isVariableDeclaration(declaration)) continue
    const { initializer } = declaration
    if (initializer === undefined || !ts.isCallExpression(initializer)) continue
    for (const argument of initializer.arguments) {
      if (isSentence(argument)) return argument.text
      if (!ts.isObjectLiteralExpression(argument)) continue
      for (const member of argument.properties) {
        if (!ts.isPropertyAssignment(member) || member.name.getText() !== "description") continue
        if (isSentence(member.initializer)) return member.initializer.text
      }
    }
  }
  return null
}

const app = await Application.bootstrap({
  name: "Bursar",
  entryPoints: entries,
  tsconfig: join(root, "test", "tools", "reference.tsconfig.json"),
  basePath: root,
  readme: "none",
  out: values.out ?? join(root, "reference"),
  excludePrivate: true,
  excludeInternal: true,
  excludeExternals: true,
  disableSources: true,
  githubPages: false,
  hideGenerator: true,
  // Types are judged by the workspace's own compiler.
  skipErrorChecking: true,
  validation: { notExported: false, invalidLink: true, notDocumented: false },
  logLevel: "Warn"
})

app.converter.on(
  Converter.EVENT_CREATE_DECLARATION,
  (context: Context, reflection: DeclarationReflection) => {
    if (reflection.hasComment()) return
    const sentence = sentenceOf(context.getSymbolFromReflection(reflection))
    if (sentence === null) return
    reflection.comment = new Comment([{ kind: "text", text: sentence }])
  }
)

const project = await app.convert()
if (project === undefined) throw new Error("the sources have no reference")
app.validate(project)
await app.generateOutputs(project)
if (app.logger.hasErrors() || app.logger.hasWarnings()) process.exitCode = 1
