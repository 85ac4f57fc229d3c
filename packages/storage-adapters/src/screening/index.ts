/** Entry of scripted screening: the source, and its script in a file. */
export * from "./ScriptedScreening.ts"
export * from "./ScriptFile.ts"
